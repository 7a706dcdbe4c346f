"""What happens to a build.  An event is a value; the journal keeps them all, in order.

    asked for     Admitted  PauseRequested  ResumeRequested  CancelRequested  RetryRequested
                  Interrupted
    the plan      Planned  Unplannable
    the cluster   NodesJoined  NodesUnfit  NodeLeft  NodesAwaited  WorkerLost  LeaseExpired
                  Restarted
    answers       Done  Prepared  Computed  Written  Failed  Damaged

Any event may come at any time, late, twice or out of order.  One that does not fit the state of
the build, or answers a call that nobody waits for, changes nothing.
"""

from dataclasses import dataclass
from enum import StrEnum

from coordinator.commands import Batch, Call
from coordinator.domains import Node, Plan


class Fault(StrEnum):
    """What a failure is the fault of, and so what helps."""

    STORE = "store"  # try again
    WORKER = "worker"  # take other workers: memory, a frontier that went astray
    FINAL = "final"  # nothing; the same would come of it again


# ---- asked for ----


@dataclass(frozen=True, slots=True)
class Admitted:
    """The build's turn has come."""


@dataclass(frozen=True, slots=True)
class PauseRequested:
    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class CancelRequested:
    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class RetryRequested:
    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The performer cannot go on; what is committed is kept."""

    reason: str


# ---- the plan ----


@dataclass(frozen=True, slots=True)
class Planned:
    attempt: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class Unplannable:
    attempt: int
    fault: Fault
    reason: str


# ---- the cluster ----


@dataclass(frozen=True, slots=True)
class NodesJoined:
    """Nodes that are there; all at once at the beginning, so that no domain begins on too few."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class NodeLeft:
    name: str


@dataclass(frozen=True, slots=True)
class NodesUnfit:
    """Nodes have come that cannot be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class NodesAwaited:
    """The time for AwaitNodes is over."""

    number: int


@dataclass(frozen=True, slots=True)
class WorkerLost:
    domain: str
    incarnation: int
    worker: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeaseExpired:
    """No answer in time; the worker may be stopped, cut off or merely slow: it is done with."""

    call: Call


@dataclass(frozen=True, slots=True)
class Restarted:
    """The coordinator has begun anew: its workers are gone, its nodes are yet to be announced."""


# ---- answers ----


@dataclass(frozen=True, slots=True)
class Done:
    """Created, sealed (the log entry is durable), verified or released."""

    call: Call


@dataclass(frozen=True, slots=True)
class Prepared:
    """An analysis can begin or go on; none of this worker's exits is deeper than `last_exit`."""

    call: Call
    last_exit: int
    sent: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A step's findings, for each partition of the share in ascending order."""

    call: Call
    counts: tuple[int, ...]
    sent: tuple[Batch, ...]
    seconds: float = 0.0
    memory: int = 0  # the most that the worker's process ever had


@dataclass(frozen=True, slots=True)
class Written:
    """A part, or the table, is durable."""

    call: Call
    bytes: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    call: Call
    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True)
class Damaged:
    """A committed log entry does not read back: that winner's log is sound up to `depth` alone."""

    call: Call
    winner: int
    depth: int
    reason: str


Answer = Done | Prepared | Computed | Written
Event = (
    Admitted
    | PauseRequested
    | ResumeRequested
    | CancelRequested
    | RetryRequested
    | Interrupted
    | Planned
    | Unplannable
    | NodesJoined
    | NodeLeft
    | NodesUnfit
    | NodesAwaited
    | WorkerLost
    | LeaseExpired
    | Restarted
    | Done
    | Prepared
    | Computed
    | Written
    | Failed
    | Damaged
)
