"""The commands about this machine: serve, config, doctor, bench.

Each imports what it needs when it runs, so that help and errors come at once.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli import token as token_command
from kingpair.api.cli.commands import Level
from kingpair.api.cli.failures import ExitCode
from kingpair.api.cli.options import (
    AsJson,
    AtWork,
    Cache,
    Cluster,
    Host,
    InProcess,
    Logs,
    Memory,
    PartsFrom,
    Port,
    Scratch,
    Syzygy,
    Tables,
    Workers,
    say,
)

if TYPE_CHECKING:
    from kingpair.api.settings import Settings

Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="NAME", help="A name that clients use for this machine."),
]
Verbose = Annotated[bool | None, typer.Option("--verbose", help="Log every request.")]


def serve(
    context: typer.Context,
    tables: Tables = None,
    syzygy: Syzygy = None,
    host: Host = None,
    port: Port = None,
    threads: AtWork = None,
    memory: Memory = None,
    scratch: Scratch = None,
    logs: Logs = None,
    parts_from: PartsFrom = None,
    cache: Cache = None,
    cluster: Cluster = None,
    workers: Workers = None,
    in_process: InProcess = False,
    state: token_command.State = None,
    names: Names = None,
    verbose: Verbose = None,
) -> None:
    """Start the service: a page for builds and tables, and HTTP.

    Builds run with Ray, on a cluster that the service starts and that only this machine can reach;
    --cluster names another one.  After a restart they resume.  The service answers as
    Lichess's tablebase server does, too: a client of that needs only another host.  Tables that are
    added to the directory or removed from it are noticed.  The log goes to stderr as JSON.

    \b
    Examples:
      kingpair serve
      kingpair serve --tables /data/tables --port 8080
      kingpair serve --host 0.0.0.0 --name tables.lab
      kingpair serve --cluster auto --workers 8
    """
    if in_process and cluster is not None:
        raise typer.BadParameter("use one of them", param_hint="--in-process, --cluster")
    flags = {"tables": tables, "host": host, "port": port, "cache": cache, "verbose": verbose}
    flags |= {"threads": threads, "memory": memory, "cluster": cluster, "workers": workers}
    flags |= {"syzygy": syzygy, "scratch": scratch, "logs": logs, "parts_from": parts_from}
    found = arguments.settings(context, **flags, state=state, names=names or None)
    _serve(found, in_process)


def _serve(given: "Settings", in_process: bool) -> None:
    from kingpair.api.cli.first_steps import first_steps
    from kingpair.api.executors import OWN
    from kingpair.api.http.serve import serve as run

    found = replace(given, cluster=None if in_process else given.cluster or OWN)
    run(found, first_steps(found, typer.echo))


def config(
    context: typer.Context,
    tables: Tables = None,
    threads: AtWork = None,
    memory: Memory = None,
    cache: Cache = None,
    host: Host = None,
    port: Port = None,
    level: Level = None,
    as_json: AsJson = False,
) -> None:
    """Print each setting, and where it was set.

    An option overrides the environment (such as KINGPAIR_PORT), which overrides the file, which
    overrides the default.  The file is the one that --config FILE or KINGPAIR_CONFIG names;
    otherwise ~/.config/kingpair/kingpair.toml or, if there is none, /etc/kingpair/kingpair.toml.

    \b
    Examples:
      kingpair config
      kingpair --config kingpair.toml config --port 9000
      KINGPAIR_THREADS=4 kingpair config --json
    """
    from kingpair.api.cli import config as config_command

    flags = {"tables": tables, "threads": threads, "memory": memory, "cache": cache}
    found = arguments.in_force(context, **flags, host=host, port=port, level=level)
    say(config_command.config_text(found), config_command.config_json(found), as_json)


def doctor(
    context: typer.Context,
    tables: Tables = None,
    host: Host = None,
    port: Port = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="Examine a cluster's nodes too: auto, or HOST:PORT."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Examine this machine, and say what to change.

    Examines kernels, cores, memory, disk, clocks, shared memory, Ray and ports.  The exit code is 1
    if something should be changed.

    \b
    Examples:
      kingpair doctor
      kingpair doctor --tables /data/tables --json
      kingpair doctor --cluster auto
    """
    from kingpair.api.doctor.cluster import examine_cluster
    from kingpair.api.doctor.findings import doctor_json, doctor_text
    from kingpair.api.doctor.machine import examine

    settings = arguments.settings(context, tables=tables, host=host, port=port)
    found = list(examine(settings))
    if cluster is not None:
        found += examine_cluster(settings, cluster)
    say(doctor_text(found), doctor_json(found), as_json)
    if any(finding.advice is not None for finding in found):
        raise typer.Exit(ExitCode.TO_DO)


