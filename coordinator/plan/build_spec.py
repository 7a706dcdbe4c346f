"""The specification of a build: some materials for one metric or several, and all that their
captures lead to.

It is parsed once, where it enters (a command line, an HTTP request, a row of the journal), and is
a value from then on.  Where a build writes and what it may use is not part of it: see
`kingpair.coordinator.execute.request`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kingpair.workers.errors import BadRequest
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """The tables that a build is to make, and how."""

    materials: tuple[Material, ...]
    metrics: tuple[Metric, ...] = (Metric.DTC,)
    priority: int = 0
    compact: bool = False
    verify: bool = True
    force: bool = False
    spread: int | None = None  # workers that share each material; None: as many as it deserves
    syzygy: bool = False  # write Syzygy files, too
    by: str = ""  # the name of the token that asked, for the history

    def __post_init__(self) -> None:
        if self.syzygy and Metric.DTZ not in self.metrics:
            raise BadRequest(
                f"Syzygy files are made of tables of {Metric.DTZ}; add the metric {Metric.DTZ}"
            )

    @staticmethod
    def parse(found: Mapping[str, Any]) -> "BuildSpec":
        """Returns the specification that a JSON object has; BadMaterial if there is no such
        material.
        """
        known = BuildSpec.__dataclass_fields__
        given = {key: value for key, value in found.items() if key in known}
        given["materials"] = tuple(dict.fromkeys(map(Material.parse, found["materials"])))
        given["metrics"] = tuple(map(Metric, dict.fromkeys(found["metrics"])))
        return BuildSpec(**given)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"materials": list(map(str, self.materials))}

    def is_like(self, other: "BuildSpec") -> bool:
        """Whether both make the same tables in the same way."""
        return self._identity() == other._identity()

    def _identity(self) -> tuple[Any, ...]:
        how = self.compact, self.verify, self.force, self.syzygy
        return set(self.materials), set(self.metrics), how
