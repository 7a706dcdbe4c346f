"""Which worker paints which parts of a table.

A worker paints the parts of which it owns most partitions, and then those that are left.  It has
logged its own partitions itself: with logs on the disks of machines it reads them from its own.

It is given as many parts at once as have a chunk for each of its cores, but no more than are its
own if all workers share what is left: a partition of seven men is one chunk.
"""

from collections.abc import Sequence

from kingpair.coordinator.machine.commands import Paint
from kingpair.coordinator.machine.state import Run, Team
from kingpair.coordinator.plan.domains import TablePart


def first_parts(run: Run, team: Team) -> list[tuple[int, Paint]]:
    """Returns parts for each worker, as far as there are parts."""
    waiting, tasks = _unpainted(run, team), list[tuple[int, Paint]]()
    fair = -(-len(waiting) // len(team.present))
    for worker in team.present:
        if waiting:
            tasks.append((worker, _taken(run, team, worker, waiting, fair)))
    return tasks


def next_parts(run: Run, team: Team, worker: int) -> Paint | None:
    """Returns the parts that a worker paints next; None if none are left."""
    waiting = _unpainted(run, team)
    fair = -(-len(waiting) // len(team.present))
    return _taken(run, team, worker, waiting, fair) if waiting else None


def _taken(run: Run, team: Team, worker: int, waiting: list[TablePart], fair: int) -> Paint:
    """Takes the parts nearest to a worker from those that wait."""
    taken = []
    for _ in range(min(_at_once(run, team, worker), fair, len(waiting))):
        taken.append(best := _nearest(run, team, worker, waiting))
        waiting.remove(best)
    return Paint(tuple(sorted(taken, key=lambda part: part.number)), run.logs())


def _at_once(run: Run, team: Team, worker: int) -> int:
    """The parts that the cores of a worker can paint side by side."""
    domain = run.domain
    if domain.painted is not None:
        return 1  # all cores share the structures of a part
    chunks = -(-domain.together * domain.threads // run.layout.partitions)
    return max(1, team.shares[worker].cores // max(1, chunks))


def _nearest(run: Run, team: Team, worker: int, parts: Sequence[TablePart]) -> TablePart:
    if run.domain.painted is not None:
        return parts[0]  # of structures, whose owners are not the partitions'
    return max(parts, key=lambda part: team.owners[part.first : part.stop].count(worker))


def _unpainted(run: Run, team: Team) -> list[TablePart]:
    """Returns the parts that no worker has painted or is painting."""
    paints = [task for task in team.calls.values() if isinstance(task, Paint)]
    taken = {part.number for paint in paints for part in paint.parts}
    size = run.domain.together
    return [
        TablePart(part, part * size, min((part + 1) * size, run.painted))
        for part in range(run.part_count)
        if part not in run.parts and part not in taken
    ]
