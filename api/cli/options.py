"""The options that several commands share, and how an answer is printed.

Nothing that takes time is imported here, so that help and errors come at once.  An option whose
METAVAR is its own name says that name: some versions of Typer would take the metavar for it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.settings import Settings, Size
from kingpair.workers.game.metric import Metric
from kingpair.workers.index import KING_PAIRS

if TYPE_CHECKING:
    from kingpair.workers.ask.probe import Tablebase

Materials = Annotated[
    list[str] | None,
    typer.Argument(metavar="MATERIAL", help="Such as KQvKR, in any order of the men."),
]
Men = Annotated[
    int | None,
    typer.Option(
        min=3,
        max=6,
        metavar="N",
        help="All materials of up to N men, kings included.",
    ),
]
Pawnless = Annotated[
    bool, typer.Option("--pawnless", help="With --men: leave out the materials with pawns.")
]
WriteSyzygy = Annotated[
    bool,
    typer.Option(
        "--syzygy",
        help="Write Syzygy files, too, in the folder syzygy of the tables; takes the metric dtz, "
        "which is then the default.",
    ),
]
Fen = Annotated[
    list[str],
    typer.Argument(metavar="FEN", help="The position; needs no quotes, _ may stand for a space."),
]
Tables = Annotated[
    Path | None,
    typer.Option("--tables", metavar="DIR", show_default="tables", help="Where the tables are."),
]
Syzygy = Annotated[
    Path | None,
    typer.Option("--syzygy", metavar="DIR", help="Syzygy files for materials without a table."),
]
BuiltTables = Annotated[
    Path | None,
    typer.Option(
        "--tables", "--out", metavar="DIR", show_default="tables", help="Where the tables go."
    ),
]
AtWork = Annotated[
    int | None,
    typer.Option(min=1, max=1024, metavar="N", show_default="one a core", help="Threads at once."),
]
Memory = Annotated[
    Size | None,
    typer.Option(
        parser=arguments.size_of,
        metavar="SIZE",
        help="Limit of a build's memory; sets that do not fit are on disk.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="DIR",
        show_default="beside the tables",
        help="Where sets are kept that do not fit in memory.",
    ),
]
Logs = Annotated[
    Path | None,
    typer.Option(
        "--logs",
        metavar="DIR",
        show_default="beside the tables",
        help="Where each machine keeps pass logs, on a disk of its own.",
    ),
]
PartsFrom = Annotated[
    Size | None,
    typer.Option(
        "--parts-from",
        parser=arguments.size_of,
        metavar="SIZE",
        show_default="16GiB",
        help="Keep a table that may be as large in parts, if several workers write it.",
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
        "--host",
        metavar="HOST",
        show_default="127.0.0.1",
        help="Address to listen on; beyond this machine, with tokens.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        metavar="PORT",
        show_default="8000",
        help="Port to listen on; 0 for any that is free.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Build with Ray: local, auto (the cluster this machine is in) or HOST:PORT.",
    ),
]
InProcess = Annotated[
    bool, typer.Option("--in-process", help="Build without Ray, in the service's own process.")
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", show_default="one a node", help="At most so many workers."),
]
Spread = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=KING_PAIRS,
        metavar="N",
        show_default="by its size",
        help="Divide each material among N workers, however small it is.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
OneMetric = Annotated[
    Metric,
    typer.Option(
        "--metric",
        help="Count moves to mate or conversion, or to mate; or plies to zeroing.",
    ),
]


def opened(settings: Settings) -> "Tablebase":
    from kingpair.workers.ask.probe import open_tablebase

    return open_tablebase(settings.tables, cache_bytes=settings.cache, syzygy=settings.syzygy)


def say(text: Iterable[str], data: Any, as_json: bool) -> None:
    for line in [json.dumps(data, indent=2)] if as_json else text:
        typer.echo(line)
