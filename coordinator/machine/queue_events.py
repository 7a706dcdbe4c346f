"""The events and commands of the queue of builds, as values.

    asked for      SubmitAsked  CancelAsked  RetryAsked  DeleteAsked
    turns          Opened  TurnBegun  Settled  TurnDeferred  TurnEnded  Rested  RoomLookedFor
    the process    CloseAsked  ClusterLost  QueueRestarted  JournalRegained

    commands       Enter  Note  TakeTurn  Tell  Rest  LookForRoom  Submitted  Refuse

Enter and Note go to the journal before any other command is performed.
"""

from dataclasses import dataclass

from kingpair.coordinator.machine.events import Event
from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import BuildPlan

# ---- events ----


@dataclass(frozen=True, slots=True)
class SubmitAsked:
    """`plan` is there if all tables are: then the build needs no turn."""

    spec: BuildSpec
    key: str | None = None
    plan: BuildPlan | None = None


@dataclass(frozen=True, slots=True)
class CancelAsked:
    name: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class RetryAsked:
    name: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class DeleteAsked:
    name: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Opened:
    """A thread is there that takes turns."""


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """All that the build needs is held: from now on its own events go to `step`."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The build whose turn it is has settled something."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class TurnDeferred:
    """The build cannot begin now: another one writes there, or there is no cluster."""

    reason: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The thread is done with the build.  `failure` says why it had to stop; `lacks` what would let
    the build go on, if it is a full disk; `on_cluster` that its nodes may come back.
    """

    failure: str = ""
    lacks: str = ""
    on_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Rested:
    """The time after a deferred turn is over."""


@dataclass(frozen=True, slots=True)
class RoomLookedFor:
    has_room: bool


@dataclass(frozen=True, slots=True)
class CloseAsked:
    """The process is to end: what is not committed is abandoned, the next process goes on."""


@dataclass(frozen=True, slots=True)
class ClusterLost:
    """The cluster is gone, and the thread that runs a build on it may never return."""

    reason: str


@dataclass(frozen=True, slots=True)
class QueueRestarted:
    """The queue begins anew from the journal: no thread runs a build."""

    reason: str


@dataclass(frozen=True, slots=True)
class JournalRegained:
    """The journal can be written again, which the turn of this build could not."""

    name: str


QueueEvent = (
    SubmitAsked
    | CancelAsked
    | RetryAsked
    | DeleteAsked
    | Opened
    | TurnBegun
    | Settled
    | TurnDeferred
    | TurnEnded
    | Rested
    | RoomLookedFor
    | CloseAsked
    | ClusterLost
    | QueueRestarted
    | JournalRegained
)


# ---- commands ----


@dataclass(frozen=True, slots=True)
class Enter:
    """Enter a build into the journal."""

    name: str
    key: str
    spec: BuildSpec


@dataclass(frozen=True, slots=True)
class Note:
    """Append records of a build to the journal."""

    name: str
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class TakeTurn:
    name: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell the build whose turn it is."""

    event: Event


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait a little, then answer Rested."""


@dataclass(frozen=True, slots=True)
class LookForRoom:
    """Wait a little, then answer RoomLookedFor."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A build was submitted, or one like it is known."""

    name: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Refuse:
    """A request that cannot be done; `kind` is for programs."""

    kind: str
    detail: str


QueueCommand = Enter | Note | TakeTurn | Tell | Rest | LookForRoom | Submitted | Refuse
