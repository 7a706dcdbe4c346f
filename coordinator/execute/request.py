"""A request for a build: its specification, where it writes, and what it may use."""

from dataclasses import dataclass
from pathlib import Path

from kingpair.coordinator.plan.amounts import PARTS_FROM
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.passlog.machine_logs import MachineLogs
from kingpair.workers.store.filesystem import printable, uri_of


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Several `workers` share the partitions of every domain that has more than `grain` bytes; as
    many as the specification's spread, if it has one, share each.  A table that several paint is
    kept in parts if it may have `parts_from` bytes.
    """

    spec: BuildSpec
    out: Path
    threads: int = 1
    memory: int | None = None
    resume: bool = True
    workers: int = 1
    grain: int = 64 << 20
    held: int | None = None  # bytes of sets in memory at most, but for those of a walk
    scratch: Path | None = None  # for sets that do not fit in memory; beside the tables if None
    logs: Path | None = None  # of each machine, for pass logs; beside the tables if None
    parts_from: int = PARTS_FROM

    @property
    def most_workers(self) -> int:
        """Workers of this process that may share a domain; a spread gives at most one a thread."""
        return max(self.workers, min(self.spec.spread or 1, self.threads))

    @property
    def where(self) -> Path:
        """The place of the tables, as any process of this machine finds it."""
        return self.out if uri_of(self.out) else self.out.absolute()

    @property
    def machine_logs(self) -> MachineLogs | None:
        """The logs of this machine, in a directory for the tables of one place."""
        if self.logs is None:
            return None
        from hashlib import blake2b  # it loads OpenSSL, which few builds need

        place = blake2b(printable(self.where).encode(), digest_size=8).hexdigest()
        return MachineLogs(self.logs.absolute() / place)
