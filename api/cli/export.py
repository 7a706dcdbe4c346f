"""The command that writes tables in formats of others: Parquet, and Syzygy files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import (
    AsJson,
    AtWork,
    Materials,
    Men,
    OneMetric,
    Pawnless,
    Tables,
    opened,
    say,
)
from kingpair.api.cli.study import Cursed, Depth, ToMove, Wdl, cursed_depth, selection_of, studied
from kingpair.workers.game.metric import Metric

if TYPE_CHECKING:
    from kingpair.api.settings import Settings
    from kingpair.workers.game.chess.material import Material
    from kingpair.workers.sets.threads import Threads
    from kingpair.workers.study.position_filter import PositionFilter
    from kingpair.workers.table.format import Table


Parquet = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the positions there.")]
SyzygyFiles = Annotated[Path | None, typer.Option(metavar="DIR", help="Write Syzygy files there.")]
Force = Annotated[bool, typer.Option("--force", help="Write Syzygy files that are there again.")]
WithFen = Annotated[
    bool, typer.Option("--fen", help="With the FEN of each position; slower, larger.")
]


def export(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    pawnless: Pawnless = False,
    parquet: Parquet = None,
    syzygy: SyzygyFiles = None,
    force: Force = False,
    with_fen: WithFen = False,
    wdl: Wdl = None,
    depth: Depth = None,
    cursed: Cursed = False,
    to_move: ToMove = None,
    tables: Tables = None,
    metric: OneMetric = Metric.DTC,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Write positions as Parquet, or tables as Syzygy files.

    Columns of Parquet, a row for each position: row (its place in the table), fen if asked for,
    to_move, result, and moves, which is null for a draw.

    Syzygy files (.rtbw and .rtbz) are made of tables of the metric dtz.  Files that are there are
    left alone, unless they are damaged, so that an interrupted export goes on.

    \b
    Examples:
      kingpair export KQvKR --parquet KQvKR.parquet
      kingpair export KQvKR --parquet long.parquet --fen --wdl win --depth 20:
      kingpair export KQvKR KRvKR --syzygy syzygy
      kingpair export --men 4 --pawnless --syzygy syzygy
    """
    _check_options(context)
    if syzygy is not None:
        chosen = arguments.materials_of(materials or (), men, pawnless)
        settings = arguments.settings(context, tables=tables, threads=threads)
        _export_syzygy(settings, chosen, syzygy, force, as_json)
        return
    assert parquet is not None
    (material,) = _only(materials)
    selection = selection_of(wdl, cursed_depth(metric, depth) if cursed else depth, to_move)
    with studied(context, material, tables, metric, threads) as (table, pool):
        _export_parquet(table, pool, parquet, selection, with_fen, as_json)


_OF_PARQUET = {
    "with_fen": "--fen",
    "wdl": "--wdl",
    "depth": "--depth",
    "cursed": "--cursed",
    "to_move": "--to-move",
}
_OF_SYZYGY = {"force": "--force", "men": "--men", "pawnless": "--pawnless"}


def _check_options(context: typer.Context) -> None:
    """Refuses options of both formats, or of the one that is not written."""
    given = {name for name, value in context.params.items() if value not in (None, False)}
    if ("parquet" in given) == ("syzygy" in given):
        raise typer.BadParameter("use one of them", param_hint="--parquet, --syzygy")
    others, reason = (
        (_OF_PARQUET, "takes --parquet; a Syzygy file has all positions")
        if "syzygy" in given
        else (_OF_SYZYGY, "takes --syzygy; --parquet takes one material")
    )
    if wrong := [option for name, option in others.items() if name in given]:
        raise typer.BadParameter(reason, param_hint=wrong[0])


def _only(materials: list[str] | None) -> list[str]:
    if materials is None or len(materials) != 1:
        raise typer.BadParameter("--parquet takes one material", param_hint="MATERIAL")
    return materials


def _export_parquet(
    table: "Table", pool: "Threads", to: Path, selection: "PositionFilter", fen: bool, as_json: bool
) -> None:
    from kingpair.api.text import count
    from kingpair.workers.study.export import export as write

    rows = write(table, pool, to, selection, fen)
    data = {"material": str(table.material), "metric": table.metric, "rows": rows}
    say([f"wrote {count(rows, 'row')} to {to}"], {**data, "path": str(to)}, as_json)


def _export_syzygy(
    settings: "Settings", materials: "Sequence[Material]", to: Path, again: bool, as_json: bool
) -> None:
    from kingpair.coordinator.plan.amounts import amount
    from kingpair.workers.study.syzygy_export import export_syzygy

    files = []
    with opened(settings) as tablebase:
        found = export_syzygy(tablebase.table, materials, to, settings.threads, again=again)
        for each in found:
            files.append({**each._asdict(), "material": str(each.material), "path": str(each.path)})
            if not as_json:
                verb = "wrote" if each.written else "kept"
                typer.echo(f"{verb} {each.path}, {amount(each.size)}")
    if as_json:
        typer.echo(json.dumps(files, indent=2))
