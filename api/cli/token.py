"""The commands `kingpair token create`, `list` and `revoke`."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.failures import OneLineFailures
from kingpair.api.cli.options import AsJson, Tables, say

if TYPE_CHECKING:
    from kingpair.api.tokens import Tokens

token = typer.Typer(cls=OneLineFailures, add_completion=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The token's name.")]
State = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", show_default="that of the tables", help="Where the service keeps its state."
    ),
]
SCOPES = ["probe", "build", "admin"]


@token.callback()
def _help() -> None:
    """Make, list and revoke tokens of a service.

    While no token exists, the service admits requests from its own machine only.  When one exists,
    every request needs a token.
    """


@token.command()
def create(
    context: typer.Context,
    name: Name,
    scope: Annotated[
        str,
        typer.Option(
            metavar="|".join(SCOPES), help="What it allows; each includes those before it."
        ),
    ] = "probe",
    tables: Tables = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print its secret, which cannot be shown again.

    \b
    Examples:
      kingpair token create reader
      kingpair token create night-builds --scope build --state /data/tables
    """
    from kingpair.api.tokens import Scope

    if scope not in SCOPES:
        raise typer.BadParameter(f"{scope!r} is none of {', '.join(SCOPES)}", param_hint="--scope")
    secret = _tokens(context, tables, state).create(name, Scope[scope.upper()])
    found = {"name": name, "scope": scope, "secret": secret}
    typer.echo(json.dumps(found) if as_json else secret)


@token.command("list")
def every(
    context: typer.Context, tables: Tables = None, state: State = None, as_json: AsJson = False
) -> None:
    """List the tokens, without their secrets.

    \b
    Example:
      kingpair token list
    """
    from kingpair.api.text import columns

    found = _tokens(context, tables, state).every()
    head = ("name", "scope", "made")
    rows = [(t.name, str(t.scope), _time(t.made)) for t in found]
    listed = [dict(zip(head, row, strict=True)) for row in rows]
    say(columns([head, *rows], "<<<"), listed, as_json)


@token.command()
def revoke(context: typer.Context, name: Name, tables: Tables = None, state: State = None) -> None:
    """Revoke a token, from the next request on.

    \b
    Example:
      kingpair token revoke reader
    """
    _tokens(context, tables, state).revoke(name)


def _tokens(context: typer.Context, tables: Path | None, state: Path | None) -> "Tokens":
    from kingpair.api.tokens import Tokens

    found = arguments.settings(context, tables=tables, state=state)
    return Tokens(found.state_directory)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
