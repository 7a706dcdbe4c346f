"""The figures of endgames with pawns: what a build takes that solves, writes and proves a table.

The targets are shares of the processor time in which the Syzygy generator solves the same endgames
on the machine on which all were measured: a quarter of 72.7 s, and a tenth of 41.2 s.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kingpair.api.bench.figures import Figure, build_smaller, kingpair_command, peak_of
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material


class Target(NamedTuple):
    """An endgame and the processor time that its build may take."""

    name: str
    seconds: float


TARGETS = (Target("KRPvKR", 18.2), Target("KPPPvK", 4.1))
PEAK_GIB = 1.0


def with_pawns(threads: int) -> Iterator[Figure]:
    """Builds each endgame once its smaller tables are there, which takes minutes."""
    for name, seconds in TARGETS:
        with TemporaryDirectory(prefix="kingpair-bench-") as at:
            build_smaller(Path(at), name, threads)
            taken = _processor_time(Path(at), name, threads)
            yield Figure(f"{name}, solved, written and proved, processor time", taken, "s", seconds)
            options = ("--out", at, "--threads", str(threads), "--force")
            peak = peak_of(kingpair_command("build", name, *options))
            yield Figure(f"{name}, peak resident", peak / (1 << 30), "GiB", PEAK_GIB)


def _processor_time(out: Path, name: str, threads: int) -> float:
    """Builds in this process; returns the processor time of all its threads."""
    start = time.process_time()
    spec = BuildSpec((Material.parse(name),), force=True)
    build(BuildRequest(spec, out, threads=threads), lambda event: None)
    return time.process_time() - start
