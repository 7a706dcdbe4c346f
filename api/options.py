"""What the commands have in common: the options that several take, and how an answer is printed.

Help and errors come at once: nothing is imported here that takes time.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api import arguments
from api.settings import Settings, Size
from workers.metric import Metric

if TYPE_CHECKING:
    from workers.probe import Tablebase

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
AtWork = Annotated[
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


def opened(settings: Settings) -> "Tablebase":
    from workers.probe import open_tablebase

    return open_tablebase(settings.tables, cache_bytes=settings.cache)


def say(text: Iterable[str], data: Any, as_json: bool) -> None:
    for line in [json.dumps(data, indent=2)] if as_json else text:
        typer.echo(line)
