"""The functions of `import kingpair` that build tables and probe one position."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kingpair.coordinator.execute.build import build as build_all
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.ask.addresses import PositionSource
from kingpair.workers.ask.answer import Answer
from kingpair.workers.ask.probe import open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.limits import usable_cores


def build(
    *materials: str | Material,
    out: str | Path = "tables",
    metrics: Sequence[str] = ("dtc",),
    threads: int | None = None,
    listen: Callable[[Any], None] = lambda event: None,
) -> None:
    """Builds the tables of materials, and of all that their captures lead to, into a directory.

    Tables that exist are not built again.  `listen` is called with each record of the build as it
    is settled.
    Raises BadMaterial, or CannotBuild if memory, disk space or a permission is missing.
    """
    wanted = tuple(m if isinstance(m, Material) else Material.parse(m) for m in materials)
    request = BuildRequest(
        BuildSpec(wanted, tuple(map(Metric, metrics))), Path(out), threads=threads or usable_cores()
    )
    build_all(request, listen)


def probe(position: PositionSource, tables: str | Path = "tables", metric: str = "dtc") -> Answer:
    """Returns the result of a position for the side to move, and in how many moves.

    Raises BadPosition, or MissingTableError if the directory has no table for it.  To probe
    many positions, keep a tablebase open with `open_tablebase`.
    """
    with open_tablebase(tables) as tablebase:
        return tablebase.probe(position, Metric(metric))
