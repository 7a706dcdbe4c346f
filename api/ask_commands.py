"""The commands that ask finished tables: a position, a line, a table, all of a directory.

What these import is imported when they run: help and errors come at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from api import arguments
from api.options import AsJson, AtWork, Fen, Materials, OneMetric, Tables, opened, say
from workers.metric import Metric


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
    with opened(arguments.settings(context, tables=tables)) as tablebase:
        found = answers.probed(tablebase, position, metric)
    say(answers.probe_text(found), answers.probe_json(found), as_json)


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
    with opened(arguments.settings(context, tables=tables)) as tablebase:
        found = answers.line(tablebase, position, metric)
    if pgn and not as_json:
        typer.echo(answers.line_pgn(found), nl=False)
    else:
        say(answers.line_text(found), answers.line_json(found), as_json)
    if found.missing is not None:
        raise found.missing


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
    with opened(arguments.settings(context, tables=tables)) as tablebase:
        table = tablebase.table(wanted, metric)
        counts = statistics.in_order(statistics.labelled(table) if labelled else table.counts)
    if parquet is not None:
        statistics.write_parquet(parquet, statistics.arrow_table(wanted, table.metric, counts))
    text = figures.stats_text(wanted, counts, labelled)
    say(text, figures.stats_json(wanted, table.metric, counts), as_json)


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

    with opened(arguments.settings(context, tables=directory)) as tablebase:
        found = list(figures.listed(tablebase.paths, verify))
    say(figures.tables_text(found, verify), figures.tables_json(found), as_json)
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


def verify(
    context: typer.Context,
    materials: Materials = None,
    every: Annotated[bool, typer.Option("--all", help="All tables of the directory.")] = False,
    tables: Tables = None,
    threads: AtWork = None,
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
    with opened(settings) as tablebase:
        wanted = verify_command.chosen(tablebase, materials or (), every, metric)
        echo = _silent if as_json else typer.echo
        found = verify_command.verified(tablebase, wanted, settings.threads, echo)
    say((), verify_command.verified_json(found), as_json)  # as text it was said line by line
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


def _silent(line: str) -> None:
    """For what prints once, at the end."""


COMMANDS: tuple[Callable[..., None], ...] = (probe, line, stats, tables, verify)
