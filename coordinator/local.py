"""Workers in this process, each on a thread of its own.

A call is put into its worker's queue and its answer into the queue of events; frontiers stay where
they are.  Nobody is lost here and nothing is late, so there are no leases.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue

from coordinator.commands import Call, Create, Lose, Release, Seal, Task, Win
from coordinator.crew import Site
from coordinator.domains import Node
from coordinator.events import Done, Event, NodesAwaited
from coordinator.tasks import created, done, failed, sealed
from workers.analysis import Parcel
from workers.worker import Worker
from workers.workshop import Library

_UNLIMITED = 1 << 62


@dataclass
class _Post:
    """A worker and the thread that does what it is asked, in order."""

    thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="worker")
    )
    worker: Worker | None = None

    def end(self) -> None:
        if self.worker is not None:
            self.worker.stop()
        self.thread.shutdown(wait=True, cancel_futures=True)
        if self.worker is not None:
            self.worker.close()


class Local:
    """Threads of this process as a crew.  Each of its workers is a node with one core, so that one
    domain is solved after the other; what threads there are is divided among them.
    """

    def __init__(self, site: Site, library: Library, workers: int, threads: int) -> None:
        self._site, self._library = site, library
        self._threads = max(1, threads // workers)
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._posts: dict[tuple[str, int, int], _Post] = {}
        self._parcels: dict[str, Parcel] = {}
        self.errors: list[BaseException] = []
        self.nodes = tuple(Node(f"node{i}", 1, _UNLIMITED) for i in range(workers))

    def put(self, event: Event) -> None:
        self._events.put(event)

    def next(self) -> Event:
        return self._events.get()

    def await_nodes(self, number: int) -> None:
        """There will never be others."""
        self._events.put(NodesAwaited(number))

    def do(self, call: Call, task: Task) -> None:
        key = call.domain, call.incarnation, call.worker
        if isinstance(task, Release):
            self._posts.pop(key).end()
            self._events.put(Done(call))
            return
        if (post := self._posts.get(key)) is None:
            post = self._posts[key] = _Post()
        post.thread.submit(self._try, post, call, task)

    def _try(self, post: _Post, call: Call, task: Task) -> None:
        try:
            self._do(post, call, task)
        except BaseException as error:
            self._fail(call, task, error)

    def _do(self, post: _Post, call: Call, task: Task) -> None:
        if isinstance(task, Create):
            post.worker = created(self._site, self._library, call, task, self._threads)
            self._events.put(Done(call))
            return
        assert post.worker is not None, f"{call}: a worker that was not created"
        if isinstance(task, Seal):
            durable = post.worker.seal(sealed(task), task.seconds)
            durable.add_done_callback(partial(self._sealed, call, task))
            return
        batches = task.inbound if isinstance(task, Win | Lose) else ()
        inbound = [self._parcels.pop(batch.ref) for batch in batches]
        answer, parcels = done(post.worker, call, task, inbound)
        sent = getattr(answer, "sent", ())
        self._parcels.update({batch.ref: parcels[batch.receiver] for batch in sent})
        self._events.put(answer)

    def _sealed(self, call: Call, task: Seal, durable: "Future[None]") -> None:
        if (error := durable.exception()) is not None:
            self._fail(call, task, error)
        else:
            self._events.put(Done(call))

    def _fail(self, call: Call, task: Task, error: BaseException) -> None:
        self.errors.append(error)
        self._events.put(failed(call, task, error))

    def __enter__(self) -> "Local":
        return self

    def __exit__(self, *_: object) -> None:
        while self._posts:
            self._posts.popitem()[1].end()
