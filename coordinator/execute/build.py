"""A build: the closure of some materials for some metrics, each solved for both colours, published
as a table and verified.

    for each event:  build, commands = step(build, event)              (machine/step.py)
                     perform the commands, which leads to more events  (execute/executor.py)

Threads of this process perform them, or an executor that the caller opens.  However many metrics
there are, there is one plan, one executor and one lock of the store; memory and disk are checked
for all tables together before anything begins.  A table's logs lie beside it until it is verified.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count

from kingpair.coordinator.execute.control import Control
from kingpair.coordinator.execute.executor import Executor, OpenExecutor, Site
from kingpair.coordinator.execute.in_process import InProcess
from kingpair.coordinator.execute.planning import (
    clear_leftovers,
    clear_other_slices,
    division_begun,
    needs_on,
    plan_of,
    sorted_tables,
)
from kingpair.coordinator.execute.recorder import Recorder, Unrecorded, journaled
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.execute.room import (
    check_memory,
    check_nodes,
    check_scratch,
    check_store,
    memory_room,
)
from kingpair.coordinator.journal.rows import Listener, Row
from kingpair.coordinator.machine.commands import (
    AwaitNodes,
    Clear,
    ClearLogs,
    Command,
    Do,
    MakePlan,
)
from kingpair.coordinator.machine.demand import demand
from kingpair.coordinator.machine.events import Event, NodesJoined, Planned
from kingpair.coordinator.machine.records import (
    Assigned,
    Became,
    ExportBegan,
    LevelSolved,
    NodesLacking,
    Record,
    SetBack,
    TableVerified,
)
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.closure import estimates, tables_of
from kingpair.coordinator.plan.domains import Policy
from kingpair.coordinator.plan.estimate import Estimate
from kingpair.workers.errors import Cancelled, CannotBuild
from kingpair.workers.store.filesystem import uri_of
from kingpair.workers.table.key import DomainKey, TableKey
from kingpair.workers.table.table_store import TableStore

CHANGES_OF_DEMAND = (
    Assigned,
    Became,
    ExportBegan,
    LevelSolved,
    NodesLacking,
    SetBack,
    TableVerified,
)


def build(
    request: BuildRequest,
    listen: Listener,
    open_executor: OpenExecutor | None = None,
    control: Control | None = None,
) -> None:
    """Builds everything asked for that is not there; raises CannotBuild if it cannot be done, and
    Cancelled if `control` is told to cancel it.

    Without an executor, threads of this process do it.
    """
    control = control or Control()
    if open_executor is None and uri_of(request.out) is None and not request.out.exists():
        every = (key for wave in tables_of(request.spec) for key in wave)
        check_memory(
            estimates(every, request.threads), memory_room(request.memory), request.most_workers
        )
    with ExitStack() as stack:
        tables = TableStore(request.out, logs=request.machine_logs)
        stack.callback(tables.close)
        check_store(tables.store, ())
        stack.enter_context(tables.store.hold())
        recorder: Recorder = Unrecorded()
        if open_executor is not None:
            recorder = stack.enter_context(journaled(tables.store.root, request))
        executor = executor_for(request, tables, open_executor)
        policy = policy_of(request, tables, open_executor)
        Builder(request, tables, listen, executor, recorder, policy, control).run()


def executor_for(
    request: BuildRequest, tables: TableStore, open_executor: OpenExecutor | None
) -> Executor:
    """Opens the caller's executor; threads of this process if there is none."""
    scratch = None if request.scratch is None else str(request.scratch.absolute())
    logs = None if tables.logs is None else str(tables.logs.own.directory)
    spread, parts_from = request.spec.spread or 1, request.parts_from
    site = Site(str(request.where), request.spec.compact, spread, scratch, logs, parts_from)
    if open_executor is None:
        return InProcess(site, tables, request.most_workers, request.threads)
    return open_executor(site, tables)


def policy_of(
    request: BuildRequest, tables: TableStore, open_executor: OpenExecutor | None
) -> Policy:
    """In one process, a directory that fails will fail again: what was committed is kept, and the
    same request goes on.  A store behind a network may do better the next time.
    """
    policy = Policy(request.grain, request.spec.spread, has_disks=tables.logs is not None)
    if open_executor is not None:
        return policy
    attempts, setbacks = (1, 0) if tables.store.is_local else (3, 2)
    return replace(policy, attempts=attempts, setbacks=setbacks)


