"""kingpair: chess endgames solved exactly, and asked from Python.

    import kingpair

    kingpair.build("KQvKR")                                   # into the directory "tables"
    with kingpair.open_tablebase("tables") as tablebase:
        tablebase.probe_dtc("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")  # 31

This is the whole of the stable interface; the rest of the package may change with any version.  The
names are loaded when they are first used, so that `import kingpair` costs nothing.

    kingpair.api            the command, the service, Ray
    kingpair.coordinator    when each pass of a build runs, and where
    kingpair.workers        sets, kernels, tables, answers
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kingpair.api.python import build, probe
    from kingpair.workers.ask.answer import Answer, Answers
    from kingpair.workers.ask.probe import Tablebase, open_tablebase
    from kingpair.workers.errors import (
        BadMaterial,
        BadPosition,
        Cancelled,
        CannotBuild,
        DamagedTable,
        ForeignTable,
        KingpairError,
        MissingTableError,
    )
    from kingpair.workers.game.chess.material import Material

__all__ = [
    "Answer",
    "Answers",
    "BadMaterial",
    "BadPosition",
    "Cancelled",
    "CannotBuild",
    "DamagedTable",
    "ForeignTable",
    "KingpairError",
    "Material",
    "MissingTableError",
    "Tablebase",
    "build",
    "open_tablebase",
    "probe",
]
_HOMES = {
    "build": "kingpair.api.python",
    "probe": "kingpair.api.python",
    "Material": "kingpair.workers.game.chess.material",
    "Answer": "kingpair.workers.ask.answer",
    "Answers": "kingpair.workers.ask.answer",
    "Tablebase": "kingpair.workers.ask.probe",
    "open_tablebase": "kingpair.workers.ask.probe",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kingpair' has no attribute {name!r}")
    found = getattr(import_module(_HOMES.get(name, "kingpair.workers.errors")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
