"""Workers in this process, each on a machine with a directory of its own for logs and parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.executor import Site
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.events import Damaged, Event, NodeLeft
from kingpair.coordinator.machine.records import PassCommitted, TablePublished
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.number_types import STRONGER
from kingpair.workers.passlog.keeper import LogKeeper
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.table.key import DomainKey
from kingpair.workers.table.table_store import TableStore


class SeparateMachines(InProcess):
    """Nodes with directories of their own, which read each other's logs."""

    def __init__(self, site: Site, tables: TableStore, logs: Path, count: int) -> None:
        super().__init__(site, tables, count, count)
        keepers = {node.name: LogKeeper(logs / node.name) for node in self.nodes}
        self.machines = keepers
        self._stores = {
            node: TableStore(Path(site.out), logs=MachineLogs(keeper.directory))
            for node, keeper in keepers.items()
        }
        for store in self._stores.values():
            assert store.logs is not None
            store.logs.knows(list(keepers.values()))
        self.damages: list[Damaged] = []

    def tables_on(self, node: str) -> TableStore:
        return self._stores[node]

    def clear_logs(self, beginnings: Sequence[str]) -> None:
        for keeper in self.machines.values():
            keeper.remove(*beginnings)

    def next(self) -> Event:
        event = super().next()
        if isinstance(event, Damaged):
            self.damages.append(event)
        return event

    def lose(self, node: str) -> None:
        """Ends a machine, with all that is on its disk."""
        self.lose_disk(node)
        self.machines[node].directory.touch()  # no directory: every call to it fails
        self.put(NodeLeft(node))

    def lose_disk(self, node: str) -> None:
        directory = self.machines[node].directory
        directory.rename(directory.with_name(f"lost.{node}"))


Harm = Callable[[SeparateMachines], None]


class BuildOnMachines:
    """A build on three machines: what is done in some passes of the stronger side of a domain, and
    the passes of it that were committed.
    """

    def __init__(
        self,
        out: Path,
        logs: Path,
        harms: Mapping[int, Harm],
        domain: str = "KQvKR.dtc",
        grain: int = 1,
        in_parts: Harm | None = None,
    ) -> None:
        """`in_parts` is done when the table is published, which is in parts then."""
        self._out, self._logs, self._harms = out, logs, dict(harms)
        self._domain, self._grain, self._in_parts = domain, grain, in_parts
        self.depths: list[int] = []
        self.logs_in_store: set[str] = set()
        self._executors: list[SeparateMachines] = []

    def run(self) -> "BuildOnMachines":
        spec, how = BuildSpec((DomainKey.parse(self._domain).table.material,)), self._grain
        request = BuildRequest(spec, self._out, threads=3, workers=3, grain=how, logs=self._logs)
        if self._in_parts is not None:
            request = replace(request, parts_from=1)
        build(request, self._listen, self._open)
        return self

    @property
    def executor(self) -> SeparateMachines:
        return self._executors[-1]

    def _open(self, site: Site, tables: TableStore) -> SeparateMachines:
        self._executors.append(SeparateMachines(site, tables, self._logs, 3))
        return self.executor

    def _listen(self, row: Row) -> None:
        done = row.record
        self.logs_in_store.update(path.name for path in self._out.rglob("*.log"))
        is_published = isinstance(done, TablePublished) and done.domain == self._domain
        if is_published and self._in_parts is not None:
            self._in_parts(self.executor)
        if not isinstance(done, PassCommitted) or (done.domain, done.winner) != (
            self._domain,
            STRONGER,
        ):
            return
        self.depths.append(int(done.depth))
        if (harm := self._harms.pop(int(done.depth), None)) is not None:
            harm(self.executor)
