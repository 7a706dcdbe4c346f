"""The status of each worker of the build that is running."""

import resource
from pathlib import Path
from typing import Any, NamedTuple

from kingpair.coordinator.execute.turn import RunningBuild
from kingpair.coordinator.machine.state import BuildJob, Run, Stage, Team
from kingpair.workers.limits import free_memory
from kingpair.workers.table.key import DomainKey

_DOING = {
    Stage.CREATE: "begin",
    Stage.PREPARE: "exits",
    Stage.LOSE_AT_ONCE: "unmove",
    Stage.WIN: "unmove",
    Stage.LOSE: "unmove",
    Stage.SETTLE: "log",
    Stage.PAINT: "paint",
    Stage.PUBLISH: "publish",
    Stage.VERIFY: "verify",
    Stage.EXPORT: "export",
}


class WorkerStatus(NamedTuple):
    """The build that is running, the status of its workers, and the nodes that it may use."""

    build: str | None
    workers: list[dict[str, Any]]
    nodes: list[dict[str, Any]]


def worker_status(running: RunningBuild | None) -> WorkerStatus:
    """Returns the status of the workers of the build that is running."""
    if running is None:
        return WorkerStatus(None, [], [])
    build = running.build
    if build is None:
        return WorkerStatus(running.name, [], [])
    runs = [run for run in build.runs.values() if run.team is not None]
    count = sum(len(run.team.shares) for run in runs if run.team)
    own = None if running.is_on_a_cluster else resident() // max(1, count)
    workers = [each for run in runs for each in _of_run(build, run, own)]
    nodes = [
        {
            "name": node.name,
            "cores": node.cores,
            "memory_bytes": node.memory if own is None else free_memory().bytes,
        }
        for node in build.nodes.values()
    ]
    return WorkerStatus(running.name, workers, nodes)


def _of_run(build: BuildJob, run: Run, own: int | None) -> list[dict[str, Any]]:
    team = run.team
    assert team is not None, "a run without workers"
    limits = {node.name: node.memory for node in build.nodes.values()}
    key = DomainKey.parse(run.domain.name)
    return [
        {
            "id": f"{run.domain.name}.{team.incarnation}.{number}",
            "node": share.node,
            "domain": str(key.table.material),
            "level": key.level,
            "metric": str(key.table.metric),
            "doing": _doing(team, number),
            "memory_bytes": share.memory if own is None else own,
            "memory_limit_bytes": free_memory().bytes if own is not None else limits[share.node],
            "share": len(share.partitions) / run.layout.partitions,
        }
        for number, share in enumerate(team.shares)
    ]


def _doing(team: Team, number: int) -> str:
    if any(call.worker == number for call in team.calls):
        return _DOING[team.stage]
    return "log" if any(call.worker == number for call in team.seals) else "idle"


def resident() -> int:
    """Returns the bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()
