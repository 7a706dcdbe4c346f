"""The commands `kingpair pack` and `kingpair unpack`, which change the form of tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import AsJson, AtWork, Tables, say
from kingpair.workers.store.filesystem import printable

if TYPE_CHECKING:
    from kingpair.workers.table.format import Table
    from kingpair.workers.table.packed import PackedFile

Source = Annotated[
    Path | None, typer.Argument(metavar="[TABLES]", help="The directory to read, as --tables.")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the new files go.")]


def pack(
    context: typer.Context,
    out: Out,
    source: Source = None,
    tables: Tables = None,
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Twice the time for files 5 % smaller.")
    ] = False,
    dense: Annotated[
        bool, typer.Option("--dense", help="A code of our own: two thirds of the size.")
    ] = False,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Pack tables: one of the two columns, a quarter of the bytes.

    All questions about positions have the same answers.  The other column follows by one move, so
    the smaller tables must be in the same directory.  With --dense, tables of three men are packed
    without our code.  Tables of Chinese chess are copied.

    \b
    Examples:
      kingpair pack --tables tables --out packed
      kingpair pack tables --out packed --smallest
      kingpair pack tables --out packed --dense
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w --tables packed
    """
    from kingpair.workers.ask.probe import open_tablebase
    from kingpair.workers.pack.directories import pack_directory
    from kingpair.workers.sets.threads import Threads
    from kingpair.workers.table.packed import PACKED, SMALLEST

    settings = arguments.settings(context, tables=_one_of(source, tables), threads=threads)
    with open_tablebase(settings.tables) as tablebase, Threads(settings.threads) as pool:
        packing = None if dense else SMALLEST if smallest else PACKED
        written = []
        for each in pack_directory(tablebase, out, packing, pool):
            written.append(each)
            _tell(_packed_line(each), as_json)
    _finish([_packed_json(each) for each in written], settings.tables, as_json)


def unpack(
    context: typer.Context,
    out: Out,
    source: Source = None,
    tables: Tables = None,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Unpack tables: write both of their columns again.

    \b
    Examples:
      kingpair unpack packed --out tables
    """
    from kingpair.workers.ask.probe import open_tablebase
    from kingpair.workers.pack.directories import unpack_directory
    from kingpair.workers.sets.threads import Threads

    settings = arguments.settings(context, tables=_one_of(source, tables), threads=threads)
    with open_tablebase(settings.tables) as tablebase, Threads(settings.threads) as pool:
        written = []
        for each in unpack_directory(tablebase, out, pool):
            written.append(_unpacked_json(each))
            _tell(f"{each.key}: {each.bytes:,} bytes", as_json)
    _finish(written, settings.tables, as_json)


def _one_of(source: Path | None, tables: Path | None) -> Path | None:
    if source is not None and tables is not None:
        raise typer.BadParameter("name the directory once", param_hint="TABLES, --tables")
    return source or tables


def _tell(line: str, as_json: bool) -> None:
    if not as_json:
        typer.echo(line)


def _finish(found: list[dict[str, Any]], tables: Path, as_json: bool) -> None:
    say([] if found else [f"no tables in {printable(tables)}"], found, as_json)


def _packed_line(found: "PackedFile") -> str:
    how = "copied" if found.column is None else f"column {found.column}"
    return f"{found.key}: {found.before:,} to {found.after:,} bytes, {how}"


def _packed_json(found: "PackedFile") -> dict[str, Any]:
    return {
        "material": str(found.key.material),
        "metric": str(found.key.metric),
        "bytes_before": found.before,
        "bytes": found.after,
        "column": found.column,
        "digest": found.digest,
    }


def _unpacked_json(table: "Table") -> dict[str, Any]:
    return {
        "material": str(table.material),
        "metric": str(table.metric),
        "bytes": table.bytes,
        "digest": table.digest,
    }
