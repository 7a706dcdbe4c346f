"""The command `kingpair`: one function for each thing that can be asked, and nothing else.

What these import is imported when they run: help and errors come at once.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api import arguments, modelling, study, token_command
from api.failures import EXPLAINED, Commands, ExitCode
from api.settings import Settings, Size
from workers.metric import Metric
from workers.store import shown

if TYPE_CHECKING:
    from workers.probe import Tablebase

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXPLAINED,
)

Materials = Annotated[
    list[str] | None,
    typer.Argument(metavar="MATERIAL", help="Such as KQvKR; any order of the men will do."),
]
Men = Annotated[
    int | None,
    typer.Option(
        min=3,
        max=6,
        metavar="N",
        help="All pawnless materials of up to so many men, kings included.",
    ),
]
Fen = Annotated[
    list[str],
    typer.Argument(
        metavar="FEN", help="The position; quotes are not needed, _ may stand for a space."
    ),
]
Tables = Annotated[
    Path | None,
    typer.Option("--tables", metavar="DIR", show_default="tables", help="Where the tables are."),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=1024, metavar="N", show_default="one a core", help="At work at once."),
]
Memory = Annotated[
    Size | None,
    typer.Option(
        parser=arguments.size_of,
        metavar="SIZE",
        help="What may be held at most, such as 12GiB; checked first.",
    ),
]
Cache = Annotated[
    Size | None,
    typer.Option(
        parser=arguments.size_of,
        metavar="SIZE",
        show_default="256MiB",
        help="Decoded blocks kept in memory.",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        metavar="HOST",
        show_default="127.0.0.1",
        help="Where to listen; beyond this machine with tokens.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        min=0, max=65535, metavar="PORT", show_default="8000", help="0 for any that is free."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Build with Ray: local, auto (the cluster this machine is in) or HOST:PORT.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", show_default="one a node", help="Workers of the cluster at most."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: print JSON.")]
Level = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="Instruction set of the kernels, v2, v3 or v4, if not the best of this machine.",
    ),
]
OneMetric = Annotated[
    Metric, typer.Option("--metric", help="Count moves to mate or conversion, or to mate.")
]


def _version(wanted: bool) -> None:
    if wanted:
        from api.version import versions

        typer.echo(versions())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def kingpair(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings; kingpair config says what they are."),
    ] = None,
    level: Level = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say what this is.")
    ] = False,
) -> None:
    """Solve chess endgames without pawns exactly, and ask the tables.

    Options that have a default can be set for good, in a file or the environment: see config.

    \b
    Examples:
      kingpair build KQvKR
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair line 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair stats KQvKR
      kingpair serve
    """
    context.obj = arguments.Given(config, level)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def build(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", show_default="tables", help="Where the tables go."),
    ] = None,
    threads: Threads = None,
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
    from coordinator.build import Request, check
    from coordinator.build import build as run

    flags = {"tables": out, "threads": threads, "memory": memory, "level": level}
    settings = arguments.settings(context, **flags, cluster=cluster, workers=workers)
    request = Request(
        arguments.materials_of(materials or (), men),
        settings.tables,
        threads=settings.threads,
        memory=settings.memory,
        resume=resume,
        force=force,
        compact=compact,
        verify=verify,
        workers=settings.workers or 1,
    )
    metrics = list(dict.fromkeys(metric or [Metric.DTC]))
    requests = [replace(request, metric=each) for each in metrics]
    try:
        with hiring(settings.cluster, request.threads, settings.workers) as hire:
            if len(requests) > 1 and hire is None:
                check(requests)
            for each in requests:
                of_which = each.metric if len(requests) > 1 else None
                with watching(typer.echo, settings.tables, as_json, of_which) as listen:
                    run(each, listen, hire)
    except KeyboardInterrupt:
        kept = f"what was committed is kept in {shown(settings.tables)}"
        raise KeyboardInterrupt(f"{kept}, the same command goes on from there") from None


@app.command()
def estimate(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    threads: Threads = None,
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

        nodes = seen(cluster, settings.threads, metric)
        fits = rooms([m for wave in waves for m in wave], metric, nodes)
        text = figures.rooms_text(nodes, fits)
        data |= {"cluster": figures.rooms_json(nodes, fits)}
    _say(text, data, as_json)


@app.command()
def probe(
    context: typer.Context,
    fen: Fen,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    as_json: AsJson = False,
) -> None:
    """Say how a position ends, and each move.

    The moves come best first, with their results and what they convert to.

    \b
    Examples:
      kingpair probe "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3_w --tables /data/tables
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w --json
    """
    from api import answers
    from workers.fen import parse_fen

    position = parse_fen(arguments.fen_of(fen))
    with _opened(arguments.settings(context, tables=tables)) as tablebase:
        found = answers.probed(tablebase, position, metric)
    _say(answers.probe_text(found), answers.probe_json(found), as_json)


@app.command()
def line(
    context: typer.Context,
    fen: Fen,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    pgn: Annotated[bool, typer.Option("--pgn", help="Print the PGN alone.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the best moves of both sides up to mate.

    Each conversion, a capture into a smaller table, begins a new paragraph.

    \b
    Examples:
      kingpair line "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
      kingpair line 8/8/8/8/Q7/5k2/8/K3r3 w --pgn > line.pgn
    """
    from api import answers
    from workers.fen import parse_fen

    position = parse_fen(arguments.fen_of(fen))
    with _opened(arguments.settings(context, tables=tables)) as tablebase:
        found = answers.line(tablebase, position, metric)
    if pgn and not as_json:
        typer.echo(answers.line_pgn(found), nl=False)
    else:
        _say(answers.line_text(found), answers.line_json(found), as_json)
    if found.missing is not None:
        raise found.missing


