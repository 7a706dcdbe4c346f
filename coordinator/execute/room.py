"""Refuses what memory, disk or nodes cannot hold, before anything is built for it."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from kingpair.coordinator.execute.planning import fits_in_mode, needs_on
from kingpair.coordinator.machine.placement import NodeFit, fit_on
from kingpair.coordinator.plan.amounts import amount
from kingpair.coordinator.plan.domains import BuildPlan, Node, Policy
from kingpair.coordinator.plan.estimate import Estimate
from kingpair.coordinator.plan.sharing import Sharing
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.limits import free_memory
from kingpair.workers.sets.memory import named_scratch_errors
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.store.filesystem import Store, store_at
from kingpair.workers.table.key import TableKey

ROOM = 64 << 20  # bytes that a disk has when it is not full


def check_nodes(plan: BuildPlan, nodes: Sequence[Node]) -> None:
    """Refuses what the nodes of a cluster cannot hold, however many of them share it, before the
    smaller materials are built for nothing.  If there are none yet, they are waited for.
    """
    for domain in plan.domains if nodes else ():
        room = fit_on(domain, plan.layouts[domain.layout], plan.policy, nodes)
        if domain.name not in plan.present and room.short:
            raise CannotBuild(f"{room.reason}; use more nodes or larger ones")


def rooms(
    materials: Iterable[Material], metric: Metric, nodes: Sequence[Node]
) -> dict[Material, NodeFit]:
    """Returns the fit of each material on the nodes of a cluster, in the mode of a build."""
    return {
        material: max(
            fits(TableKey(material, metric), nodes),
            key=lambda fit: (fit.short, fit.workers, fit.needed),
        )
        for material in materials
    }


def fits(key: TableKey, nodes: Sequence[Node]) -> list[NodeFit]:
    """Returns the fit of each domain of a table, in the mode of a build."""
    return fits_in_mode(nodes, key, Policy(), needs_on(nodes, key, Policy()))


class MemoryRoom(NamedTuple):
    """Bytes of memory that a build of this process may take, and the limit that sets them."""

    bytes: int
    says: str


def memory_room(cap: int | None) -> MemoryRoom:
    """Reads how much memory is free, unless a cap is given."""
    if cap is not None:
        return MemoryRoom(cap, f"{amount(cap)} is the cap given by --memory")
    free = free_memory()
    return MemoryRoom(free.bytes, f"{free.says} {amount(free.bytes)}")


def check_memory(
    estimates: Iterable[Estimate], room: MemoryRoom, workers: int = 1, held: int | None = None
) -> list[Estimate]:
    """Refuses what cannot be held, before anything is started.  Returns the estimates, each in the
    first mode that fits.  Each of several workers may hold nearly as much as a single one, because
    it has copies of what the others own.
    """
    needed = [each.among(workers, room.bytes, held) for each in estimates]
    too_large = [
        e
        for e in needed
        if e.memory > room.bytes // (workers if e.mode is SetsMode.ALL else e.workers)
    ]
    if largest := max(too_large, key=lambda e: e.memory, default=None):
        why = ", even slice by slice" if largest.divisions else ""
        raise CannotBuild(
            f"{largest.material} needs {amount(largest.memory)} of memory{why}, {room.says}; "
            "use fewer --threads, raise the limit or use a larger machine"
        )
    return needed


def check_scratch(scratch: Path | None, store: Store, estimates: Iterable[Estimate]) -> None:
    """Refuses a directory for sets that cannot be made or has no room for those of one table."""
    away = [scratch_bytes(e) for e in estimates if e.mode is not SetsMode.ALL]
    if not away or (scratch is None and not store.is_local):
        return
    directory = store.local_path("") if scratch is None else scratch
    with named_scratch_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(directory).free
    if free < (needed := max(away)):
        raise CannotBuild(
            f"{directory} has {amount(free)} free, the sets that do not fit in memory take "
            f"{amount(needed)}; make room, give more --memory or choose another --scratch"
        )


def scratch_bytes(needs: Estimate) -> int:
    """Returns the bytes in files of all workers that share a material in one directory: their own
    sets, and the copies of open_w if that lies in a file.
    """
    if needs.workers == 1:
        return needs.scratch
    copies = sum(around for _, around in Sharing.of(needs.workers).each)
    copied = copies * needs.bitmap // len(TURNED) if needs.mode is SetsMode.WALKS else 0
    return needs.mode.filed * needs.bitmap + copied


def check_store(store: Store, estimates: Iterable[Estimate]) -> None:
    """Refuses a store that is not there, cannot be written or has no room for what is coming."""
    try:
        store.check()
    except OSError as error:
        raise CannotBuild(
            f"cannot write to {store}: {error.strerror or error}; see that it is there and may be "
            "written, or choose another --tables"
        ) from error
    needed = list(estimates)
    room = sum(e.table for e in needed) + max((e.log for e in needed), default=0)
    free = store.free_bytes()
    # Estimates of disk are rough: only what is hopeless is refused.
    if free is not None and free < room // 8:
        raise CannotBuild(
            f"{store} has {amount(free)} free, the build takes about {amount(room)}; "
            "make room or choose another --tables"
        )


def is_full(out: Path) -> bool:
    """Whether there is no room left; a store that cannot tell is never full."""
    store = store_at(out)
    try:
        room = store.free_bytes()
    except OSError:
        return False  # the matter is something else
    finally:
        store.close()
    return room is not None and room < ROOM
