"""The rows of the journal as values: submitted builds, and the records of all builds in order."""

import json
from collections.abc import Callable
from typing import NamedTuple

from kingpair.coordinator.machine.records import Record
from kingpair.coordinator.plan.build_spec import BuildSpec

_QUEUE = "foreman"  # marks the builds of a queue; named as in the first journals


class Submission(NamedTuple):
    """A build that was submitted; `request` is a JSON object."""

    name: str
    key: str
    request: str
    time: float

    @property
    def spec(self) -> BuildSpec:
        return BuildSpec.parse(json.loads(self.request))

    @property
    def is_queued(self) -> bool:
        """Whether it was submitted to a queue; else a command line has entered it."""
        return _QUEUE in json.loads(self.request)


def request_of(spec: BuildSpec) -> str:
    """The request that a queue enters."""
    return json.dumps(spec.as_json() | {_QUEUE: 1})


class JournalEntry(NamedTuple):
    """A record, when it was settled and by which event."""

    seq: int
    time: float
    record: Record


class Row(NamedTuple):
    """A record in the sequence of all of them."""

    id: int
    build: str
    seq: int
    time: float
    record: Record


Listener = Callable[[Row], None]
"""Called with each record of a build as it is settled."""
