"""The command `kingpair`: what can be asked of it, one function each, and what holds for all.

The functions are in the modules that this one puts together.
"""

from pathlib import Path
from typing import Annotated

import typer

from api import (
    arguments,
    ask_commands,
    build_commands,
    machine_commands,
    modelling,
    study,
    token_command,
)
from api.failures import EXPLAINED, Commands
from api.options import Level

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXPLAINED,
)


def _version(wanted: bool) -> None:
    if wanted:
        from api.version import versions

        typer.echo(versions())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def kingpair(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings; kingpair config says what they are."),
    ] = None,
    level: Level = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say what this is.")
    ] = False,
) -> None:
    """Solve chess endgames without pawns exactly, and ask the tables.

    Options that have a default can be set for good, in a file or the environment: see config.

    \b
    Examples:
      kingpair build KQvKR
      kingpair probe 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair line 8/8/8/8/Q7/5k2/8/K3r3 w
      kingpair stats KQvKR
      kingpair serve
    """
    context.obj = arguments.Given(config, level)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (
    *build_commands.COMMANDS,
    *ask_commands.COMMANDS,
    *machine_commands.COMMANDS,
    *modelling.COMMANDS,
    *study.COMMANDS,
):
    app.command()(command)
app.add_typer(token_command.app, name="token")


def main() -> None:
    app(prog_name="kingpair")


if __name__ == "__main__":
    main()
