"""The commands of `kingpair` by name: the module of each, and its line in `kingpair --help`.

A command's module is imported, and its options are read, when that command is called: help and a
probe do not wait for the other commands.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from kingpair.api.cli.failures import OneLineFailures

if TYPE_CHECKING:  # `loaded` imports them by name; the contracts about imports see them here
    from kingpair.api.cli import (  # noqa: F401
        ask,
        build,
        completion,
        export,
        index_sizes,
        machine,
        model,
        packing,
        study,
        token,
    )

Level = Annotated[
    str | None,
    typer.Option("--level", metavar="LEVEL", help="Instruction set of the kernels: v2, v3 or v4."),
]
"""An option of `kingpair` itself and of its commands."""


class Listed(NamedTuple):
    """A command's module in this folder; the first line of its help."""

    module: str
    summary: str


COMMANDS: Mapping[str, Listed] = MappingProxyType(
    {
        "build": Listed("build", "Solve materials and write their tables."),
        "estimate": Listed("build", "Print what a build would take: memory, disk and time."),
        "probe": Listed("ask", "Show the result of a position, and of each move."),
        "line": Listed("ask", "Show the best moves of both sides to mate."),
        "stats": Listed("ask", "Count the positions of a table."),
        "tables": Listed("ask", "List the tables of a directory."),
        "verify": Listed("ask", "Prove finished tables by playing every move of each position."),
        "serve": Listed("machine", "Start the service: a page for builds and tables, and HTTP."),
        "config": Listed("machine", "Print each setting, and where it was set."),
        "doctor": Listed("machine", "Examine this machine, and say what to change."),
        "bench": Listed("machine", "Measure this machine."),
        "model": Listed("model", "Predict builds on clusters of other sizes."),
        "report": Listed("study", "Report on an endgame: results, depths, longest, zugzwangs."),
        "longest": Listed("study", "Show the positions that take longest to win, and to lose."),
        "zugzwangs": Listed("study", "Find positions in which neither side wants to move."),
        "sample": Listed("study", "Draw positions at random, each equally likely, none twice."),
        "export": Listed("export", "Write positions as Parquet, or tables as Syzygy files."),
        "index": Listed("index_sizes", "Compare the size of the index with published ones."),
        "pack": Listed("packing", "Pack tables: one of the two columns, a quarter of the bytes."),
        "unpack": Listed("packing", "Unpack tables: write both of their columns again."),
        "completion": Listed("completion", "Print a script that completes commands and materials."),
        "token": Listed("token", "Make, list and revoke tokens of a service."),
    }
)


class Commands(OneLineFailures):
    """The group of all commands.  It lists them by their summaries, and loads the one called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, listed in COMMANDS.items():
            self.commands[name] = TyperCommand(name, short_help=listed.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, loaded(str(name)), rest


def loaded(name: str) -> Any:
    """Returns the command with its options: a group, or a function as Typer wraps it."""
    found = getattr(import_module(f"kingpair.api.cli.{COMMANDS[name].module}"), name)
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
        found.command()(function)
    return typer.main.get_command(found)
