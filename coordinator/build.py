"""A build: the closure of some materials for some metrics, each solved for both colours, published
as a table and verified.

    for each event:  build, commands = step(build, event)              (coordinator.step)
                     perform the commands, which leads to more events  (coordinator.crew)

Threads of this process perform them, or whoever is hired.  Whatever the metrics, there is one plan,
one crew and one lock of the store; memory and disk are checked for all tables together before
anything begins.  A subject's logs lie beside the tables until its table is verified.
"""

from contextlib import ExitStack

from coordinator.book import Book, Forgetful, journaled
from coordinator.closure import check_nodes, estimates, plan_of, sorted_out, subjects
from coordinator.commands import (
    AwaitNodes,
    Clear,
    Command,
    Do,
    MakePlan,
)
from coordinator.control import Control
from coordinator.crew import Crew, Hire, Site
from coordinator.domains import Policy
from coordinator.events import Event as StepEvent
from coordinator.events import NodesJoined
from coordinator.events import Planned as PlanMade
from coordinator.local import Local
from coordinator.plan import check_memory, check_store
from coordinator.request import Listener, Planned, Request, Verified
from coordinator.state import Build, State
from coordinator.telling import Telling
from workers.errors import Cancelled, CannotBuild
from workers.store import uri_of
from workers.subject import Subject
from workers.threads import Threads
from workers.worker import verified
from workers.workshop import Library


def build(
    request: Request,
    listen: Listener,
    hire: Hire | None = None,
    control: Control | None = None,
) -> None:
    """Build everything asked for that is not there; raise CannotBuild if it cannot be done, and
    Cancelled if `control` is told to cancel it.

    Without anyone to `hire`, threads of this process do it.
    """
    control = control or Control()
    if hire is None and uri_of(request.out) is None and not request.out.exists():
        check_memory(estimates(request, subjects(request)), request.memory)
    with ExitStack() as stack:
        library = Library(request.out)
        stack.callback(library.close)
        check_store(library.store, ())
        stack.enter_context(library.store.hold())
        book: Book = Forgetful()
        if hire is not None:
            book = stack.enter_context(journaled(library.store.root, request))
        crew, policy = crew_of(request, library, hire), policy_of(request, library, hire)
        Builder(request, library, listen, crew, book, policy).run(control)


def crew_of(request: Request, library: Library, hire: Hire | None) -> Crew:
    """Threads of this process, or whoever is hired."""
    where = request.out if uri_of(request.out) else request.out.absolute()
    site = Site(str(where), request.compact)
    if hire is None:
        return Local(site, library, request.workers, request.threads)
    return hire(site, library)


def policy_of(request: Request, library: Library, hire: Hire | None) -> Policy:
    """In one process, a directory that fails will fail again: what was committed is kept, and the
    same request goes on.  A store behind a network may do better the next time.
    """
    if hire is not None:
        return Policy(grain=request.grain)
    attempts, setbacks = (1, 0) if library.store.is_local else (3, 2)
    return Policy(grain=request.grain, attempts=attempts, setbacks=setbacks)


class Builder:
    """Performs what a build asks for, with a crew."""

    def __init__(
        self,
        request: Request,
        library: Library,
        listen: Listener,
        crew: Crew,
        book: Book,
        policy: Policy,
    ) -> None:
        self._request, self._library, self._listen = request, library, listen
        self._crew, self._book, self._policy = crew, book, policy
        self._telling = Telling(listen, library.table)

    def run(self, control: Control) -> None:
        build = self._book.build
        with self._crew:
            control.connect(self._crew.put)
            for event in (*self._book.first, NodesJoined(self._crew.nodes)):
                build = self._tell(build, event)
            while not build.state.has_ended:
                build = self._tell(build, self._crew.next())
        if build.state is State.CANCELLED:
            raise Cancelled(f"cancelled: {build.reason}; what was committed is kept")
        if build.state is not State.SUCCEEDED:
            raise next(iter(self._crew.errors), CannotBuild(build.reason))

    def _tell(self, build: Build, event: StepEvent) -> Build:
        self._telling.happened(event)
        build, commands = self._book.advance(build, event)
        for command in commands:
            self._telling.hear(command)
            self._perform(command)
        return build

    def _perform(self, command: Command) -> None:
        match command:
            case MakePlan(attempt):
                self._crew.put(self._plan(attempt))
            case Do(call, task):
                self._crew.do(call, task)
            case AwaitNodes(number):
                self._crew.await_nodes(number)
            case Clear(domain):
                subject = Subject.parse(domain)
                self._library.of(subject.metric).forget(subject.material)
                self._library.workshop(subject).clear()

    def _plan(self, attempt: int) -> PlanMade:
        """Sort out what is to be done, refuse what cannot be, clear away what is not needed."""
        request, library = self._request, self._library
        todo, present = sorted_out(request, library)
        needed = estimates(request, todo)
        if isinstance(self._crew, Local):
            check_memory(needed, request.memory)
        check_store(library.store, needed)
        self._listen(Planned(todo, present))
        names = set(library.store.names(""))
        for subject in present:
            self._clear_remains(subject, names)
        if not request.resume:
            for wave in todo:
                for subject in wave:
                    library.workshop(subject).clear()
        cores = max((node.cores for node in self._crew.nodes), default=1)
        given_out = self._book.incarnation
        plan = plan_of(request, library, todo, present, self._policy, given_out, cores)
        check_nodes(plan, self._crew.nodes)
        self._telling.planned(plan)
        return PlanMade(attempt, plan)

    def _clear_remains(self, subject: Subject, names: set[str]) -> None:
        """A run that died after, or while replacing, a table that is there left what is not needed
        once the table has been verified.
        """
        tables, workshop = self._library.of(subject.metric), self._library.workshop(subject)
        if workshop.folder in names:
            if self._request.verify:
                with Threads(self._request.threads) as threads:
                    seconds = verified(tables, subject.material, threads)
                self._listen(Verified(subject, seconds))
            workshop.clear()
        if (partial := f"{tables.name_of(subject.material)}.partial") in names:
            tables.store.remove(partial)
