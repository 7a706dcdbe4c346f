"""Turns every failure into one line on stderr and an exit code, here and nowhere else.

Only a programming error prints a traceback.
"""

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from kingpair.api.text import plain_reason
from kingpair.workers.errors import (
    BadMaterial,
    BadPosition,
    BadRequest,
    BadSelection,
    BadSettings,
    BadToken,
    Cancelled,
    CannotBuild,
    CannotServe,
    DamagedLog,
    DamagedTable,
    ForeignTable,
    KingpairError,
    MissingTableError,
    UnusableDisk,
)


class ExitCode(IntEnum):
    OK = 0
    TO_DO = 1
    BAD_INPUT = 2
    NO_TABLE = 3
    DAMAGED = 4
    CANNOT = 5
    INTERRUPTED = 130
    NO_READER = 141


EXIT_CODES: dict[type[KingpairError], ExitCode] = {
    BadMaterial: ExitCode.BAD_INPUT,
    BadPosition: ExitCode.BAD_INPUT,
    BadRequest: ExitCode.BAD_INPUT,
    BadSelection: ExitCode.BAD_INPUT,
    BadSettings: ExitCode.BAD_INPUT,
    BadToken: ExitCode.BAD_INPUT,
    MissingTableError: ExitCode.NO_TABLE,
    DamagedTable: ExitCode.DAMAGED,
    DamagedLog: ExitCode.DAMAGED,
    ForeignTable: ExitCode.DAMAGED,
    CannotBuild: ExitCode.CANNOT,
    Cancelled: ExitCode.INTERRUPTED,
    CannotServe: ExitCode.CANNOT,
    UnusableDisk: ExitCode.CANNOT,
}

EXPLAINED = """\b
Exit codes:
    0  done
    1  done, and kingpair doctor found something to change
    2  bad usage or settings, no such material, or no such position
    3  a table is missing
    4  a table is damaged, or not what its name says
    5  cannot be done here: memory, disk, permission, another build
  130  interrupted; committed passes are kept
  141  the reader of the output has gone away
"""

# How some versions of Typer word a number that is too small or too large.
_OUTSIDE = re.compile(r"(\S+) is not in the range (?:(\S+)<=x<=(\S+)|x(>=|<=)(\S+))")

# typer has click inside or beside itself, depending on its version: click's UsageError either way.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class OneLineFailures(TyperGroup):
    """A group of commands that prints each failure in one line."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with told():
            code = super().main(*args, **kwargs | {"standalone_mode": False})
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else ExitCode.OK)

    def invoke(self, ctx: Any) -> Any:
        # Here too: an interruption would come out of `main` without its message.
        with told():
            return super().invoke(ctx)


@contextmanager
def told() -> Iterator[None]:
    """Ends the program if its body fails: a line says what was wrong and what would work."""
    try:
        yield
    except KingpairError as error:
        _end(str(error), next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))
    except _UsageError as error:
        _end(_usage(error), ExitCode.BAD_INPUT)
    except KeyboardInterrupt as error:
        _end(": ".join(["interrupted", *map(str, error.args)]), ExitCode.INTERRUPTED)
    except MemoryError:
        _end("out of memory; use fewer --threads or a larger machine", ExitCode.CANNOT)
    except OSError as error:
        if error.filename is None:
            _close_output()
        if error.errno == errno.EPIPE:
            sys.exit(ExitCode.NO_READER)
        where = f"{error.filename}: " if error.filename else "cannot write the output: "
        _end(f"{where}{error.strerror or error}", ExitCode.CANNOT)


def _end(message: str, code: ExitCode) -> None:
    typer.echo(f"kingpair: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _usage(error: Any) -> str:
    message, question, meant = error.format_message().rstrip(".").partition(" Did you mean ")
    suggestion = f" (did you mean {meant}" if question else ""
    command = error.ctx.command_path if error.ctx else "kingpair"
    reason = plain_reason(_OUTSIDE.sub(_bound, message.rstrip(".")))
    return f"{reason}{suggestion and suggestion + ')'}; see {command} --help"


def _bound(outside: re.Match[str]) -> str:
    """Says which limit a number is beyond."""
    value, least, most, sign, limit = outside.groups()
    if sign:
        return f"must be at {'least' if sign == '>=' else 'most'} {limit}"
    is_small = float(value) < float(least)
    return f"must be at least {least}" if is_small else f"must be at most {most}"


def _close_output() -> None:
    """Discards buffered output, which Python would fail to write at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
