"""The command `kingpair`: its own options and help, and the group of all commands."""

import gc
from pathlib import Path
from typing import Annotated

import typer

from kingpair.api.cli.commands import Commands, Level
from kingpair.api.cli.failures import EXPLAINED


def _version(wanted: bool) -> None:
    if wanted:
        from kingpair.api.version import versions

        typer.echo(versions())
        raise typer.Exit


def kingpair(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings; kingpair config lists them."),
    ] = None,
    level: Level = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print versions.")
    ] = False,
) -> None:
    """Solve chess endgames exactly, and ask the tables.

    Most options can be set permanently, in a file or in the environment: see kingpair config.

    \b
    Examples:
      kingpair build KQvKR
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair line 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair stats KQvKR
      kingpair serve
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        return
    from kingpair.api.cli import arguments

    context.obj = arguments.Given(config, level)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXPLAINED,
)
app.callback(invoke_without_command=True)(kingpair)


def main() -> None:
    try:
        app(prog_name="kingpair")
    finally:
        _leave_garbage()


def _leave_garbage() -> None:
    """Keeps Python from looking for garbage before it exits: through modules and types, for a sixth
    of the time of `kingpair --help`.
    """
    gc.disable()
    gc.freeze()


if __name__ == "__main__":
    main()