class Builder:
    """Performs the commands of a build, with an executor."""

    def __init__(
        self,
        request: BuildRequest,
        tables: TableStore,
        listen: Listener,
        executor: Executor,
        recorder: Recorder,
        policy: Policy,
        control: Control,
    ) -> None:
        self._request, self._tables, self._listen = request, tables, listen
        self._control = control
        self._executor, self._recorder, self._policy = executor, recorder, policy
        self._rows = count(1)

    def run(self) -> None:
        """Runs the build until it has ended; raises if it has not succeeded."""
        with self._executor:
            self._control.connect(self._executor.put)
            for event in (*self._recorder.first, NodesJoined(self._executor.nodes)):
                self._tell(event)
            while not self._recorder.build.state.has_ended:
                self._tell(self._executor.next())
        build = self._recorder.build
        if build.state is State.CANCELLED:
            raise Cancelled(f"cancelled: {build.reason}; what was committed is kept")
        if build.state is not State.SUCCEEDED:
            raise next(iter(self._executor.errors), CannotBuild(build.reason))

    def _tell(self, event: Event) -> None:
        commands = self._recorder.advance(event)
        if any(isinstance(command, CHANGES_OF_DEMAND) for command in commands):
            self._executor.demand(demand(self._recorder.build))
        for command in commands:
            if isinstance(command, Record):
                name, number = self._recorder.build.name, next(self._rows)
                self._listen(Row(number, name, 0, time.time(), command))
            self._perform(command)

    def _perform(self, command: Command) -> None:
        match command:
            case MakePlan(attempt):
                self._executor.put(self._plan(attempt))
            case Do(call, task):
                self._executor.do(call, task)
            case AwaitNodes(number):
                self._executor.await_nodes(number)
            case Clear(domain):
                key = TableKey.parse(domain)
                self._tables.forget(key)
                self._tables.build_folder(key).clear()
                self._executor.clear_logs([key.build_folder])
            case ClearLogs(domain):
                folder = self._tables.build_folder(*DomainKey.parse(domain))
                folder.clear_logs()
                self._executor.clear_logs([folder.local_names])

    def _plan(self, attempt: int) -> Planned:
        """Makes the plan, refuses what cannot be built, clears away what is not needed."""
        request, tables = self._request, self._tables
        found = sorted_tables(request.spec, tables)
        needs = self._fitted(found.missing_keys())
        check_store(tables.store, needs.values())
        if self._executor.shares_memory or len(self._executor.nodes) == 1:
            check_scratch(request.scratch, tables.store, needs.values())
        verified = list(clear_leftovers(request, tables, found))
        self._executor.clear_logs([key.build_folder for key in found.present])
        nodes = self._executor.nodes
        cores = max((node.cores for node in nodes), default=1)
        given_out = self._recorder.incarnation
        plan = plan_of(
            request, tables, found, self._policy, cores, given_out, verified, needs, nodes
        )
        check_nodes(plan, () if self._executor.expects_nodes else nodes)
        clear_other_slices(tables, plan)
        return Planned(attempt, plan)

    def _fitted(self, keys: Sequence[TableKey]) -> dict[TableKey, Estimate]:
        """Returns what the tables need, each in the first mode that fits in the memory of this
        process, or of the nodes that are there to divide it.
        """
        request, nodes = self._request, self._executor.nodes
        needed: Sequence[Estimate] = estimates(keys, request.threads)
        room = max((node.memory for node in nodes), default=0)
        if self._executor.shares_memory:
            memory, workers = memory_room(request.memory), request.most_workers
            needed = check_memory(needed, memory, workers, request.held)
            room = memory.bytes // workers
        elif len(nodes) == 1:
            needed = [each.in_room(nodes[0].memory, request.held) for each in needed]
        elif nodes and not self._executor.expects_nodes:
            needed = [needs_on(nodes, key, self._policy, request.held) for key in keys]
        found = dict(zip(keys, needed, strict=True))
        for key in keys if request.resume else ():
            if key.material.has_pawns:
                found[key] = division_begun(self._tables, key, found[key], room)
        return found
