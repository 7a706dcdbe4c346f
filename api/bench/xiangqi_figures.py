"""The figures of Chinese chess: the 108 endgames of Wu and Beal, and probes.

The targets are those of two cores: a minute to conversion, five minutes for both metrics with their
proofs, both as processor time, and a gibibyte.
"""

import resource
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from kingpair.api.bench.figures import Figure, kingpair_command, peak_of, probes

LARGEST = ("000011-220000", "100011-220000", "010011-220000")
"""All others come with them."""
PROBED = "xiangqi:KCPvKAB"


def chinese_chess(threads: int) -> Iterator[Figure]:
    """Builds the endgames twice, which takes minutes."""
    with TemporaryDirectory(prefix="kingpair-bench-") as out:
        yield from probes(Path(out), PROBED, threads)
    name = "108 endgames of Chinese chess"
    seconds, _ = _cost("--metric", "dtc", "--no-verify")
    yield Figure(f"{name} to conversion, processor time", seconds, "s", 120)
    seconds, peak = _cost("--metric", "dtc", "--metric", "dtm")
    yield Figure(f"{name}, both metrics proved, processor time", seconds, "s", 600)
    yield Figure(f"{name}, peak resident", peak / (1 << 30), "GiB", 1)


def _cost(*options: str) -> tuple[float, int]:
    """Returns the processor time and the peak memory of a build in an empty directory."""
    with TemporaryDirectory(prefix="kingpair-bench-") as out:
        before = _seconds_of_children()
        peak = peak_of(kingpair_command("build", *LARGEST, *options, "--out", out))
        return _seconds_of_children() - before, peak


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
