"""Makes the plan of a build: compares its closure with what lies in the store.

A sound table that is there is not built again; a table that rests on one to be built is.  What an
interrupted build logged is gone on from, unless the build is to begin anew: the logs say how far it
came, no other record is needed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.machine.placement import NodeFit, fit_on
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.closure import (
    Waves,
    domains_for,
    export_of,
    in_mode,
    layout,
    layouts,
    tables_of,
    winners_of,
)
from kingpair.coordinator.plan.domains import (
    BuildPlan,
    CommittedPass,
    DomainPlan,
    Logged,
    Node,
    Policy,
)
from kingpair.coordinator.plan.estimate import Estimate, estimate
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.slices import LevelSlice, division
from kingpair.workers.index.sweeps import room_in
from kingpair.workers.limits import free_memory
from kingpair.workers.number_types import SIDES
from kingpair.workers.published_proof import verified
from kingpair.workers.sets.threads import Threads
from kingpair.workers.table.build_folder import BuildFolder, SmallerDigests
from kingpair.workers.table.key import DomainKey, TableKey
from kingpair.workers.table.level_parts import written_parts
from kingpair.workers.table.table_store import TableStore


class Sorted(NamedTuple):
    """The tables of a build: waves of those to build, and those that are there."""

    missing: Waves
    present: tuple[TableKey, ...]

    def missing_keys(self) -> list[TableKey]:
        return list(chain(*self.missing))


def sorted_tables(spec: BuildSpec, tables: TableStore) -> Sorted:
    """Looks which tables are there.  One that rests on a table to be built is built again."""
    waves: list[tuple[TableKey, ...]] = []
    present: list[TableKey] = []
    missing: set[TableKey] = set()
    for wave in tables_of(spec):
        for key in wave:
            forced = spec.force and key.material in spec.materials
            stale = not missing.isdisjoint(key.smaller())
            if forced or stale or not tables.has(key):
                missing.add(key)
            else:
                present.append(key)
        if left := tuple(key for key in wave if key in missing):
            waves.append(left)
    return Sorted(tuple(waves), tuple(present))


def plan_of(
    request: BuildRequest,
    tables: TableStore,
    found: Sorted,
    policy: Policy,
    cores: int,
    given_out: Callable[[str], int] = lambda domain: 0,
    verified: Sequence[tuple[str, float]] = (),
    needs: Mapping[TableKey, Estimate] = {},
    nodes: Sequence[Node] = (),
) -> BuildPlan:
    """The closure as the coordinator knows it: numbers.  `given_out` has the last incarnation that
    a domain is known to have had; `cores` are those of the node that has most.  `needs` are in the
    mode in which a table is solved, if its memory is known.  A table is painted in parts by as many
    of the nodes as solve it.
    """
    missing, every = set(found.missing_keys()), list(chain(*tables_of(request.spec)))
    exports = _without_files(request.spec, tables, found)
    of_tables = {}
    for key in every:
        workers = _painters(key, request, policy, nodes)
        of_tables[key] = _domains_for(key, cores, request, needs.get(key), workers)
    domains = tuple(
        export_of(domain, nodes) if domain.name in exports else domain
        for domain in chain(*of_tables.values())
    )
    return BuildPlan(
        domains,
        layouts({domain.layout for domain in domains}),
        tuple(map(str, found.present)),
        tuple(
            found
            for key in every
            if key in missing
            for found in _logged(tables, key, of_tables[key], missing, given_out)
        ),
        policy,
        tuple(verified),
    )


def _without_files(spec: BuildSpec, tables: TableStore, found: Sorted) -> set[str]:
    """The tables that are there and lack Syzygy files that the build is to leave behind."""
    if not spec.syzygy:
        return set()
    from kingpair.workers.study.syzygy_export import are_beside  # few builds need it

    keys = [key for key in found.present if key.metric.counts_plies]
    return {str(key) for key in keys if not are_beside(tables.store, key.material)}


def _painters(key: TableKey, request: BuildRequest, policy: Policy, nodes: Sequence[Node]) -> int:
    """The workers that may solve a material: as many as pay, or as its memory demands."""
    cores = max((node.cores for node in nodes), default=1)
    memory = max((node.memory for node in nodes), default=0)
    whole = estimate(key.material, cores, key.metric)
    deserved = request.spec.spread or policy.deserved(whole.bitmap, cores)
    if memory and whole.memory > memory:
        deserved = max(deserved, -(-whole.memory // memory) + 1)
    return max(request.most_workers, min(len(nodes), deserved))


def _domains_for(
    key: TableKey, cores: int, request: BuildRequest, needs: Estimate | None, workers: int
) -> list[DomainPlan]:
    verify, most = request.spec.verify, None if needs is None else needs.most
    domains = list(domains_for(key, cores, workers, verify, most))
    if request.spec.syzygy and key.metric.counts_plies:
        domains = [replace(domain, syzygy=not domain.table) for domain in domains]
    if needs is None:
        return domains
    return [in_mode(domain, needs, key.metric) for domain in domains]


def needs_on(
    nodes: Sequence[Node], key: TableKey, policy: Policy, held: int | None = None
) -> Estimate:
    """Returns what a table needs in the first mode in which nodes can divide it; if there is none,
    in the one that falls short by the least.
    """
    cores = max(node.cores for node in nodes)
    whole = estimate(key.material, cores, key.metric)

    def short(needs: Estimate) -> int:
        return max(fit.short for fit in fits_in_mode(nodes, key, policy, needs))

    modes = [replace(needs, workers=len(nodes)) for needs in whole.modes(held)]
    fitting = (needs for needs in modes if not short(needs))
    return next(fitting, None) or min(modes, key=short)


def fits_in_mode(
    nodes: Sequence[Node], key: TableKey, policy: Policy, needs: Estimate
) -> list[NodeFit]:
    """Returns the fit of each domain of a table on nodes; with pawns the last one joins and proves
    it.
    """
    cores = max(node.cores for node in nodes)
    every = domains_for(key, cores, most=needs.most)
    domains = (in_mode(domain, needs, key.metric) for domain in every)
    return [fit_on(domain, layout(domain.layout), policy, nodes) for domain in domains]


def division_begun(tables: TableStore, key: TableKey, fitting: Estimate, room: int) -> Estimate:
    """Returns an estimate that divides a table as an earlier build has begun to, if one of no more
    memory than the room does.  If there is none, that build had larger slices, and this one begins
    them anew.
    """
    begun = tables.build_folder(key).slices()
    divided = [each for each in fitting.in_slices() if each.memory <= room]
    for each in (fitting, *divided) if begun else ():
        if begun.issubset(division(*key.material.pawns, each.most).slices):
            return each
    return fitting


def _logged(
    tables: TableStore,
    key: TableKey,
    domains: Sequence[DomainPlan],
    missing: set[TableKey],
    given_out: Callable[[str], int],
) -> list[Logged]:
    """Reads what earlier builds logged, if it rests on the smaller tables that are there."""
    slices = [domain for domain in domains if domain.table]
    rests_on_missing = not missing.isdisjoint(key.smaller())
    found = []
    for domain in map(DomainKey.parse, [each.name for each in slices or domains]):
        folder = tables.build_folder(*domain)
        last = max(given_out(str(domain)), folder.last_incarnation())
        if rests_on_missing:
            found.append(Logged(str(domain), last, (), ()))
        else:
            found.append(_logged_domain(folder, domain, tables.smaller_digests(key), last))
    return _whole_slices(key.material, slices, found) if slices else found


def _logged_domain(
    folder: BuildFolder, domain: DomainKey, smaller: SmallerDigests, last: int
) -> Logged:
    passes, workers = [], dict[int, int]()
    for winner in SIDES:
        logged = folder.logged_passes(winner, smaller)
        workers |= logged.workers
        found = tuple(CommittedPass(p.depth, p.won, p.lost, by, p.over) for p, by in logged.passes)
        passes.append((winner, found))
    parts = () if domain.slice is None else written_parts(folder, smaller)
    return Logged(str(domain), last, tuple(passes), tuple(workers.items()), parts)


def _whole_slices(
    material: Material, slices: Sequence[DomainPlan], logged: Sequence[Logged]
) -> list[Logged]:
    """A slice whose parts are all written is solved again all the same if one above it that is not
    would read its logs, and they are not whole.
    """
    found = {each.domain: each for each in logged}
    read: set[str] = set()
    for domain in reversed(slices):
        each = found[domain.name]
        if domain.name in read and not _is_analysed(material, each):
            found[domain.name] = each = replace(each, parts=())
        if not each.parts:
            read.update(domain.rests_on)
    return list(found.values())


def _is_analysed(material: Material, slice_: Logged) -> bool:
    winners = winners_of(material)
    return all(passes and passes[-1].over for w, passes in slice_.passes if w in winners)


def clear_other_slices(tables: TableStore, plan: BuildPlan) -> None:
    """Clears what earlier builds left of slices that are not in the plan: they had other ones."""
    slices: dict[TableKey, list[LevelSlice]] = {}
    for domain in plan.domains:
        table, slice_ = DomainKey.parse(domain.name)
        if slice_ is not None and str(table) not in plan.present:
            slices.setdefault(table, []).append(slice_)
    names = set(tables.store.names(""))
    for table, of_table in slices.items():
        if (folder := tables.build_folder(table)).name in names:
            folder.clear_others(of_table)


def clear_leftovers(
    request: BuildRequest, tables: TableStore, found: Sorted
) -> Iterator[tuple[str, float]]:
    """Clears away what no build needs any more; yields the tables that it verified before that, and
    the seconds that this took.

    A process that died after it published a table, or while it replaced one, leaves logs and parts
    beside the table.  They are cleared once the table is verified.
    The Syzygy files of a table that is built again go.
    """
    names = set(tables.store.names(""))
    for key in found.present:
        folder = tables.build_folder(key)
        if folder.name in names:
            if request.spec.verify:
                room = room_in(request.memory or free_memory().bytes)
                with Threads(request.threads) as threads:
                    yield str(key), verified(tables, key, threads, room)
            folder.clear()
        if (partial := f"{key.file_name}.partial") in names:
            tables.store.remove(partial)
    for key in () if request.resume else found.missing_keys():
        tables.build_folder(key).clear()
    if request.spec.syzygy:
        _remove_files(tables, found)


def _remove_files(tables: TableStore, found: Sorted) -> None:
    """Removes the Syzygy files of the tables that are to be built."""
    from kingpair.workers.study.syzygy_export import remove_beside  # few builds need it

    for key in found.missing_keys():
        if key.metric.counts_plies:
            remove_beside(tables.store, key.material)