@app.command()
def stats(
    context: typer.Context,
    material: Annotated[str, typer.Argument(metavar="MATERIAL", help="Such as KQvKR.")],
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="Count like men as different.")
    ] = False,
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the counts there, as Parquet.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the positions of a table.

    By side to move, result and moves; and the longest wins, with their positions.

    \b
    Examples:
      kingpair stats KQvKR
      kingpair stats KBBvKN --labelled --json
      kingpair stats KQvKR --parquet KQvKR.parquet
    """
    from api import figures
    from workers import statistics
    from workers.material import Material

    wanted = Material.parse(material)
    with _opened(arguments.settings(context, tables=tables)) as tablebase:
        table = tablebase.table(wanted, metric)
        counts = statistics.in_order(statistics.labelled(table) if labelled else table.counts)
    if parquet is not None:
        statistics.write_parquet(parquet, statistics.arrow_table(wanted, table.metric, counts))
    text = figures.stats_text(wanted, counts, labelled)
    _say(text, figures.stats_json(wanted, table.metric, counts), as_json)


@app.command()
def tables(
    context: typer.Context,
    directory: Tables = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every block and check its digest.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the tables of a directory.

    \b
    Examples:
      kingpair tables
      kingpair tables --tables /data/tables --verify
    """
    from api import figures

    with _opened(arguments.settings(context, tables=directory)) as tablebase:
        found = list(figures.listed(tablebase.paths, verify))
    _say(figures.tables_text(found, verify), figures.tables_json(found), as_json)
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


