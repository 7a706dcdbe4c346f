"""The commands that ask finished tables: probe, line, stats, tables, verify.

Each imports what it needs when it runs, so that help and errors come at once.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import (
    AsJson,
    AtWork,
    Fen,
    Materials,
    OneMetric,
    Syzygy,
    Tables,
    opened,
    say,
)
from kingpair.workers.game.metric import Metric

if TYPE_CHECKING:
    from kingpair.workers.ask.probe import Tablebase
    from kingpair.workers.game.chess.position import Position


def probe(
    context: typer.Context,
    fen: Fen,
    tables: Tables = None,
    syzygy: Syzygy = None,
    metric: OneMetric = Metric.DTC,
    as_json: AsJson = False,
) -> None:
    """Show the result of a position, and of each move.

    The moves come best first, with their results and what they convert to.  Syzygy files, of up to
    seven men, answer where there is no table.

    \b
    Examples:
      kingpair probe "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3_w --tables /data/tables
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w --json
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w --syzygy /data/syzygy
    """
    from kingpair.workers.game.rules import parse_fen

    position = parse_fen(arguments.fen_of(fen))
    with opened(arguments.settings(context, tables=tables, syzygy=syzygy)) as tablebase:
        if as_json:
            from kingpair.api.answers import positions

            say((), positions.probed_alone(tablebase, position, metric), as_json)
        else:
            say(_probe_text(tablebase, position, metric), None, as_json)


def _probe_text(tablebase: "Tablebase", position: "Position", metric: Metric) -> Iterator[str]:
    from kingpair.api.answers import position_text, syzygy

    if (by_file := syzygy.probed_by_file(tablebase, position)) is not None:
        return syzygy.probe_text(by_file)
    with syzygy.missing_files_named(tablebase, position):
        return position_text.probe_text(position_text.probed(tablebase, position, metric))


def line(
    context: typer.Context,
    fen: Fen,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    pgn: Annotated[bool, typer.Option("--pgn", help="Print only a PGN.")] = False,
    until_claim: Annotated[
        bool, typer.Option("--until-claim", help="End where a draw can be claimed: at 50 moves.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the best moves of both sides to mate.

    A conversion, which is a capture into a smaller table, begins a new paragraph.

    \b
    Examples:
      kingpair line "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
      kingpair line 8/8/8/8/Q7/5k2/8/K3r3 w --pgn > line.pgn
      kingpair line "8/8/8/8/Q7/5k2/8/K3r3 w - - 70 90" --until-claim
    """
    from kingpair.api.answers import position_text
    from kingpair.workers.game.rules import parse_fen

    position = parse_fen(arguments.fen_of(fen))
    with opened(arguments.settings(context, tables=tables)) as tablebase:
        found = position_text.line(tablebase, position, metric, until_claim)
    if as_json:
        from kingpair.api.answers import positions

        say((), positions.line_json(found), as_json)
    elif pgn:
        typer.echo(position_text.line_pgn(found), nl=False)
    else:
        say(position_text.line_text(found), None, as_json)
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
        Path | None, typer.Option(metavar="FILE", help="Also write the counts there, as Parquet.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the positions of a table.

    Counts are by side to move, result and moves.  The longest wins follow, with their positions.

    \b
    Examples:
      kingpair stats KQvKR
      kingpair stats KBBvKN --labelled --json
      kingpair stats KQvKR --parquet KQvKR.parquet
    """
    from kingpair.api.answers import figures
    from kingpair.workers.game.chess.material import Material
    from kingpair.workers.table import statistics

    wanted = Material.parse(material)
    with opened(arguments.settings(context, tables=tables)) as tablebase:
        table = tablebase.table(wanted, metric)
        counts = statistics.sorted_counts(
            statistics.labelled_counts(table) if labelled else table.counts
        )
    if parquet is not None:
        statistics.write_parquet(parquet, statistics.counts_table(wanted, table.metric, counts))
    text = figures.stats_text(wanted, metric, counts, labelled)
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
    from kingpair.api.answers import figures

    with opened(arguments.settings(context, tables=directory)) as tablebase:
        found = list(figures.listed(tablebase.paths, verify))
        (at,) = tablebase.directories
    text = figures.tables_text(found, verify) if found else _no_tables(at)
    say(text, figures.tables_json(found), as_json)
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


Every = Annotated[bool, typer.Option("--all", help="Every table of the directory.")]
VerifiedMetrics = Annotated[
    list[Metric] | None,
    typer.Option(
        "--metric",
        show_default="dtc; all with --all",
        help="Only these tables; may be given twice.",
    ),
]
ComparedSyzygy = Annotated[
    Path | None,
    typer.Option("--syzygy", metavar="DIR", help="Compare these Syzygy files with tables."),
]


def verify(
    context: typer.Context,
    materials: Materials = None,
    every: Every = False,
    tables: Tables = None,
    threads: AtWork = None,
    metric: VerifiedMetrics = None,
    syzygy: ComparedSyzygy = None,
    as_json: AsJson = False,
) -> None:
    """Prove finished tables by playing every move of each position.

    Checks every block against its digest, every value against those one move later, and the counts
    against the values.  A wrong value is printed with its FEN; the exit code is then 4.

    With --syzygy, compares each value of the Syzygy files of a directory, of all or of the named
    materials, with our tables of the metric dtz.  Prints the first position that differs.

    \b
    Examples:
      kingpair verify KQvKR
      kingpair verify --all --tables /data/tables --threads 8
      kingpair verify KBBvKN --json | jq .[].sound
      kingpair verify KBBvKN --syzygy /data/syzygy
    """
    from kingpair.api.cli import verify as verify_command
    from kingpair.api.cli import verify_syzygy

    settings = arguments.settings(context, tables=tables, threads=threads)
    with opened(settings) as tablebase:
        if syzygy is not None:
            verify_syzygy.verify(tablebase, materials or (), syzygy, settings.threads, as_json)
            return
        wanted = verify_command.chosen(tablebase, materials or (), every, metric)
        echo = _silent if as_json else typer.echo
        found = verify_command.verified(tablebase, wanted, settings.threads, echo)
    say((), verify_command.verified_json(found), as_json)  # as text it was said line by line
    for entry in found:
        if entry.problem is not None:
            raise entry.problem


def _no_tables(directory: Path) -> Iterator[str]:
    from kingpair.workers.table.directory import build_command

    yield f"no tables yet; {build_command('KQvKR', directory)} makes some"


def _silent(line: str) -> None:
    """Discards a line: JSON is printed once, at the end."""
