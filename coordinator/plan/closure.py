"""The closure of a build: its tables in waves, and each as a domain of numbers.

    table key   a material for a metric: one table, and to the coordinator one domain of its name;
                with pawns a domain for each slice, and one that joins their parts
    wave        the table keys of all metrics with the same numbers of men and of pawns

A table rests on smaller ones of its own metric alone, so the metrics of a build meet nowhere but in
its plan: domains side by side, counted together for memory and disk.  Analyses of one material for
two metrics read different columns and log different passes.  Both open the sets of legal positions,
which takes 1 % of KRBvKR's time, and share nothing.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.domains import DomainPlan, Layout, Node
from kingpair.coordinator.plan.estimate import (
    BASE,
    Estimate,
    estimate,
    export_memory,
    memory_of,
    waves,
)
from kingpair.coordinator.plan.pawn_memory import SliceNeeds, painted_together, proof_memory
from kingpair.workers.errors import BadMaterial
from kingpair.workers.game.chess.material import MEN_MAX, Material
from kingpair.workers.game.chess.waves import wave_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.index import Index
from kingpair.workers.index.king_pairs import FIXED
from kingpair.workers.index.material_index import index_of
from kingpair.workers.index.partition_graphs import (
    GRAPHS,
    JOINED,
    KING_PAIRS,
    SINGLE,
    STRONGER_KINGS,
    graph_number,
    partition_graph,
)
from kingpair.workers.index.slices import division
from kingpair.workers.index.structures import structures
from kingpair.workers.index.walk_parts import WALKS
from kingpair.workers.number_types import STRONGER, WEAKER, Side
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.table.key import DomainKey, TableKey

PROOF_PARTS = 16
"""Parts of the proof of a table with pawns if several workers make it."""
Waves = tuple[tuple[TableKey, ...], ...]


def tables_of(spec: BuildSpec) -> Waves:
    """All tables that a build leaves behind, wave by wave."""
    _check_metrics(spec)
    return tuple(
        tuple(TableKey(material, metric) for material in wave for metric in spec.metrics)
        for wave in waves(spec.materials)
    )


def _check_metrics(spec: BuildSpec) -> None:
    for material in spec.materials:
        if Metric.DTZ not in spec.metrics:
            continue
        if Metric.DTZ not in material.game.metrics:
            raise BadMaterial(
                f"{material.name!r}: tables of {Metric.DTZ} are of chess alone; use {Metric.DTC} "
                f"or {Metric.DTM}"
            )


def estimates(keys: Iterable[TableKey], threads: int) -> list[Estimate]:
    return [estimate(key.material, threads, key.metric) for key in keys]


@cache
def layout(number: int = KING_PAIRS) -> Layout:
    """The layout of a number that a domain names."""
    return Layout(*partition_graph(number))


def layouts(used: Container[int]) -> tuple[Layout, ...]:
    """The layouts of a plan by their numbers.  Those that are not used are empty: some take long to
    derive.
    """
    return tuple(layout(n) if n in used else Layout((), ()) for n in range(GRAPHS))


def domains_for(
    key: TableKey,
    cores: int,
    workers: int = 1,
    verify: bool = True,
    most: int | None = None,
) -> Iterator[DomainPlan]:
    """The domains that make a table: one, or its slices of at most so many structures and then the
    one that joins them.
    """
    if not key.material.has_pawns:
        yield domain_for(key, cores, workers, verify)
        return
    divided = division(*key.material.pawns, most)
    names = tuple(str(DomainKey(key, slice_)) for slice_ in divided.slices)
    for place, below in enumerate(divided.below):
        lower = sum(divided.sizes[each] for each in below)
        needs = SliceNeeds(key.material, key.metric, divided.sizes[place], lower)
        yield _slice(key, names[place], tuple(names[each] for each in below), needs, workers)
    yield replace(domain_for(key, cores, workers, verify), needs=names, rests_on=names)


def _slice(
    key: TableKey, name: str, below: tuple[str, ...], needs: SliceNeeds, workers: int
) -> DomainPlan:
    """A slice, and those that its pushes lead to."""
    index, metric = needs.index, key.metric
    return DomainPlan(
        name,
        wave=_number_of_wave(key.material),
        needs=(*sorted(map(str, key.smaller())), *below),
        winners=winners_of(key.material),
        layout=STRONGER_KINGS,
        size=index.set_bytes,
        threads=len(index.chunks()),
        together=_painted_together(index, workers),
        base=BASE + needs.fixed,
        held=needs.of_a_pair,
        copied=needs.of_a_copy,
        table=str(key),
        rests_on=below,
        painted=index.structures,
        patience=metric.passes_per_move,
    )


def _painted_together(index: Index, workers: int) -> int:
    """The structures that a worker paints as one part.  It holds their columns in memory."""
    return min(-(-index.structures // workers), painted_together(index))


def domain_for(key: TableKey, cores: int, workers: int = 1, verify: bool = True) -> DomainPlan:
    """A table as the coordinator knows it.  Each thread of a worker takes memory, and it has as
    many as its node has `cores`; `workers` is 1 if never more than one shares the domain.
    """
    material, metric = key
    if material.has_pawns:
        return _domain_with_pawns(key, cores, verify)
    fixed, own, copy = memory_of(estimate(material, cores, metric), metric)
    return DomainPlan(
        str(key),
        wave=_number_of_wave(material),
        needs=tuple(sorted(map(str, key.smaller()))),
        winners=winners_of(material),
        layout=graph_number(material),
        size=estimate(material, 1, metric).bitmap,
        threads=len(index_of(material).chunks()),
        together=part_size(material, workers),
        base=fixed,
        held=own,
        copied=copy,
        verify=verify,
        proof=1 if material.game.frame else WALKS,
        patience=metric.passes_per_move,
    )


def in_mode(domain: DomainPlan, needs: Estimate, metric: Metric) -> DomainPlan:
    """The domain of a table with as few sets in memory as an estimate says."""
    if needs.mode is SetsMode.ALL:
        return domain
    alone = needs.workers == 1
    fixed, own, copy = (needs.memory, 0, 0) if alone else memory_of(needs, metric)
    return replace(domain, base=fixed, held=own, copied=copy, mode=needs.mode, alone=alone)


def _domain_with_pawns(key: TableKey, cores: int, verify: bool) -> DomainPlan:
    """A table with pawns: one worker joins the parts of its slices, and several may prove it."""
    found = structures(*key.material.pawns)
    return DomainPlan(
        str(key),
        wave=_number_of_wave(key.material),
        needs=tuple(sorted(map(str, key.smaller()))),
        winners=(),
        layout=JOINED,
        size=Index(FIXED, len(key.material.pieces), len(found)).set_bytes,
        threads=cores,
        together=1,
        base=BASE + proof_memory(key.material, cores),
        verify=verify,
        proof=PROOF_PARTS,
        painted=0,
    )


def export_of(domain: DomainPlan, nodes: Sequence[Node]) -> DomainPlan:
    """The domain of a table that is there and lacks its Syzygy files: one worker writes them.  It
    gets the largest node for itself if that has less memory than it might take.
    """
    needed = export_memory(TableKey.parse(domain.name).material)
    largest = max((node.memory for node in nodes), default=needed)
    return replace(
        domain,
        winners=(),
        layout=SINGLE,
        size=1,
        base=min(needed, largest),
        held=0,
        copied=0,
        rests_on=(),
        painted=0,
        lacks_files=True,
        mode=SetsMode.ALL,
    )


def _number_of_wave(material: Material) -> int:
    """Waves in their order; some numbers between them may belong to no wave."""
    men, pawns = wave_of(material)
    return men * (MEN_MAX + 1) + pawns


def winners_of(material: Material) -> tuple[Side, ...]:
    """Returns the sides that can win: in chess a bare king cannot."""
    sides: tuple[tuple[Side, str], ...] = ((STRONGER, material.stronger), (WEAKER, material.weaker))
    return tuple(side for side, men in sides if men or material.game.bare_king_wins)


def part_size(material: Material, workers: int) -> int:
    """The partitions of a part: all of them, or whole chunks so that several workers can paint.
    One that is a chunk, as of seven men, is a part: its owner paints it from its own log.
    """
    index = index_of(material)
    if workers == 1:
        return index.partitions
    chunk = index.together
    if chunk == 1:
        return chunk
    return max(chunk, index.partitions // (4 * workers) // chunk * chunk)
