"""Commands for those who study an endgame, each reading a whole table: its mutual zugzwangs, its
longest lines, samples and exports of it, and the report that has it all.

What these import is imported when they run: help and errors come at once.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api import arguments
from api.options import AsJson, AtWork, OneMetric, Tables, opened, say
from workers.material import STRONGER, WEAKER, Material
from workers.metric import Metric
from workers.outcome import Outcome

if TYPE_CHECKING:
    from workers.selection import Depths, Selection
    from workers.table import Table
    from workers.threads import Threads

Name = Annotated[str, typer.Argument(metavar="MATERIAL", help="Such as KQvKR.")]
List = Annotated[
    int, typer.Option("--list", min=0, metavar="N", help="Show so many positions of each sort.")
]
All = Annotated[bool, typer.Option("--all", help="Show all positions.")]
Wdl = Annotated[
    Outcome | None, typer.Option(help="Only wins, draws or losses of the side to move.")
]
DEPTH = "Only so many moves: 20, 20: or more, :20 or less, 20:30."
Depth = Annotated[str | None, typer.Option(metavar="A:B", help=DEPTH)]
ToMove = Annotated[
    str | None,
    typer.Option(metavar="white|black", help="Only this side to move; White is named first."),
]


def zugzwangs(
    context: typer.Context,
    material: Name,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only '=/1-0', '0-1/=' or '0-1/1-0'.")
    ] = None,
    show: List = 10,
    everything: All = False,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Find mutual zugzwangs: who is to move would rather not be.

    A kind is named by the result with White to move and with Black to move.  White is the side
    that the material names first.  Positions are counted up to symmetry.

    \b
    Examples:
      kingpair zugzwangs KRBvKR
      kingpair zugzwangs KBNvKN --kind =/1-0 --list 20
      kingpair zugzwangs KBNvKN --all --json
    """
    from api import findings
    from workers.zugzwang import Kind, census

    kinds = tuple(Kind) if kind is None else (_choice(Kind, kind, "--kind"),)
    with _studied(context, material, tables, metric, threads) as (table, pool):
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

    For White and for Black to move, up to symmetry.

    \b
    Examples:
      kingpair longest KQvKR
      kingpair longest KBBvKN --all --json
    """
    from api import findings
    from workers.longest import collect, longest_of

    with _studied(context, material, tables, metric, threads) as (table, pool):
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
    """Report on an endgame: all that people study it for.

    How many positions White wins, Black wins and nobody wins; the longest; mutual zugzwangs; how
    many positions take how many moves; and what each pass took when the table was built.

    \b
    Examples:
      kingpair report KQvKR
      kingpair report KRBvKR --all --json > KRBvKR.json
    """
    from api import findings
    from workers.report import report_of

    with _studied(context, material, tables, metric, threads) as (table, pool):
        found = report_of(table, pool, _keep(show, everything))
    say(findings.report_text(found), findings.report_json(found), as_json)


def sample(
    context: typer.Context,
    material: Name,
    number: Annotated[
        int, typer.Option("--n", min=0, metavar="N", help="How many positions.")
    ] = 10,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Another seed, another sample.")
    ] = 0,
    wdl: Wdl = None,
    depth: Depth = None,
    to_move: ToMove = None,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: print JSON, a line each.")
    ] = False,
) -> None:
    """Draw positions at random, each as likely as another, none twice.

    They are distinct up to symmetry.  The same seed draws the same positions.

    \b
    Examples:
      kingpair sample KQvKR --wdl win --depth 20: --n 1000 --seed 7
      kingpair sample KBNvK --to-move black --json
    """
    from api import findings
    from workers.sample import sample as draw

    selection = _selection(wdl, depth, to_move)
    with _studied(context, material, tables, metric, threads) as (table, pool):
        for entry in draw(table, pool, selection, number, seed):
            if as_json:
                typer.echo(json.dumps(findings.entry_json(table.material, entry)))
            else:
                typer.echo(findings.entry_text(table.material, entry))


def export(
    context: typer.Context,
    material: Name,
    parquet: Annotated[Path, typer.Option(metavar="FILE", help="Write there.")],
    with_fen: Annotated[
        bool, typer.Option("--fen", help="With the FEN of each position; slower, larger.")
    ] = False,
    wdl: Wdl = None,
    depth: Depth = None,
    to_move: ToMove = None,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Write a table's positions as Parquet, a row for each.

    Columns: row (its place in the table), fen if asked for, to_move, result, and moves, which
    are null for a draw.

    \b
    Examples:
      kingpair export KQvKR --parquet KQvKR.parquet
      kingpair export KQvKR --parquet long.parquet --fen --wdl win --depth 20:
    """
    from api.text import count
    from workers.export import export as write

    selection = _selection(wdl, depth, to_move)
    with _studied(context, material, tables, metric, threads) as (table, pool):
        rows = write(table, pool, parquet, selection, with_fen)
    data = {"material": str(table.material), "metric": table.metric, "rows": rows}
    say([f"wrote {count(rows, 'row')} to {parquet}"], {**data, "path": str(parquet)}, as_json)


COMMANDS: tuple[Callable[..., None], ...] = (report, longest, zugzwangs, sample, export)


# ---- what was typed ----


def _choice(kinds: Any, text: str, option: str) -> Any:
    try:
        return kinds(text)
    except ValueError:
        message = f"{text!r} is none of {', '.join(kinds)}"
        raise typer.BadParameter(message, param_hint=option) from None


def _keep(show: int, everything: bool) -> int | None:
    return None if everything else show


def _selection(wdl: Outcome | None, depth: str | None, to_move: str | None) -> "Selection":
    from workers.selection import Selection

    sides = {None: (STRONGER, WEAKER), "white": (STRONGER,), "black": (WEAKER,)}
    if to_move not in sides:
        raise typer.BadParameter(f"{to_move!r} is none of white, black", param_hint="--to-move")
    outcomes = tuple(Outcome) if wdl is None else (wdl,)
    return Selection(sides[to_move], outcomes, None if depth is None else _depths(depth))


def _depths(text: str) -> "Depths":
    """`20`, `20:`, `:20` or `20:30`."""
    from workers.selection import DEEPEST, Depths

    first, colon, last = text.partition(":")
    if not re.fullmatch("[0-9]{1,4}:?|[0-9]{0,4}:[0-9]{1,4}", text):
        message = f"{text!r} is no range of moves; use one such as 20, 20: or 20:30"
        raise typer.BadParameter(message, param_hint="--depth")
    low = int(first or 0)
    return Depths(low, int(last or DEEPEST) if colon else low)


@contextmanager
def _studied(
    context: typer.Context,
    name: str,
    tables: Path | None,
    metric: Metric,
    threads: int | None,
) -> "Iterator[tuple[Table, Threads]]":
    """The table of a material, and threads to read it with."""
    from workers.threads import Threads

    material = Material.parse(name)
    settings = arguments.settings(context, tables=tables, threads=threads)
    with opened(settings) as tablebase, Threads(settings.threads) as pool:
        yield tablebase.table(material, metric), pool
