"""Facts about workers that paint several parts of a table at once."""

from dataclasses import replace
from pathlib import Path

from shared_tables import copied_closure, proved

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.events import Event, Painted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.table.table_store import TableStore

MATERIAL = Material.parse("KNNvKN")  # of five men, so of several chunks, and soon solved
TABLE = f"{MATERIAL}.dtc.arrow"


class ManyCores(InProcess):
    """Two workers, which are said to have eight cores each."""

    def __init__(self, site: Site, tables: TableStore) -> None:
        super().__init__(site, tables, 2, 4)
        self.nodes = tuple(replace(node, cores=8) for node in self.nodes)
        self.at_once: list[int] = []

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, Painted):
            self.at_once.append(len(event.sizes))
        return event


def test_parts_that_are_painted_at_once_are_those_that_are_painted_alone(tmp_path: Path) -> None:
    whole = proved([MATERIAL])
    out = copied_closure(whole, tmp_path / "out", str(MATERIAL))
    (out / TABLE).unlink()
    executors: list[ManyCores] = []

    def open_executor(site: Site, tables: TableStore) -> ManyCores:
        executors.append(ManyCores(site, tables))
        return executors[-1]

    request = BuildRequest(BuildSpec((MATERIAL,)), out, workers=2, grain=1)
    build(request, lambda row: None, open_executor)
    (executor,) = executors
    assert sum(executor.at_once) > len(executor.at_once) >= 2
    assert (out / TABLE).read_bytes() == (whole / TABLE).read_bytes()
