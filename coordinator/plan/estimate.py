"""Estimates of memory and disk for each material of a build.

Estimates of memory are formulas over the sizes of sets, and hold.  Estimates of disk are what the
least compressible materials took: a table between 0.02 and 0.24 bytes a value, a pass log between a
third of that and 0.32.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED, TURNED
from kingpair.workers.index.material_index import index_of, table_index
from kingpair.workers.index.structures import structures
from kingpair.workers.index.walk_parts import KEPT_BYTES, PARTED_PIECES
from kingpair.workers.solve.budget import AHEAD, UNDO, walk_piece
from kingpair.workers.solve.sets_mode import SetsMode

PROOF_WITH_PAWNS = 260 << 20  # columns that are kept, and what reads them
PROOF_WITH_EN_PASSANT = 460 << 20  # where pawns of both sides are
PROOF_BESIDE_PROMOTIONS = 60 << 20
THREAD_WITH_PAWNS = 16 << 20  # what a thread reads and writes with
WALK = 58  # partitions among which one king moves while the other stands still
WALK_SQUARES = 8  # that are images of each other: with pawns a walk has them all
READERS = 4  # partitions of a smaller table that the threads of a worker read at a time
BASE = 250 << 20  # the interpreter, pyarrow, numpy, the tables that stay open
TABLE_BYTES_PER_VALUE = 0.24
PAWN_TABLE_BYTES_PER_VALUE = 0.4  # KPPvKP to mate takes 0.39, KRPvKR 0.22
LOG_BYTES_PER_VALUE = 0.32
EXPORT_BYTES_PER_SLOT = 14  # KBPvKN took 11
LEAST = 16 << 10  # a file with its schema, footer and digests


@dataclass(frozen=True, slots=True)
class Estimate:
    """The needs of one material: slots of one side to move, bytes of a set of them, peak memory,
    disk.  `sets` are the bytes of sets in memory; `smaller_modes` has the modes that hold less than
    all of them, where there are any.  `scratch` are the bytes in files of such a mode: the sets, or
    what the proof reads again and again.  `fixed` is the part of the memory in such a mode that
    each worker takes, however small its share; `workers` may share the material at once.
    """

    material: Material
    slots: int
    bitmap: int
    memory: int
    table: int
    log: int
    sets: int
    smaller_modes: tuple["ModeNeeds", ...] = ()
    mode: SetsMode = SetsMode.ALL
    scratch: int = 0
    fixed: int = 0
    workers: int = 1

    @property
    def streamed(self) -> int:
        """The least memory that will do."""
        return min((self.memory, *(needs.memory for needs in self.smaller_modes)))

    def modes(self, held: int | None = None) -> tuple["Estimate", ...]:
        """Returns the estimate in each mode that holds no more than `held` bytes of sets; if there
        is none, in the one that holds least.
        """
        every = (self, *map(self._in_mode, self.smaller_modes))
        return tuple(e for e in every if held is None or e.sets <= held) or every[-1:]

    def in_room(self, room: int, held: int | None = None) -> "Estimate":
        """Returns the estimate in the first mode that needs no more memory than `room`, and that
        holds no more than `held` bytes of sets; if there is none, in the one that needs least.
        """
        return _first_fitting(self.modes(held), room)

    def among(self, workers: int, room: int, held: int | None = None) -> "Estimate":
        """Returns the estimate for workers that divide so much memory: in the first mode of which
        each has room for as much as one alone needs, or else in one for a single worker.
        """
        shared = self.in_room(room // workers, held)
        if shared.memory > room // workers and self.smaller_modes:
            return _first_fitting(self.modes(held)[1:] or self.modes(held), room)
        return shared if shared.mode is self.mode else replace(shared, workers=workers)

    def _in_mode(self, needs: "ModeNeeds") -> "Estimate":
        scratch = max(needs.mode.filed * self.bitmap, proof_bytes(self.material))
        return replace(
            self,
            mode=needs.mode,
            memory=needs.memory,
            sets=needs.sets,
            scratch=scratch,
            fixed=needs.fixed,
        )


def _first_fitting(modes: Sequence[Estimate], room: int) -> Estimate:
    fitting = (each for each in modes if each.memory <= room)
    return next(fitting, min(modes, key=lambda each: each.memory))


class ModeNeeds(NamedTuple):
    """The memory of a mode, the bytes of sets that are part of it, and what is left without the
    open sets that it holds.
    """

    mode: SetsMode
    memory: int
    sets: int
    fixed: int


def estimate(material: Material, threads: int, metric: Metric = Metric.DTC) -> Estimate:
    if material.has_pawns:
        return _with_pawns(material, threads, metric)
    index = index_of(material)
    bitmap = index.set_bytes
    sets, exits = metric.bitmaps.own * (bitmap + bitmap // 512), _exit_bytes(index, metric)
    scratch = threads * 3 * bitmap // index.partitions
    # While painting, a chunk of both columns in each thread, and as many compressed parts waiting.
    painting = 2 * threads * 2 * index.together * index.slots
    slots = index.size
    proof = BASE + proof_bytes(material) + _kept_bytes(slots, metric)

    def memory(sets: int, exits: int) -> int:
        return BASE + scratch + max(sets + exits, painting)

    def needs(mode: SetsMode) -> ModeNeeds:
        held, read = _held(mode, index, threads, metric), exits * WALK // index.partitions
        fixed = memory(held - mode.held * index.set_bytes, read)
        return ModeNeeds(mode, memory(held, read), held, fixed)

    return Estimate(
        material,
        slots,
        bitmap,
        max(memory(sets, exits), proof),
        LEAST + int(2 * slots * TABLE_BYTES_PER_VALUE),
        LEAST + int(2 * slots * LOG_BYTES_PER_VALUE),
        sets,
        () if material.game.frame else tuple(map(needs, list(SetsMode)[1:])),
    )


def _exit_bytes(index: Index, metric: Metric) -> int:
    """What is kept of the smaller tables, one without each man."""
    return index.axes * metric.bitmaps.smaller * index.smaller_set_bytes


def _held(mode: SetsMode, index: Index, threads: int, metric: Metric) -> int:
    """The bytes of sets in memory: the open sets that are held, and those of the largest walk; for
    each thread those of a call; the pieces of a file at hand; and the marks of all sets, whose
    words may be elsewhere.
    """
    a_set, freed = index.set_bytes // index.partitions, int(metric.frees_escapes)
    of_walk = 1 + (mode is SetsMode.WALKS)
    piece, of_call = walk_piece(index.together), 1 + freed
    working = min(WALK, threads * piece)
    of_file = min(WALK, (threads + AHEAD) * piece) if mode.filed else 0
    marks = (2 + 2 + freed) * index.set_bytes // 512
    walked = of_walk * WALK + of_call * working + of_file
    return mode.held * index.set_bytes + walked * a_set + marks


def proof_bytes(material: Material) -> int:
    """The values of a walk, and of each smaller table twice, a byte each."""
    index = index_of(material)
    return WALK * index.slots + 2 * index.axes * index.size // 64


def _kept_bytes(slots: int, metric: Metric) -> int:
    """The values of both columns, if a proof keeps them: in plies they may take two bytes each."""
    kept = 2 * slots * (2 if metric.counts_plies else 1)
    return kept if kept <= KEPT_BYTES else 0


def _with_pawns(material: Material, threads: int, metric: Metric) -> Estimate:
    """A level is solved at a time, and the table is proved after that."""
    kept, axes = structures(*material.pawns), len(material.pieces)
    level = Index(FIXED, axes, max(map(len, kept.levels)))
    slots = Index(FIXED, axes, len(kept)).size
    solving = BASE + threads * THREAD_WITH_PAWNS + _level_bytes(material, level, metric)
    memory = max(solving, proof_memory(material, threads))
    table = LEAST + int(2 * slots * PAWN_TABLE_BYTES_PER_VALUE)
    sets = metric.bitmaps.level * level.set_bytes
    return Estimate(material, slots, level.set_bytes, memory, table, table, sets)


def _level_bytes(material: Material, level: Index, metric: Metric) -> int:
    """The sets of a level and of the two below it, the column that promotions lead into, and where
    the metric needs them the values that exits lead to.
    """
    values = 2 * level.size if metric.frees_escapes else 0
    return metric.bitmaps.level * level.set_bytes + _promoted(material) + values


def _promoted(material: Material) -> int:
    """The bytes of the column that promotions of a level lead into: what pawns are left have one
    number of steps to go, and each structure is read with its mirror image.  A column without
    pawns is read partition by partition.
    """
    axes, (ours, theirs) = len(material.pieces) + 1, material.pawns
    if ours + theirs == 1:
        return READERS * Index(TURNED, axes).slots
    left = [(ours - 1, theirs)] * (ours > 0) + [(ours, theirs - 1)] * (theirs > 0)
    most = max(len(level) for pawns in left for level in structures(*pawns).levels)
    return Index(FIXED, axes, 2 * most).size


def proof_memory(material: Material, threads: int) -> int:
    """The memory of a proof with pawns: the columns that it reads at a time.  A pawn promotes into
    four of them; while one thread reads them, another may need one that had gone.  Where the pawns
    are of one side, large columns are read by walks: those of a task, and of the next one.
    """
    axes = len(material.pieces)
    keys = WALK_SQUARES * 64 ** (axes + 1) if axes > 2 else 0  # each thread has them
    fixed = BASE + threads * (THREAD_WITH_PAWNS + keys)
    last = sum(material.pawns) == 1
    column, columns = Index(TURNED if last else FIXED, axes + 1).size, 4 + (threads > 1)
    if axes + 1 >= PARTED_PIECES and not all(material.pawns):
        column, columns = WALK * (1 if last else WALK_SQUARES) * 64 ** (axes + 1), 2 * 4
    least = PROOF_WITH_EN_PASSANT if all(material.pawns) else PROOF_WITH_PAWNS
    return fixed + max(least, columns * column + PROOF_BESIDE_PROMOTIONS)


def export_memory(material: Material) -> int:
    """The memory in which Syzygy files are made: the columns of the table whole, those of what its
    moves lead into, and a sub-table with what codes it.
    """
    return BASE + EXPORT_BYTES_PER_SLOT * table_index(material).rows


def level_memory(material: Material, level: Index, metric: Metric) -> tuple[int, int, int]:
    """Returns the bytes of a worker of a level: fixed, for each king pair, and for each copy."""
    a_set = level.set_bytes // level.partitions
    whole = _level_bytes(material, level, metric)
    own = metric.bitmaps.level * a_set
    return BASE + whole - own * level.partitions, own, metric.bitmaps.copied * a_set


def memory_of(whole: Estimate, metric: Metric) -> tuple[int, int, int]:
    """Returns the bytes of a worker: fixed, for each partition of its own, and for each copy; with
    what it keeps on a cluster for a worker that takes over.  Of the smaller tables it keeps the
    same partitions.  One that holds fewer sets has copies of open_w alone, and keeps nothing for
    others.
    """
    index = index_of(whole.material)
    partitions = index.partitions
    if whole.mode is not SetsMode.ALL:
        a_set, held = whole.bitmap // partitions, whole.mode.held
        return whole.fixed, held * a_set, min(1, held) * a_set
    a_set = (whole.bitmap + whole.bitmap // 512) // partitions
    exits = 0 if whole.material.game.frame else _exit_bytes(index, metric) // partitions
    own, undo = metric.bitmaps.own * a_set + exits, a_set // UNDO
    return (
        max(BASE, whole.memory - own * partitions),
        own + undo,
        metric.bitmaps.copied * a_set + exits + undo,
    )


def waves(materials: Iterable[Material]) -> tuple[tuple[Material, ...], ...]:
    """The closure of the materials of a build."""
    return closure(materials)
