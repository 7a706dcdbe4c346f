"""What `step` asks for.  A command is a value; whoever performs it decides nothing.

    MakePlan     find out what there is to do                   -> Planned | Unplannable
    Do           one worker does one task                       -> an answer that names the call
    AwaitNodes   start a timer: nothing fits the nodes there    -> NodesAwaited
    Clear        drop the logs and parts of a published domain  -> nothing
    Record       tell the journal and whoever watches           -> nothing

Commands are performed in their order as far as they concern the same worker or node.  A task is
answered with its own call; whatever names another call is stale.  Every call has a lease: when
it ends without an answer, that too is an event.  Before attempt 2, 3, ... the performer waits a
little longer each time.

Who writes under which name: (domain, incarnation, worker) and the winner and depth of a log
entry or the number of a part.  So a worker of a former incarnation overwrites nothing.
"""

from dataclasses import dataclass

from coordinator.domains import Logged, Stretch


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
class Batch:
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

    Answered with NodeLeft if the node is not there.
    """

    node: str
    cores: int
    memory: int
    owners: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prepare:
    """Begin an analysis, or go on from its log; what else lies in the log is forgotten.

    Answered with the depth of the last exit, and the frontier of the last logged pass.
    """

    winner: int
    log: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class LoseAtOnce:
    winner: int


@dataclass(frozen=True, slots=True)
class Win:
    winner: int
    depth: int
    inbound: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class Lose:
    winner: int
    depth: int
    inbound: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class Seal:
    """Make this worker's log entry of a pass durable; `won` and `lost` are of all workers, `over`
    says that no pass follows, `seconds` how long its steps took.
    """

    winner: int
    depth: int
    won: int
    lost: int
    over: bool
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Paint:
    """Write the part of the table that holds partitions `first` to `stop` (not included)."""

    part: int
    first: int
    stop: int
    logs: tuple[tuple[int, tuple[Stretch, ...]], ...]  # by winner


@dataclass(frozen=True, slots=True)
class Publish:
    """Make the table of its parts and give it its name; one that is there and the same will do."""

    parts: tuple[int, ...]  # the incarnation that wrote part 0, 1, ...
    logs: tuple[tuple[int, tuple[Stretch, ...]], ...]  # by winner


@dataclass(frozen=True, slots=True)
class Verify:
    """Prove the published table; one that contradicts itself is removed, and that is final."""


@dataclass(frozen=True, slots=True)
class Release:
    """End the worker, free what it holds."""


Task = Create | Prepare | LoseAtOnce | Win | Lose | Seal | Paint | Publish | Verify | Release
Repeatable = Create | Prepare | Seal | Paint | Publish | Verify
"""Tasks that can be done again by the same worker; a step cannot, it has changed the sets."""


# ---- commands ----


@dataclass(frozen=True, slots=True)
class MakePlan:
    attempt: int


@dataclass(frozen=True, slots=True)
class Do:
    call: Call
    task: Task


@dataclass(frozen=True, slots=True)
class AwaitNodes:
    number: int


@dataclass(frozen=True, slots=True)
class Clear:
    domain: str


# ---- records: what is settled, for the journal, the page and the history ----


@dataclass(frozen=True, slots=True)
class Became:
    state: str
    reason: str


@dataclass(frozen=True, slots=True)
class WavesPlanned:
    """What is to be built, wave by wave, what is there, and what is logged already."""

    waves: tuple[tuple[str, ...], ...]
    present: tuple[str, ...]
    logged: tuple[Logged, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """A domain has got workers: how many partitions on which node, for worker 0, 1, ..."""

    domain: str
    incarnation: int
    shares: tuple[tuple[str, int], ...]
    links_cut: int


@dataclass(frozen=True, slots=True)
class PassCommitted:
    """Distinct positions found, by partition; bytes that went from worker to worker; how long the
    slowest worker was in its steps.
    """

    domain: str
    winner: int
    depth: int
    incarnation: int
    won: tuple[int, ...]
    lost: tuple[int, ...]
    exchanged: int
    over: bool
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PartWritten:
    domain: str
    part: int
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TablePublished:
    domain: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class TableVerified:
    domain: str


@dataclass(frozen=True, slots=True)
class SetBack:
    """A domain lost its workers and goes on from its last committed pass with others."""

    domain: str
    incarnation: int
    reason: str


@dataclass(frozen=True, slots=True)
class Repeated:
    domain: str
    worker: int
    task: str
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class NodesLacking:
    """Nothing can begin on the nodes that are there: others are waited for, until workers are
    assigned or the build is something else than running.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class NodesPassedOver:
    """Nodes have come that cannot be used: the build goes on without them."""

    reason: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """Nobody wants to see this build any more; the journal keeps it."""

    reason: str


Record = (
    Became
    | WavesPlanned
    | Assigned
    | PassCommitted
    | PartWritten
    | TablePublished
    | TableVerified
    | SetBack
    | Repeated
    | NodesLacking
    | NodesPassedOver
    | Deleted
)
Command = MakePlan | Do | AwaitNodes | Clear | Record
