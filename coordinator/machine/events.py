"""The events of a build.  An event is a value; the journal keeps them all, in order.

    asked for     Queued  Admitted  PauseRequested  ResumeRequested  CancelRequested
                  RetryRequested  Interrupted
    the plan      Planned  Unplannable
    the cluster   NodesJoined  NodesUnfit  NodeLeft  NodesAwaited  WorkerLost  LeaseExpired
                  Restarted
    answers       Done  Prepared  Computed  Painted  Written  Proved  Failed  Damaged

Any event may come at any time, late, twice or out of order.  One that does not fit the state of
the build, or answers a call that is not waited for, changes nothing.
"""

from dataclasses import dataclass
from enum import StrEnum

from kingpair.coordinator.machine.commands import Call, SentFrontier
from kingpair.coordinator.plan.domains import BuildPlan, Node
from kingpair.workers.number_types import Depth, Side
from kingpair.workers.sets.disk_use import NO_DISK_USE, DiskUse


class Fault(StrEnum):
    """Names what caused a failure, and so what helps."""

    STORE = "store"  # try again
    WORKER = "worker"  # take other workers: memory, a frontier that went astray
    FINAL = "final"  # nothing; the same would come of it again


# ---- asked for ----


@dataclass(frozen=True, slots=True)
class Queued:
    """The build waits for its turn, and the reason says why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Admitted:
    """The build's turn has come."""


@dataclass(frozen=True, slots=True)
class PauseRequested:
    """The build is to pause; its workers end."""

    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class ResumeRequested:
    """The build is to go on."""

    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class CancelRequested:
    """The build is to end; what is committed is kept."""

    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class RetryRequested:
    """The build failed, was interrupted or was cancelled, and is to go on."""

    reason: str = "asked for"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The process that runs the build cannot go on; what is committed is kept.  A retry would fail
    again if `is_final`.
    """

    reason: str
    is_final: bool = False


# ---- the plan ----


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of this attempt is made."""

    attempt: int
    plan: BuildPlan


@dataclass(frozen=True, slots=True)
class Unplannable:
    """No plan could be made in this attempt."""

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
    """A node is gone, or is not used for now, as the reason says.  It counts as a setback of the
    domains on it, unless the node is merely silent: then no worker has failed.
    """

    name: str
    reason: str = "left"
    is_counted: bool = True


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
    """A worker has ended or cannot be reached."""

    domain: str
    incarnation: int
    worker: int
    reason: str


@dataclass(frozen=True, slots=True)
class LeaseExpired:
    """A worker has not answered in time.  It may be stopped, cut off or slow; it is replaced."""

    call: Call


@dataclass(frozen=True, slots=True)
class Restarted:
    """The coordinator has begun anew: its workers are gone, its nodes are yet to be announced."""


# ---- answers ----


@dataclass(frozen=True, slots=True)
class Done:
    """Created, sealed (the log entry is durable), verified or released.  It says why no other
    machine has a copy of the log, if one should.
    """

    call: Call
    uncopied: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An analysis can begin or go on; none of this worker's exits is deeper than `last_exit`."""

    call: Call
    last_exit: int
    sent: tuple[SentFrontier, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A step's findings, for each partition of the share in ascending order."""

    call: Call
    counts: tuple[int, ...]
    sent: tuple[SentFrontier, ...]
    seconds: float = 0.0
    memory: int = 0  # the most that the worker's process ever had
    disk: DiskUse = NO_DISK_USE


@dataclass(frozen=True, slots=True)
class Painted:
    """Parts of a table are durable; the bytes of each."""

    call: Call
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The table is durable."""

    call: Call
    bytes: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Proved:
    """A part of a table's proof is done; the findings mean something to workers alone."""

    call: Call
    findings: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A task has failed; its worker is still there.  `is_of_disk`: the reason names a path that
    could not be written or read, which other nodes may be able to.
    """

    call: Call
    fault: Fault
    reason: str
    is_of_disk: bool = False


@dataclass(frozen=True, slots=True)
class Damaged:
    """A committed log entry does not read back: that winner's log is sound up to `depth` alone."""

    call: Call
    winner: Side
    depth: Depth
    reason: str
    is_below: bool = False  # the log is that of a level that the domain rests on


Answer = Done | Prepared | Computed | Painted | Written | Proved
Event = (
    Queued
    | Admitted
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
    | Painted
    | Written
    | Proved
    | Failed
    | Damaged
)
