"""Workers in this process, each on a thread of its own.

A call is put into its worker's queue and its answer into the queue of events; frontiers stay where
they are.  No worker is lost here and no answer is late, so there are no leases.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue

from kingpair.coordinator.execute.executor import Site, pause
from kingpair.coordinator.execute.tasks import AnyWorker, created, done, failed, seal
from kingpair.coordinator.machine.commands import Call, Create, Lose, Release, Seal, Task, Win
from kingpair.coordinator.machine.demand import WantedNode
from kingpair.coordinator.machine.events import Done, Event, NodesAwaited
from kingpair.coordinator.plan.domains import Node
from kingpair.workers.solve.frontiers import PackedFrontier
from kingpair.workers.table.table_store import TableStore

_UNLIMITED = 1 << 62


@dataclass
class _Post:
    """A worker and the thread that does what it is asked, in order."""

    thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="worker")
    )
    worker: AnyWorker | None = None

    def end(self) -> None:
        if self.worker is not None:
            self.worker.stop()
        self.thread.shutdown(wait=True, cancel_futures=True)
        if self.worker is not None:
            self.worker.close()


class InProcess:
    """Threads of this process as an executor.  Each of its workers is a node with one core, so that
    one domain is solved after the other; the threads are divided among them.
    """

    def __init__(self, site: Site, tables: TableStore, workers: int, threads: int) -> None:
        self._site, self._tables = site, tables
        self._threads = max(1, threads // workers)
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._posts: dict[tuple[str, int, int], _Post] = {}
        self._frontiers: dict[str, PackedFrontier] = {}
        self.errors: list[BaseException] = []
        self.nodes = tuple(Node(f"node{i}", 1, _UNLIMITED) for i in range(workers))

    shares_memory = True
    expects_nodes = False

    def put(self, event: Event) -> None:
        self._events.put(event)

    def next(self) -> Event:
        return self._events.get()

    def tables_on(self, node: str) -> TableStore:
        """Returns the tables as a worker finds them on a node: all share one machine."""
        return self._tables

    def demand(self, wanted: tuple[WantedNode, ...]) -> None:
        """Does nothing: the number of threads is fixed."""

    def clear_logs(self, beginnings: Sequence[str]) -> None:
        """Does nothing: this machine's logs are cleared with the build folders."""

    def await_nodes(self, number: int) -> None:
        """Answers at once: no other nodes will join."""
        self._events.put(NodesAwaited(number))

    def do(self, call: Call, task: Task) -> None:
        key = call.domain, call.incarnation, call.worker
        if isinstance(task, Release):
            if (ended := self._posts.pop(key, None)) is not None:  # else of a former process
                ended.end()
            self._events.put(Done(call))
            return
        if (post := self._posts.get(key)) is None:
            post = self._posts[key] = _Post()
        post.thread.submit(self._do, post, call, task)

    def _do(self, post: _Post, call: Call, task: Task) -> None:
        time.sleep(pause(call.attempt))
        try:
            if isinstance(task, Create):
                tables = self.tables_on(task.node)
                post.worker = created(self._site, tables, call, task, self._threads)
                self._events.put(Done(call))
                return
            assert post.worker is not None, f"{call}: a worker that was not created"
            if isinstance(task, Seal):
                durable = seal(post.worker, task)
                durable.add_done_callback(partial(self._sealed, call, task))
                return
            batches = task.inbound if isinstance(task, Win | Lose) else ()
            inbound = [self._frontiers.pop(batch.ref) for batch in batches]
            answer, frontiers = done(post.worker, call, task, inbound)
            sent = getattr(answer, "sent", ())
            self._frontiers.update({batch.ref: frontiers[batch.receiver] for batch in sent})
            self._events.put(answer)
        except BaseException as error:
            self._fail(call, task, error)

    def _sealed(self, call: Call, task: Seal, durable: "Future[str]") -> None:
        if (error := durable.exception()) is not None:
            self._fail(call, task, error)
        else:
            self._events.put(Done(call, durable.result()))

    def _fail(self, call: Call, task: Task, error: BaseException) -> None:
        self.errors.append(error)
        self._events.put(failed(call, task, error))

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, *_: object) -> None:
        while self._posts:
            self._posts.popitem()[1].end()
