"""Which worker paints which part of a table.

A worker paints the parts of which it owns most partitions, and then those that are left.  It has
logged its own partitions itself: with logs on the disks of machines it reads them from its own.
"""

from collections.abc import Iterator, Sequence

from kingpair.coordinator.machine.commands import Paint
from kingpair.coordinator.machine.state import Run, Team


def first_parts(run: Run, team: Team) -> list[tuple[int, Paint]]:
    """Returns a part for each worker, as far as there are parts."""
    waiting, tasks = list(unpainted(run, team)), list[tuple[int, Paint]]()
    for worker in team.present[: len(waiting)]:
        tasks.append((worker, best := nearest(run, team, worker, waiting)))
        waiting.remove(best)
    return tasks


def nearest(run: Run, team: Team, worker: int, parts: Sequence[Paint]) -> Paint:
    """The part of which the worker owns most: it has logged that itself, on its own disk maybe."""
    if run.domain.painted is not None:
        return parts[0]  # of structures, whose owners are not the partitions'
    return max(parts, key=lambda part: team.owners[part.first : part.stop].count(worker))


def unpainted(run: Run, team: Team) -> Iterator[Paint]:
    """Yields the parts that no worker has painted or is painting."""
    taken = {task.part for task in team.calls.values() if isinstance(task, Paint)}
    size, logs = run.domain.together, run.logs()
    for part in range(run.part_count):
        if part not in run.parts and part not in taken:
            yield Paint(part, part * size, min((part + 1) * size, run.painted), logs)
