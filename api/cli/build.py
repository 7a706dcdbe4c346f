"""The commands `kingpair build` and `kingpair estimate`.

Each imports what it needs when it runs, so that help and errors come at once.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.commands import Level
from kingpair.api.cli.options import (
    AsJson,
    AtWork,
    BuiltTables,
    Cluster,
    Logs,
    Materials,
    Memory,
    Men,
    OneMetric,
    PartsFrom,
    Pawnless,
    Scratch,
    Spread,
    Tables,
    Workers,
    WriteSyzygy,
    say,
)
from kingpair.workers.game.chess.waves import closure
from kingpair.workers.game.metric import Metric
from kingpair.workers.store.filesystem import printable

if TYPE_CHECKING:
    from kingpair.api.settings import Settings
    from kingpair.coordinator.plan.build_spec import BuildSpec
    from kingpair.workers.game.chess.material import Material

Resume = Annotated[
    bool, typer.Option(help="Resume from the committed passes of an interrupted build.")
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Build these materials again, and those that rest on them."),
]
Metrics = Annotated[
    list[Metric] | None,
    typer.Option(
        "--metric",
        show_default="dtc",
        help="Count moves to conversion or to mate, or plies to zeroing; may be given again.",
    ),
]
Compact = Annotated[
    bool, typer.Option("--compact", help="Make smaller tables, which takes much longer.")
]
Verify = Annotated[bool, typer.Option(help="Prove each table by forward moves when it is written.")]
ComparedCluster = Annotated[
    str | None,
    typer.Option(metavar="WHERE", help="Compare with a cluster too: local, auto or HOST:PORT."),
]


def build(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    pawnless: Pawnless = False,
    tables: BuiltTables = None,
    threads: AtWork = None,
    memory: Memory = None,
    scratch: Scratch = None,
    logs: Logs = None,
    parts_from: PartsFrom = None,
    resume: Resume = True,
    force: Force = False,
    metric: Metrics = None,
    compact: Compact = False,
    verify: Verify = True,
    syzygy: WriteSyzygy = False,
    cluster: Cluster = None,
    workers: Workers = None,
    spread: Spread = None,
    as_json: AsJson = False,
    level: Level = None,
) -> None:
    """Solve materials and write their tables.

    The materials that captures and promotions lead to are solved too, before those that need them.

    Tables that are in the directory are not built again.  After any interruption the same command
    resumes from the last committed pass.

    \b
    Examples:
      kingpair build KQvKR
      kingpair build KRBvKR KBBvKN --tables /data/tables --threads 8
      kingpair build --men 5 --memory 12GiB
      kingpair build --men 5 --pawnless
      kingpair build KQvKR --metric dtc --metric dtm
      kingpair build KRPvK --syzygy
      kingpair build KQvKR --json | jq .event
      kingpair build KRBvKBN --cluster local --workers 2
      kingpair build KRBvKR --cluster local --spread 2 --json
    """
    from kingpair.coordinator.plan.build_spec import BuildSpec

    flags = {"tables": tables, "threads": threads, "memory": memory, "level": level}
    flags |= {"scratch": scratch, "logs": logs, "cluster": cluster, "workers": workers}
    wanted = arguments.materials_of(materials or (), men, pawnless)
    metrics = tuple(dict.fromkeys(metric or [Metric.DTZ if syzygy else Metric.DTC]))
    spec = BuildSpec(
        wanted, metrics, compact=compact, verify=verify, force=force, spread=spread, syzygy=syzygy
    )
    _run(spec, arguments.settings(context, parts_from=parts_from, **flags), resume, as_json)


def _run(spec: "BuildSpec", settings: "Settings", resume: bool, as_json: bool) -> None:
    """Builds, and prints what happens; an interruption says what is kept."""
    from kingpair.api.answers.planning import sets_lines
    from kingpair.api.cli.watch import watching
    from kingpair.api.executors import Machines, connected_executors, guarded
    from kingpair.coordinator.execute.build import build as run
    from kingpair.coordinator.execute.request import BuildRequest

    request = BuildRequest(
        spec,
        settings.tables,
        settings.threads,
        settings.memory,
        resume,
        settings.workers or 1,
        scratch=settings.scratch,
        logs=settings.logs,
        parts_from=settings.parts_from,
    )
    for line in () if settings.cluster else sets_lines(spec, settings):
        typer.echo(line, err=True)
    machines = Machines(settings.cluster, settings.threads, settings.workers, settings.memory)
    kept = f"committed passes are kept in {printable(request.out)}"
    try:
        with (
            connected_executors(machines, _report_step) as open_executor,
            guarded(machines, f"{kept}; the same command resumes from there"),
            watching(typer.echo, request.spec, request.out, request.threads, as_json) as listen,
        ):
            run(request, listen, open_executor)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{kept}, the same command resumes from there") from None


def _report_step(step: str) -> None:
    """Prints on stderr: standard output is for the build."""
    typer.echo(f"{step} ...", err=True)


def estimate(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    pawnless: Pawnless = False,
    tables: Tables = None,
    threads: AtWork = None,
    memory: Memory = None,
    metric: OneMetric = Metric.DTC,
    cluster: ComparedCluster = None,
    as_json: AsJson = False,
) -> None:
    """Print what a build would take: memory, disk and time.

    For each material: slots of one side to move, bytes of a set, memory at the peak, disk, and time
    unless its table is there.  What does not fit in --memory, or in what this process may take,
    keeps sets on disk: then also the bytes that a pass reads and writes, and all passes.

    With --cluster: the number of nodes, the memory of the one that needs most, with its copies of
    others' partitions, and the amount that is lacking.

    \b
    Examples:
      kingpair estimate KRBvKBN
      kingpair estimate --men 5 --threads 8
      kingpair estimate KRBvKBN --memory 1GiB
      kingpair estimate KRBvKBN --cluster auto --json
    """
    settings = arguments.settings(context, tables=tables, threads=threads, memory=memory)
    wanted = arguments.materials_of(materials or (), men, pawnless)
    text, data = _estimated(wanted, metric, settings)
    if cluster is not None:
        every = list(chain(*closure(wanted)))
        text, fit = _rooms(cluster, settings.threads, every, metric)
        data |= {"cluster": fit}
    say(text, data, as_json)


def _estimated(
    wanted: "Sequence[Material]", metric: Metric, settings: "Settings"
) -> tuple[Iterator[str], dict[str, Any]]:
    """Returns an estimate as text and as JSON."""
    from kingpair.api.answers import estimates
    from kingpair.api.answers.node_counts import with_nodes
    from kingpair.api.answers.planning import estimated
    from kingpair.api.machine_pace import stored_pace
    from kingpair.coordinator.execute.room import memory_room

    room = memory_room(settings.memory).bytes
    found, pace = estimated(closure(wanted), metric, settings, room), stored_pace(settings.threads)
    text, data = estimates.text_of(found, pace, room), estimates.json_of(found, pace)
    return with_nodes(text, data, wanted, metric, pace, settings.threads)


def _rooms(
    cluster: str, threads: int, wanted: "Sequence[Material]", metric: Metric
) -> tuple[Iterator[str], Any]:
    """Returns how the materials fit a cluster, as text and as JSON."""
    from kingpair.api.answers import estimates
    from kingpair.api.executors import nodes_of
    from kingpair.coordinator.execute.room import rooms

    nodes = nodes_of(cluster, threads)
    fits = rooms(wanted, metric, nodes)
    return estimates.rooms_text(nodes, fits), estimates.rooms_json(nodes, fits)
