"""The commands that build: `kingpair build`, and what it would take.

What these import is imported when they run: help and errors come at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from api import arguments
from api.options import (
    AsJson,
    AtWork,
    Cluster,
    Level,
    Materials,
    Memory,
    Men,
    OneMetric,
    Workers,
    say,
)
from workers.metric import Metric
from workers.store import shown


def build(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", show_default="tables", help="Where the tables go."),
    ] = None,
    threads: AtWork = None,
    memory: Memory = None,
    resume: Annotated[
        bool, typer.Option(help="Go on from what an interrupted build has committed.")
    ] = True,
    force: Annotated[
        bool,
        typer.Option("--force", help="Build the materials named again, and what rests on them."),
    ] = False,
    metric: Annotated[
        list[Metric] | None,
        typer.Option(
            "--metric",
            show_default="dtc",
            help="Count moves to mate or conversion, or to mate; may be given twice.",
        ),
    ] = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Smaller tables, much slower to write.")
    ] = False,
    verify: Annotated[
        bool, typer.Option(help="Prove each table by forward moves once it is written.")
    ] = True,
    cluster: Cluster = None,
    workers: Workers = None,
    as_json: AsJson = False,
    level: Level = None,
) -> None:
    """Solve materials and write their tables.

    All that captures lead to is solved too, smaller materials first.

    What is in the directory already is not built again.  After an interruption, of whatever kind,
    the same command goes on from the last committed pass.

    \b
    Examples:
      kingpair build KQvKR
      kingpair build KRBvKR KBBvKN --out /data/tables --threads 8
      kingpair build --men 5 --memory 12GiB
      kingpair build KQvKR --metric dtc --metric dtm
      kingpair build KQvKR --json | jq .event
      kingpair build KRBvKBN --cluster local --workers 2
    """
    from api.hiring import hiring
    from api.watching import watching
    from coordinator.build import build as run
    from coordinator.request import Request

    flags = {"tables": out, "threads": threads, "memory": memory, "level": level}
    settings = arguments.settings(context, **flags, cluster=cluster, workers=workers)
    request = Request(
        arguments.materials_of(materials or (), men),
        settings.tables,
        tuple(dict.fromkeys(metric or [Metric.DTC])),
        threads=settings.threads,
        memory=settings.memory,
        resume=resume,
        force=force,
        compact=compact,
        verify=verify,
        workers=settings.workers or 1,
    )
    try:
        with (
            hiring(settings.cluster, request.threads, settings.workers) as hire,
            watching(typer.echo, settings.tables, as_json, request.metrics) as listen,
        ):
            run(request, listen, hire)
    except KeyboardInterrupt:
        kept = f"what was committed is kept in {shown(settings.tables)}"
        raise KeyboardInterrupt(f"{kept}, the same command goes on from there") from None


def estimate(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    threads: AtWork = None,
    metric: OneMetric = Metric.DTC,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Say too what this cluster can take: local, auto or HOST:PORT.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a build would take.

    For each material: slots of one side to move, bytes of a set of them, memory at the peak, disk.
    With --cluster: on how many of its nodes, the memory of the one that needs most, copies of
    partitions that others have included, and by how much it falls short.

    \b
    Examples:
      kingpair estimate KRBvKBN
      kingpair estimate --men 5 --threads 8
      kingpair estimate KRBvKBN --cluster auto
      kingpair estimate KRBvKBN --json
    """
    from api import figures
    from coordinator import plan

    settings = arguments.settings(context, threads=threads)
    waves = plan.waves(arguments.materials_of(materials or (), men))
    found = [plan.estimate(m, settings.threads, metric) for wave in waves for m in wave]
    text, data = figures.estimate_text(found), figures.estimate_json(found)
    if cluster is not None:
        from api.hiring import seen
        from coordinator.closure import rooms

        nodes = seen(cluster, settings.threads)
        fits = rooms([m for wave in waves for m in wave], metric, nodes)
        text = figures.rooms_text(nodes, fits)
        data |= {"cluster": figures.rooms_json(nodes, fits)}
    say(text, data, as_json)


COMMANDS: tuple[Callable[..., None], ...] = (build, estimate)
