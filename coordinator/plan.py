"""What a build is made of: the closure in waves, and what each material will take.

Estimates of memory are formulas over the sizes of sets, and hold.  Estimates of disk are what the
least compressible materials took: a table between 0.02 and 0.24 bytes a value, a pass log between a
third of that and 0.32.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from workers.errors import CannotBuild
from workers.estate import UNDO
from workers.geometry import PAIRS
from workers.limits import Room, memory
from workers.material import Material, closure
from workers.metric import Metric
from workers.store import Store
from workers.table import rows_of
from workers.threads import chunks_of

# Open and frontier for each side to move; with exits that carry a depth, what is freed and is not.
BITMAPS = {Metric.DTC: 4, Metric.DTM: 6}
# Of what another worker owns: open for the winner, both frontiers; and, dense, what is on its way
# in, and as much on its way out.
COPIED = 3 + 2
# Sets read off a smaller table's column; where exits carry a depth it is kept too, a byte a slot.
SMALLER_BITMAPS = {Metric.DTC: 3, Metric.DTM: 4 + 8}
BASE = 250 << 20  # the interpreter, pyarrow, numpy
TABLE_BYTES_PER_VALUE = 0.24
LOG_BYTES_PER_VALUE = 0.32
LEAST = 16 << 10  # a file with its schema, footer and digests


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one material takes: slots of one side to move, bytes of a set of them, peak memory,
    disk.
    """

    material: Material
    slots: int
    bitmap: int
    memory: int
    table: int
    log: int


def estimate(material: Material, threads: int, metric: Metric = Metric.DTC) -> Estimate:
    axes = len(material.letters)
    bitmap = _bitmap(axes)
    smaller = SMALLER_BITMAPS[metric] * _bitmap(axes - 1)
    solving = BITMAPS[metric] * (bitmap + bitmap // 512) + axes * smaller
    scratch = threads * 3 * bitmap // len(PAIRS)
    # While painting, a chunk of both columns in each thread, and as many compressed parts waiting.
    chunk = max(map(len, chunks_of(axes)))
    painting = 2 * threads * 2 * chunk * 64**axes
    slots = rows_of(material)
    return Estimate(
        material,
        slots,
        bitmap,
        BASE + scratch + max(solving, painting),
        LEAST + int(2 * slots * TABLE_BYTES_PER_VALUE),
        LEAST + int(2 * slots * LOG_BYTES_PER_VALUE),
    )


def memory_of(whole: Estimate, metric: Metric) -> tuple[int, int, int]:
    """What a worker takes whatever it holds, for each partition of its own, and for each copy: on a
    cluster, with what it keeps for whoever has to take over.
    """
    a_set = (whole.bitmap + whole.bitmap // 512) // len(PAIRS)
    own, undo = BITMAPS[metric] * a_set, a_set // UNDO
    return max(BASE, whole.memory - own * len(PAIRS)), own + undo, COPIED * a_set + undo


def _bitmap(axes: int) -> int:
    """Bytes of a set; with fewer than two men besides the kings a row is padded to 64 words."""
    return len(PAIRS) * max(512, (1 << 6 * axes) // 8)


def waves(materials: Iterable[Material]) -> tuple[tuple[Material, ...], ...]:
    return closure(materials)


def check_memory(estimates: Iterable[Estimate], cap: int | None) -> None:
    """Refuse what cannot be held, before anything is started."""
    largest = max(estimates, key=lambda e: e.memory, default=None)
    if largest is None:
        return
    room = memory() if cap is None else Room(cap, "is the cap given by --memory")
    if largest.memory > room.bytes:
        limit = f"{gib(room.bytes)} {room.says}" if cap else f"{room.says} {gib(room.bytes)}"
        raise CannotBuild(
            f"{largest.material} needs {gib(largest.memory)} of memory, {limit}; "
            "use fewer --threads, raise the limit or use a larger machine"
        )


def check_store(store: Store, estimates: Iterable[Estimate]) -> None:
    """The store is there and can be written, and has room for what is coming."""
    try:
        store.check()
    except OSError as error:
        raise CannotBuild(
            f"cannot write to {store}: {error.strerror or error}; see that it is there and may be "
            "written, or choose another --out"
        ) from error
    needed = list(estimates)
    room = sum(e.table for e in needed) + max((e.log for e in needed), default=0)
    free = store.room()
    # Estimates of disk are rough: only what is hopeless is refused.
    if free is not None and free < room // 8:
        raise CannotBuild(
            f"{store} has {gib(free)} free, the build takes about {gib(room)}; "
            "make room or choose another --out"
        )


def gib(size: int) -> str:
    for unit, width in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << width:
            return f"{size / (1 << width):.1f} {unit}"
    return f"{size} bytes"
