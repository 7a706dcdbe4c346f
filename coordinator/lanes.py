"""What each worker of a build is doing at this moment, for whoever watches."""

import resource
from pathlib import Path
from typing import Any

from coordinator.foreman import Job
from coordinator.state import Build, Run, Stage, Team
from workers.limits import memory
from workers.subject import Subject

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
}


def lanes(job: Job | None) -> tuple[str | None, list[dict[str, Any]]]:
    """The build that is being built, and its workers."""
    if job is None:
        return None, []
    build = job.build
    if build is None:
        return job.name, []
    runs = [run for run in build.runs.values() if run.team is not None]
    count = sum(len(run.team.shares) for run in runs if run.team)
    own = None if job.is_on_a_cluster else resident() // max(1, count)
    return job.name, [lane for run in runs for lane in _of_run(build, run, own)]


def _of_run(build: Build, run: Run, own: int | None) -> list[dict[str, Any]]:
    team = run.team
    assert team is not None, "looked for above"
    limits = {node.name: node.memory for node in build.nodes.values()}
    material, metric = Subject.parse(run.domain.name)
    return [
        {
            "id": f"{run.domain.name}.{team.incarnation}.{number}",
            "node": share.node,
            "domain": str(material),
            "metric": str(metric),
            "doing": _doing(team, number),
            "memory_bytes": share.memory if own is None else own,
            "memory_limit_bytes": memory().bytes if own is not None else limits[share.node],
            "partitions": len(share.partitions),
        }
        for number, share in enumerate(team.shares)
    ]


def _doing(team: Team, number: int) -> str:
    if any(call.worker == number for call in team.calls):
        return _DOING[team.stage]
    return "log" if any(call.worker == number for call in team.seals) else "idle"


def resident() -> int:
    """Bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()
