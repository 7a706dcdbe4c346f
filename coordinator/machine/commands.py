"""The commands of `step`.  A command is a value; the shell that performs it decides nothing.

    MakePlan     find out what there is to do                   -> Planned | Unplannable
    Do           one worker does one task                       -> an answer that names the call
    AwaitNodes   start a timer: nothing fits the nodes there    -> NodesAwaited
    Clear        drop the logs and parts of a published domain  -> nothing
    ClearLogs    drop the logs of a level that none reads now   -> nothing
    Record       append it to the journal, show it              -> nothing

Commands are performed in their order as far as they concern the same worker or node.  A task is
answered with its own call; an answer to another call is stale.  Every call has a lease: when
it ends without an answer, that too is an event.  Before attempt 2, 3, ... the performer waits a
little longer each time.

A file is named after its writer (domain, incarnation, worker) and the winner and depth of a log
entry or the number of a part.  So a worker of a former incarnation overwrites nothing.
"""

from dataclasses import dataclass

from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.plan.domains import LoggedSpan, SolvedLevel, TablePart
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.solve.sets_mode import SetsMode


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one worker.  `number` counts the calls of an incarnation, `attempt` the
    times that this one was made.
    """

    domain: str
    incarnation: int
    worker: int
    number: int
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class SentFrontier:
    """A frontier on its way: what one worker found that another reads.  The bytes are elsewhere;
    `ref` means something to the performer alone.
    """

    sender: int
    receiver: int
    ref: str
    bytes: int


# ---- tasks ----


@dataclass(frozen=True, slots=True)
class Create:
    """Start the worker.  `owners` has the worker of each partition; its own share is its own.
    `below` has the levels that the domain rests on.  `mode` says how much of its sets it holds.
    A worker that only `exports` holds none: the table is there.

    Answered with NodeLeft if the node is not there.
    """

    node: str
    cores: int
    memory: int
    owners: tuple[int, ...]
    below: tuple[SolvedLevel, ...] = ()
    mode: SetsMode = SetsMode.ALL
    exports: bool = False


@dataclass(frozen=True, slots=True)
class Prepare:
    """Begin an analysis, or go on from its log; what else lies in the log is forgotten.

    Answered with the depth of the last exit, and the frontier of the last logged pass.
    """

    winner: Side
    log: tuple[LoggedSpan, ...]


@dataclass(frozen=True, slots=True)
class LoseAtOnce:
    """Find the positions that are lost when the analysis begins: mates and forced conversions."""

    winner: Side


@dataclass(frozen=True, slots=True)
class Win:
    """Find the positions won in `depth` moves."""

    winner: Side
    depth: Depth
    inbound: tuple[SentFrontier, ...]


@dataclass(frozen=True, slots=True)
class Lose:
    """Find the positions lost in `depth` moves."""

    winner: Side
    depth: Depth
    inbound: tuple[SentFrontier, ...]


@dataclass(frozen=True, slots=True)
class Seal:
    """Make this worker's log entry of a pass durable; `won` and `lost` are of all workers, `over`
    says that no pass follows, `seconds` how long its steps took.
    """

    winner: Side
    depth: Depth
    won: int
    lost: int
    over: bool
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Paint:
    """Write parts of the table, all of them at once, as far as there are cores."""

    parts: tuple[TablePart, ...]  # in their order
    logs: tuple[tuple[Side, tuple[LoggedSpan, ...]], ...]  # by winner


@dataclass(frozen=True, slots=True)
class Publish:
    """Make the table of its parts and give it its name; one that is there and the same will do."""

    parts: tuple[int, ...]  # the incarnation that wrote part 0, 1, ...
    logs: tuple[tuple[Side, tuple[LoggedSpan, ...]], ...]  # by winner


@dataclass(frozen=True, slots=True)
class Verify:
    """Prove the published table; one that contradicts itself is removed, and that is final.  Of
    several parts one is proved, which is answered with its findings.
    """

    part: int = 0
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Conclude:
    """End a proof, given the findings of all its parts; final if the table contradicts itself."""

    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Export:
    """Write the Syzygy files of the published table."""


@dataclass(frozen=True, slots=True)
class Release:
    """End the worker, free what it holds."""


Task = (
    Create
    | Prepare
    | LoseAtOnce
    | Win
    | Lose
    | Seal
    | Paint
    | Publish
    | Verify
    | Conclude
    | Export
    | Release
)
Repeatable = Create | Prepare | Seal | Paint | Publish | Verify | Conclude | Export
"""Tasks that can be done again by the same worker; a step cannot, it has changed the sets."""


# ---- commands ----


@dataclass(frozen=True, slots=True)
class MakePlan:
    """Find out what there is to do."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Do:
    """Give a task to a worker."""

    call: Call
    task: Task


@dataclass(frozen=True, slots=True)
class AwaitNodes:
    """Start a timer, because nothing fits the nodes that are there."""

    number: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Drop the logs and parts of a published domain."""

    domain: str


@dataclass(frozen=True, slots=True)
class ClearLogs:
    """Drop the logs of a level that no other level reads now."""

    domain: str


Command = MakePlan | Do | AwaitNodes | Clear | ClearLogs | Record
