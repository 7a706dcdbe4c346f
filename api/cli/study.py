"""The commands for studying an endgame: report, longest, zugzwangs, sample.

Each reads a whole table.  Each imports what it needs when it runs, so that help and errors come at
once.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import (
    AsJson,
    AtWork,
    OneMetric,
    Tables,
    opened,
    say,
)
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import CLOCK_LIMIT, Metric
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Side

if TYPE_CHECKING:
    from kingpair.workers.sets.threads import Threads
    from kingpair.workers.study.position_filter import DepthRange, PositionFilter
    from kingpair.workers.table.format import Table

Name = Annotated[str, typer.Argument(metavar="MATERIAL", help="Such as KQvKR.")]
List = Annotated[
    int, typer.Option("--list", min=0, metavar="N", help="Show so many positions of each sort.")
]
All = Annotated[bool, typer.Option("--all", help="Show all positions.")]
Wdl = Annotated[
    Outcome | None, typer.Option(help="Only wins, draws or losses of the side to move.")
]
DEPTH = "Only so many moves: 20, 20: for 20 or more, :20, 20:30."
Depth = Annotated[str | None, typer.Option(metavar="A:B", help=DEPTH)]
Cursed = Annotated[
    bool, typer.Option("--cursed", help="Only what the 50-move rule draws; takes --metric dtz.")
]
ToMove = Annotated[
    str | None,
    typer.Option(metavar="white|black", help="Only this side to move; White is named first."),
]


def zugzwangs(
    context: typer.Context,
    material: Name,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Only '=/1-0', '0-1/=' or '0-1/1-0'."),
    ] = None,
    show: List = 10,
    everything: All = False,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Find positions in which neither side wants to move.

    These are mutual zugzwangs.  A kind is named by the results with White and with Black to move.
    White is the side that the material names first.  Symmetric positions count once.

    \b
    Examples:
      kingpair zugzwangs KRBvKR
      kingpair zugzwangs KBNvKN --kind =/1-0 --list 20
      kingpair zugzwangs KBNvKN --all --json
    """
    from kingpair.api.answers import studies as findings
    from kingpair.workers.study.zugzwang import ZugzwangResult, census

    kinds = tuple(ZugzwangResult) if kind is None else (_choice(ZugzwangResult, kind, "--kind"),)
    with studied(context, material, tables, metric, threads) as (table, pool):
        found = census(table, pool, _keep(show, everything), kinds)
    text = findings.zugzwangs_text(table.material, found)
    say(text, findings.zugzwangs_json(table.material, table.metric, found), as_json)


def longest(
    context: typer.Context,
    material: Name,
    show: List = 10,
    everything: All = False,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Show the positions that take longest to win, and to lose.

    For White and for Black to move.  Symmetric positions are listed once.

    \b
    Examples:
      kingpair longest KQvKR
      kingpair longest KBBvKN --all --json
    """
    from kingpair.api.answers import studies as findings
    from kingpair.workers.study.longest import collect, longest_of

    with studied(context, material, tables, metric, threads) as (table, pool):
        found = collect(table, pool, longest_of(table.counts), _keep(show, everything))
    text = findings.longest_text(table.material, table.metric, found)
    say(text, findings.longest_json(table.material, table.metric, found), as_json)


def report(
    context: typer.Context,
    material: Name,
    show: List = 10,
    everything: All = False,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Report on an endgame: results, depths, longest, zugzwangs.

    Prints how many positions White wins, Black wins and are drawn; the longest wins; mutual
    zugzwangs; counts by number of moves; and the time of each pass when the table was built.

    \b
    Examples:
      kingpair report KQvKR
      kingpair report KRBvKR --all --json > KRBvKR.json
    """
    from kingpair.api.answers import studies as findings
    from kingpair.workers.study.report import report_of

    with studied(context, material, tables, metric, threads) as (table, pool):
        found = report_of(table, pool, _keep(show, everything))
    say(findings.report_text(found), findings.report_json(found), as_json)


def sample(
    context: typer.Context,
    material: Name,
    number: Annotated[
        int, typer.Option("--n", min=0, metavar="N", help="How many positions.")
    ] = 10,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Another seed draws other positions.")
    ] = 0,
    wdl: Wdl = None,
    depth: Depth = None,
    cursed: Cursed = False,
    to_move: ToMove = None,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: print JSON, a line each.")
    ] = False,
) -> None:
    """Draw positions at random, each equally likely, none twice.

    No two of them are symmetric.  The same seed draws the same positions.

    \b
    Examples:
      kingpair sample KQvKR --wdl win --depth 20: --n 1000 --seed 7
      kingpair sample KBNvK --to-move black --json
    """
    from kingpair.api.answers import studies as findings
    from kingpair.workers.study.sample import sample as draw

    selection = selection_of(wdl, cursed_depth(metric, depth) if cursed else depth, to_move)
    with studied(context, material, tables, metric, threads) as (table, pool):
        for entry in draw(table, pool, selection, number, seed):
            if as_json:
                typer.echo(json.dumps(findings.entry_json(table.material, entry)))
            else:
                typer.echo(findings.entry_text(table.material, entry))


