"""Estimates of memory and disk for each material of a build.

Estimates of memory are formulas over the sizes of sets, and hold.  Estimates of disk without pawns
are what the least compressible materials took: a table between 0.02 and 0.24 bytes a value, a pass
log between a third of that and 0.32.  pawn_tables.py has those with pawns.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from kingpair.coordinator.plan.pawn_memory import (
    THREAD_WITH_PAWNS,
    SliceNeeds,
    proof_memory,
)
from kingpair.coordinator.plan.pawn_tables import BESIDE, table_bytes
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.material_index import index_of, table_index
from kingpair.workers.index.slices import limits, needed
from kingpair.workers.index.structures import structures
from kingpair.workers.index.sweeps import WALK, room_of
from kingpair.workers.index.walk_order import kept_bytes, partitions_kept
from kingpair.workers.solve.budget import AHEAD, UNDO, walk_piece
from kingpair.workers.solve.sets_mode import SetsMode

BASE = 250 << 20  # the interpreter, pyarrow, numpy, the tables that stay open
TABLE_BYTES_PER_VALUE = 0.24
LOG_BYTES_PER_VALUE = 0.32
EXPORT_BYTES_PER_SLOT = 14  # KBPvKN took 11
LEAST = 16 << 10  # a file with its schema, footer and digests


@dataclass(frozen=True, slots=True)
class Estimate:
    """The needs of one material: slots of one side to move, bytes of a set of them, peak memory,
    disk.  `sets` are the bytes of sets in memory; `smaller_modes` has the modes that hold less than
    all of them, where there are any.  `scratch` are the bytes in files of such a mode: the sets, or
    what the proof reads again and again.  `fixed` is the part of the memory in such a mode that
    each worker takes, however small its share; `workers` may share the material at once.  With
    pawns `divisions` has the divisions of the levels into slices, and `most` says how many
    structures a slice has at most; None if levels are whole.
    """

    material: Material
    slots: int
    bitmap: int
    memory: int
    table: int
    log: int
    sets: int
    smaller_modes: tuple["ModeNeeds", ...] = ()
    divisions: tuple["DivisionNeeds", ...] = ()
    mode: SetsMode = SetsMode.ALL
    most: int | None = None
    scratch: int = 0
    fixed: int = 0
    workers: int = 1

    @property
    def streamed(self) -> int:
        """The least memory that will do."""
        return min(each.memory for each in self.modes())

    def modes(self, held: int | None = None) -> tuple["Estimate", ...]:
        """Returns the estimate in each mode that holds no more than `held` bytes of sets; if there
        is none, in the one that holds least.
        """
        every = (self, *map(self._in_mode, self.smaller_modes), *self.in_slices())
        return tuple(e for e in every if held is None or e.sets <= held) or every[-1:]

    def in_slices(self) -> Iterator["Estimate"]:
        """Yields the estimate in each division of its levels, that of the largest slices first."""
        for most, memory, sets in self.divisions:
            yield replace(self, most=most, memory=memory, sets=sets)

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
        return replace(
            self,
            mode=needs.mode,
            memory=needs.memory,
            sets=needs.sets,
            scratch=needs.mode.filed * self.bitmap,
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


class DivisionNeeds(NamedTuple):
    """A division of levels into slices: the most structures of a slice, the peak memory, and the
    bytes of sets that are part of it.
    """

    most: int | None
    memory: int
    sets: int


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
    item = 2 if metric.counts_plies else 1  # at most: in plies values may take two bytes
    kept = index.partitions if material.game.frame else partitions_kept()
    proving = BASE + _proof_bytes(index) + kept_bytes(kept, index.slots, item)

    def memory(sets: int, exits: int) -> int:
        return BASE + scratch + max(sets + exits, painting)

    def needs(mode: SetsMode) -> ModeNeeds:
        held, read = _held(mode, index, threads, metric), exits * WALK // index.partitions
        proof = BASE + room_of(index.slots)
        fixed = max(proof, memory(held - mode.held * index.set_bytes, read))
        return ModeNeeds(mode, max(proof, memory(held, read)), held, fixed)

    return Estimate(
        material,
        slots,
        bitmap,
        max(memory(sets, exits), proving),
        LEAST + int(2 * slots * TABLE_BYTES_PER_VALUE),
        LEAST + int(2 * slots * LOG_BYTES_PER_VALUE),
        sets,
        () if material.game.frame else tuple(map(needs, list(SetsMode)[1:])),
    )


def _exit_bytes(index: Index, metric: Metric) -> int:
    """Returns the bytes that are kept of the smaller tables, one without each man."""
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


def _proof_bytes(index: Index) -> int:
    """The values of a walk, and of each smaller table twice, a byte each."""
    return WALK * index.slots + 2 * index.axes * index.size // 64


@lru_cache(4096)
def _with_pawns(material: Material, threads: int, metric: Metric) -> Estimate:
    """A slice is solved at a time, and the table is proved after that."""
    kept, axes = structures(*material.pawns), len(material.pieces)
    level, slots = max(map(len, kept.levels)), Index(FIXED, axes, len(kept)).size
    whole, *smaller = (
        _division(material, threads, metric, most) for most in (None, *limits(*material.pawns))
    )
    table = LEAST + table_bytes(material, metric)
    bitmap = Index(FIXED, axes, level).set_bytes
    return Estimate(
        material,
        slots,
        bitmap,
        whole.memory,
        table,
        int(BESIDE * table),
        whole.sets,
        divisions=tuple(smaller),
    )


def _division(
    material: Material, threads: int, metric: Metric, most: int | None
) -> "DivisionNeeds":
    needs = [SliceNeeds(material, metric, *sizes) for sizes in needed(*material.pawns, most)]
    solving = BASE + threads * THREAD_WITH_PAWNS + max(each.memory for each in needs)
    memory = max(solving, BASE + proof_memory(material, threads))
    return DivisionNeeds(most, memory, max(each.sets for each in needs))


def export_memory(material: Material) -> int:
    """The memory in which Syzygy files are made: the columns of the table whole, those of what its
    moves lead into, and a sub-table with what codes it.
    """
    return BASE + EXPORT_BYTES_PER_SLOT * table_index(material).rows


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
