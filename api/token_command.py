"""The commands `kingpair token`: make, list and revoke the tokens of a service."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api import arguments
from api.failures import Commands
from api.options import AsJson, Tables, say

if TYPE_CHECKING:
    from api.tokens import Tokens

app = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Whose it is.")]
State = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", show_default="that of the tables", help="Where the service keeps its state."
    ),
]
SCOPES = ["probe", "build", "admin"]


@app.callback()
def token() -> None:
    """Say who may ask the service, and for what.

    As long as there is no token, the service listens on this machine alone and asks nobody who he
    is.  As soon as there is one, every request needs one.
    """


@app.command()
def create(
    context: typer.Context,
    name: Name,
    scope: Annotated[
        str, typer.Option(metavar="|".join(SCOPES), help="What it allows; each contains the last.")
    ] = "probe",
    tables: Tables = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Make a token, and show its secret for the only time.

    \b
    Examples:
      kingpair token create reader
      kingpair token create night-builds --scope build --state /data/tables
    """
    from api.tokens import Scope

    if scope not in SCOPES:
        raise typer.BadParameter(f"{scope!r} is none of {', '.join(SCOPES)}", param_hint="--scope")
    secret = _tokens(context, tables, state).create(name, Scope[scope.upper()])
    found = {"name": name, "scope": scope, "secret": secret}
    typer.echo(json.dumps(found) if as_json else secret)


@app.command("list")
def every(
    context: typer.Context, tables: Tables = None, state: State = None, as_json: AsJson = False
) -> None:
    """List the tokens there are; their secrets are not known to anybody here.

    \b
    Example:
      kingpair token list
    """
    from api.text import columns

    found = _tokens(context, tables, state).every()
    head = ("name", "scope", "made")
    rows = [(t.name, str(t.scope), _time(t.made)) for t in found]
    listed = [dict(zip(head, row, strict=True)) for row in rows]
    say(columns([head, *rows], "<<<"), listed, as_json)


@app.command()
def revoke(context: typer.Context, name: Name, tables: Tables = None, state: State = None) -> None:
    """Let a token allow nothing any more, from the next request on.

    \b
    Example:
      kingpair token revoke reader
    """
    _tokens(context, tables, state).revoke(name)


def _tokens(context: typer.Context, tables: Path | None, state: Path | None) -> "Tokens":
    from api.tokens import Tokens

    found = arguments.settings(context, tables=tables, state=state)
    return Tokens(found.state_directory)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