Quick = Annotated[bool, typer.Option("--quick", help="Small materials only.")]
Full = Annotated[
    bool, typer.Option("--full", help="Add what takes minutes: all of five men, one of six.")
]
Signature = Annotated[
    bool, typer.Option("--signature", help="Only the signature, as in its golden file.")
]
Service = Annotated[
    bool, typer.Option("--service", help="Only the service: probes, events, watchers.")
]
Minutes = Annotated[
    float, typer.Option(min=0, metavar="N", help="With --service: how long 50 watchers stay.")
]
ServedTables = Annotated[
    Path | None,
    typer.Option("--tables", metavar="DIR", help="With --service: only what these reach."),
]
Constants = Annotated[
    bool,
    typer.Option("--constants", help="Only the constants of kingpair model; --full: of six men."),
]
WithPawns = Annotated[
    bool, typer.Option("--pawns", help="With --signature: that of the tables with pawns.")
]

Held = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="With --signature: sets in memory; the others are kept on disk."
    ),
]


WalkOf = Annotated[
    str | None,
    typer.Option(
        metavar="MATERIAL",
        help="Passes of a part of one walk with sets in files, beside what the model has for them.",
    ),
]
Partitions = Annotated[
    int, typer.Option(min=1, max=58, help="With --walk: so many partitions of it.")
]


def bench(
    context: typer.Context,
    quick: Quick = False,
    full: Full = False,
    signature: Signature = False,
    pawns: WithPawns = False,
    held: Held = None,
    constants: Constants = False,
    service: Service = False,
    minutes: Minutes = 0.5,
    tables: ServedTables = None,
    walk: WalkOf = None,
    partitions: Partitions = 58,
    scratch: Scratch = None,
    as_json: AsJson = False,
    level: Level = None,
) -> None:
    """Measure this machine.

    Measures the kernels, then whole builds, then prints the signature of the tables.

    \b
    Examples:
      kingpair bench --signature --pawns
      kingpair bench --service --tables /data/tables
      kingpair bench --walk KRBvKBN --scratch /data/scratch
    """
    from kingpair.api.bench import report

    arguments.settings(context, level=level)
    if signature:
        _bench_signature(as_json, pawns, None if held is None else arguments.size_of(held))
    elif walk is not None:
        _bench_walk(walk, partitions, scratch or Path(), as_json)
    elif constants:
        say(*report.constants_report(full), as_json)
    elif service:
        _bench_service(minutes, tables, as_json)
    else:
        say(report.text(quick, full), report.measured(quick, full) if as_json else None, as_json)


def _bench_service(minutes: float, tables: Path | None, as_json: bool) -> None:
    """Prints each figure of a service as soon as it is measured."""
    from kingpair.api.bench import report

    figures = report.service_figures(minutes, tables)
    listed = [report.figure_json(figure) for figure in figures] if as_json else None
    say(map(report.figure_text, figures), listed, as_json)


def _bench_walk(name: str, partitions: int, scratch: Path, as_json: bool) -> None:
    """Prints the passes of a part of a walk whose sets lie in a directory, here if none is said."""
    from kingpair.api.bench.walk_pass import json_of, passes_of_part, text_of
    from kingpair.workers.errors import BadMaterial
    from kingpair.workers.game.chess.material import SOLVED_MEN_MAX, Material
    from kingpair.workers.game.game import CHESS
    from kingpair.workers.limits import usable_cores

    material = Material.parse(name, SOLVED_MEN_MAX)
    if material.has_pawns or material.game is not CHESS:
        raise BadMaterial(f"{material}: only chess without pawns is solved walk by walk")
    passes = list(passes_of_part(material, partitions, scratch, usable_cores()))
    say(text_of(passes), [json_of(one) for one in passes], as_json)


def _bench_signature(as_json: bool, pawns: bool, held: int | None) -> None:
    """Prints the signature alone on stdout, and on stderr the versions that computed it."""
    from kingpair.api.bench.report import signature_report
    from kingpair.api.version import versions

    say(*signature_report(pawns, held), as_json)
    if not as_json:
        typer.echo(versions(), err=True)
