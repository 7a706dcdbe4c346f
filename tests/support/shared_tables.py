"""Tables that are built once in a run of the tests: a folder for each metric, only to be read."""

import shutil
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from made_once import locked

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey


def proved(materials: Iterable[Material | str], metric: Metric = Metric.DTC) -> Path:
    """The folder of tables built with their proofs; it has these, and maybe others."""
    return _built("proved", materials, metric, verify=True)


def unproved(materials: Iterable[Material | str], metric: Metric = Metric.DTC) -> Path:
    """The folder of tables built without their proofs; it has these, and maybe others."""
    return _built("unproved", materials, metric, verify=False)


def _built(kind: str, materials: Iterable[Material | str], metric: Metric, *, verify: bool) -> Path:
    asked = tuple(Material.parse(str(material)) for material in materials)
    spec = BuildSpec(asked, (metric,), verify=verify)
    with locked(f"{kind} {metric}") as folder:
        build(BuildRequest(spec, folder, threads=2), lambda row: None)
    return folder


def copied_closure(folder: Path, out: Path, *names: str, metric: Metric = Metric.DTC) -> Path:
    """Copies the tables of the materials and all that they rest on, and nothing else."""
    out.mkdir(exist_ok=True)
    for needed in chain.from_iterable(closure(map(Material.parse, names))):
        shutil.copy(folder / TableKey(needed, metric).file_name, out)
    return out
