"""What was asked of a foreman: a build of some materials for one metric or several.

It is what the journal keeps as a build's request.  Two that want the same are the same build as
long as it is not over, whoever asked and how urgently.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from coordinator.journal import Submitted
from workers.material import Material


@dataclass(frozen=True, slots=True)
class Wanted:
    materials: tuple[str, ...]
    metrics: tuple[str, ...]
    priority: int = 0
    compact: bool = False
    verify: bool = True
    force: bool = False
    by: str = ""  # who asked, for the history

    @property
    def identity(self) -> tuple[Any, ...]:
        return (set(self.materials), set(self.metrics), self.compact, self.verify, self.force)

    def dumps(self) -> str:
        return json.dumps(asdict(self) | {"foreman": 1})


def parsed(materials: tuple[str, ...]) -> tuple[Material, ...]:
    return tuple(dict.fromkeys(map(Material.parse, materials)))


def wanted_of(found: dict[str, Any]) -> Wanted:
    """Of what was sent or kept."""
    given = {key: value for key, value in found.items() if key in Wanted.__dataclass_fields__}
    given["materials"] = tuple(str(m) for m in parsed(tuple(found["materials"])))
    given["metrics"] = tuple(dict.fromkeys(found["metrics"]))
    return Wanted(**given)


def is_a_foremans(submitted: Submitted) -> bool:
    return "foreman" in json.loads(submitted.request)


def was_wanted(submitted: Submitted) -> Wanted:
    """Also of a build that a command line has entered into the journal."""
    return wanted_of(json.loads(submitted.request))