@app.command()
def verify(
    context: typer.Context,
    materials: Materials = None,
    every: Annotated[bool, typer.Option("--all", help="All tables of the directory.")] = False,
    tables: Tables = None,
    threads: Threads = None,
    metric: Annotated[
        list[Metric] | None,
        typer.Option(
            "--metric",
            show_default="dtc, or whatever --all finds",
            help="Which tables of a material; may be given twice.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove finished tables, by playing every move of every position.

    Every block is checked against its digest, every value against those one move on, and the
    counts against the values.  What is wrong is named with its FEN, and ends with exit code 4.

    \b
    Examples:
      kingpair verify KQvKR
      kingpair verify --all --tables /data/tables --threads 8
      kingpair verify KBBvKN --json | jq .[].sound
    """
    from api import verify_command

    settings = arguments.settings(context, tables=tables, threads=threads)
    with _opened(settings) as tablebase:
        wanted = verify_command.chosen(tablebase, materials or (), every, metric)
        echo = _silent if as_json else typer.echo
        found = verify_command.verified(tablebase, wanted, settings.threads, echo)
    if as_json:
        _say((), verify_command.verified_json(found), as_json)
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


@app.command()
def serve(
    context: typer.Context,
    tables: Tables = None,
    host: Host = None,
    port: Port = None,
    threads: Threads = None,
    memory: Memory = None,
    cache: Cache = None,
    cluster: Cluster = None,
    workers: Workers = None,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Build without Ray, whatever the settings say.")
    ] = False,
    state: token_command.State = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="A name that clients call this machine by."),
    ] = None,
    verbose: Annotated[bool | None, typer.Option("--verbose", help="Log every request.")] = None,
) -> None:
    """Answer over HTTP, with a page to build on and to explore the tables.

    Builds run in a process of their own, and go on where they were when it is started again.
    Speaks Lichess's interface too: a client of it needs only another host.  Tables that are added
    to the directory or removed from it are noticed.  The log, JSON, goes to stderr.

    \b
    Examples:
      kingpair serve
      kingpair serve --tables /data/tables --port 8080
      kingpair serve --host 0.0.0.0 --name tables.lab
      kingpair serve --cluster auto --workers 8
    """
    from api.service.serve import serve as run

    if in_process and cluster is not None:
        raise typer.BadParameter("one or the other", param_hint="--in-process, --cluster")
    flags = {"tables": tables, "host": host, "port": port, "cache": cache, "verbose": verbose}
    flags |= {"threads": threads, "memory": memory, "cluster": cluster, "workers": workers}
    found = arguments.settings(context, **flags, state=state, names=names or None)
    run(replace(found, cluster=None) if in_process else found, typer.echo)


@app.command()
def config(
    context: typer.Context,
    tables: Tables = None,
    threads: Threads = None,
    memory: Memory = None,
    cache: Cache = None,
    host: Host = None,
    port: Port = None,
    level: Level = None,
    as_json: AsJson = False,
) -> None:
    """Say which settings are in force, and where each was said.

    A flag goes before the environment (KINGPAIR_PORT, say), that before the file, that before the
    default.  The file is the one that --config FILE or KINGPAIR_CONFIG names, or else the first
    there is of ~/.config/kingpair/kingpair.toml and /etc/kingpair/kingpair.toml.

    \b
    Examples:
      kingpair config
      kingpair --config kingpair.toml config --port 9000
      KINGPAIR_THREADS=4 kingpair config --json
    """
    from api import config_command

    flags = {"tables": tables, "threads": threads, "memory": memory, "cache": cache}
    found = arguments.in_force(context, **flags, host=host, port=port, level=level)
    _say(config_command.config_text(found), config_command.config_json(found), as_json)


@app.command()
def doctor(
    context: typer.Context,
    tables: Tables = None,
    host: Host = None,
    port: Port = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE", help="And a cluster's nodes: auto, or HOST:PORT of its head."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Examine this machine, and say what to do.

    Kernels, cores, memory, disk, clocks, shared memory, Ray, ports.  The exit code is 1 if there is
    something to do.

    \b
    Examples:
      kingpair doctor
      kingpair doctor --tables /data/tables --json
      kingpair doctor --cluster auto
    """
    from api.doctor import doctor_json, doctor_text
    from api.doctor_cluster import examine_cluster
    from api.doctor_machine import examine

    settings = arguments.settings(context, tables=tables, host=host, port=port)
    found = list(examine(settings))
    if cluster is not None:
        found += examine_cluster(settings, cluster)
    _say(doctor_text(found), doctor_json(found), as_json)
    if any(finding.advice is not None for finding in found):
        raise typer.Exit(ExitCode.TO_DO)


@app.command()
def bench(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Small materials alone.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Also what takes minutes: all of five men, one of six.")
    ] = False,
    signature: Annotated[
        bool, typer.Option("--signature", help="The signature alone, as its golden file has it.")
    ] = False,
    constants: Annotated[
        bool,
        typer.Option("--constants", help="What kingpair model computes with; --full: of six men."),
    ] = False,
    service: Annotated[
        bool, typer.Option("--service", help="The service alone: probes, events, watchers.")
    ] = False,
    minutes: Annotated[
        float, typer.Option(min=0, metavar="N", help="For how long 50 watchers stay.")
    ] = 0.5,
    as_json: AsJson = False,
    level: Level = None,
) -> None:
    """Measure this machine.

    The kernels, then whole builds, then the signature of the tables.

    \b
    Examples:
      kingpair bench --quick
      kingpair bench --level v3 --json
      kingpair bench --signature
      kingpair bench --constants --full --json > here.json
      kingpair bench --service --minutes 10
    """
    from api.bench import run

    arguments.settings(context, level=level)
    run(
        json=as_json,
        quick=quick,
        full=full,
        signature=signature,
        constants=constants,
        service=minutes if service else None,
    )


for command in (*modelling.COMMANDS, *study.COMMANDS):
    app.command()(command)
app.add_typer(token_command.app, name="token")


def _opened(settings: Settings) -> "Tablebase":
    from workers.probe import open_tablebase

    return open_tablebase(settings.tables, cache_bytes=settings.cache)


def _silent(line: str) -> None:
    """For what prints once, at the end."""


def _say(text: Iterable[str], data: Any, as_json: bool) -> None:
    for line in [json.dumps(data, indent=2)] if as_json else text:
        typer.echo(line)


def main() -> None:
    app(prog_name="kingpair")


if __name__ == "__main__":
    main()
