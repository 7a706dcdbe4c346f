"""Everything that can go wrong, as a small tree.

::

    KingpairError
    ├── BadMaterial (ValueError)        a name that is no material, or not solved yet
    ├── BadPosition (ValueError)        a FEN that does not parse, or a position the rules forbid
    ├── BadRequest (ValueError)         a cursor, key or number of an event that is none of ours
    ├── BadSelection (ValueError)       positions that cannot be, or more than a table has
    ├── BadSettings (ValueError)        a setting that is unknown or cannot be; says where it stands
    ├── BadToken (ValueError)           a token that cannot be made, or that there is none of
    ├── MissingTableError (KeyError)    no table for a material; names it
    ├── DamagedTable (OSError)          truncated, altered, no table at all; names file and block
    ├── ForeignTable (ValueError)       a sound table, but of another material, metric or version
    ├── DamagedLog (OSError)            a pass log that lacks what was committed; says from where on
    ├── CannotBuild (RuntimeError)      memory, disk or permission that is lacking; says how much
    ├── Cancelled (RuntimeError)        a build that was asked to end; what it committed is kept
    └── CannotServe (RuntimeError)      an address that cannot be, or must not be, listened on

A message is one line: what was wrong, with the values, and what would work.
The edge (`api`) maps each to an exit code or a status once; nothing below it does.
"""


class KingpairError(Exception):
    """The root: catching it catches every failure that is not a programmer's."""

    def __str__(self) -> str:
        # KeyError would show its message quoted.
        return str(self.args[0]) if self.args else ""


class BadMaterial(KingpairError, ValueError):
    """A name that is no material, or a material outside what is solved."""


class BadPosition(KingpairError, ValueError):
    """A FEN that does not parse, or a position that the rules forbid."""


class BadRequest(KingpairError, ValueError):
    """A cursor, a key or the number of an event that the service never gave out."""


class BadSelection(KingpairError, ValueError):
    """A choice among a table's positions that none can meet, or not as many as asked for."""


class BadSettings(KingpairError, ValueError):
    """A setting that nobody knows, or a value that it cannot have, in a file or the environment."""


class BadToken(KingpairError, ValueError):
    """A token under a name that is taken or cannot be, or that is not there to be revoked."""


class MissingTableError(KingpairError, KeyError):
    """No table for a material in the directories that were opened."""


class DamagedTable(KingpairError, OSError):
    """A table file that is truncated, altered, or no table."""


class ForeignTable(KingpairError, ValueError):
    """A sound table that is not the one its name promises."""


class DamagedLog(KingpairError, OSError):
    """A pass log whose committed passes do not all read back: it is sound up to `depth`."""

    def __init__(self, path: object, winner: int, depth: int) -> None:
        super().__init__(f"{path}: damaged after pass {depth}")
        self.winner, self.depth = winner, depth


class CannotBuild(KingpairError, RuntimeError):
    """Memory, disk or permission that a build would need and lacks."""


class Cancelled(KingpairError, RuntimeError):
    """A build that was asked to end before it was done."""


class CannotServe(KingpairError, RuntimeError):
    """An address that is taken, is not this machine's, or is not to be opened to others."""
