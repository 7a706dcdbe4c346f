"""The commands about this machine: what it serves, how it is set up, if it is fit, how fast it is.

What these import is imported when they run: help and errors come at once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from api import arguments, token_command
from api.failures import ExitCode
from api.options import (
    AsJson,
    AtWork,
    Cache,
    Cluster,
    Host,
    Level,
    Memory,
    Port,
    Tables,
    Workers,
    say,
)


def serve(
    context: typer.Context,
    tables: Tables = None,
    host: Host = None,
    port: Port = None,
    threads: AtWork = None,
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
    say(config_command.config_text(found), config_command.config_json(found), as_json)


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
    say(doctor_text(found), doctor_json(found), as_json)
    if any(finding.advice is not None for finding in found):
        raise typer.Exit(ExitCode.TO_DO)


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


COMMANDS: tuple[Callable[..., None], ...] = (serve, config, doctor, bench)