# ---- what was typed ----


def _choice(kinds: Any, text: str, option: str) -> Any:
    try:
        return kinds(text)
    except ValueError:
        message = f"{text!r} is none of {', '.join(kinds)}"
        raise typer.BadParameter(message, param_hint=option) from None


def _keep(show: int, everything: bool) -> int | None:
    return None if everything else show


def selection_of(wdl: Outcome | None, depth: str | None, to_move: str | None) -> "PositionFilter":
    from kingpair.workers.study.position_filter import PositionFilter

    sides: dict[str | None, tuple[Side, ...]] = {
        None: SIDES,
        "white": (STRONGER,),
        "black": (WEAKER,),
    }
    if to_move not in sides:
        raise typer.BadParameter(f"{to_move!r} is none of white, black", param_hint="--to-move")
    outcomes = tuple(Outcome) if wdl is None else (wdl,)
    return PositionFilter(sides[to_move], outcomes, None if depth is None else _depths(depth))


def cursed_depth(metric: Metric, depth: str | None) -> str:
    """The depths of wins and losses that the 50-move rule draws."""
    if not metric.exits_carry_class:
        message = f"a table of {metric} does not know the 50-move rule; add --metric {Metric.DTZ}"
        raise typer.BadParameter(message, param_hint="--cursed")
    if depth is not None:
        message = "these are the depths beyond 100 plies; leave out one of the two"
        raise typer.BadParameter(message, param_hint="--cursed")
    return f"{CLOCK_LIMIT + 1}:"


def _depths(text: str) -> "DepthRange":
    """`20`, `20:`, `:20` or `20:30`."""
    from kingpair.workers.study.position_filter import DepthRange
    from kingpair.workers.table.value import MAX_MOVES

    first, colon, last = text.partition(":")
    if not re.fullmatch("[0-9]{1,4}:?|[0-9]{0,4}:[0-9]{1,4}", text):
        message = f"{text!r} is no range of moves; use one such as 20, 20: or 20:30"
        raise typer.BadParameter(message, param_hint="--depth")
    low = int(first or 0)
    return DepthRange(low, int(last or MAX_MOVES) if colon else low)


@contextmanager
def studied(
    context: typer.Context,
    name: str,
    tables: Path | None,
    metric: Metric,
    threads: int | None,
) -> "Iterator[tuple[Table, Threads]]":
    """The table of a material, and threads to read it with."""
    from kingpair.workers.sets.threads import Threads

    material = Material.parse(name)
    settings = arguments.settings(context, tables=tables, threads=threads)
    with opened(settings) as tablebase, Threads(settings.threads) as pool:
        yield tablebase.table(material, metric), pool
