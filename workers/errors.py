"""The errors, as a small tree.

::

    KingpairError
    ├── BadMaterial (ValueError)        a name of no material, or of an unsolved one
    ├── BadPosition (ValueError)        a FEN that does not parse, or a position the rules forbid
    ├── BadRequest (ValueError)         a cursor, key or event number that is not known
    ├── BadSelection (ValueError)       a choice that no position meets, or too few positions do
    ├── BadSettings (ValueError)        an unknown setting or an impossible value; names its place
    ├── BadToken (ValueError)           a token that cannot be made, or does not exist
    ├── MissingTableError (KeyError)    no table for a material; names it
    ├── DamagedTable (OSError)          a truncated or altered file; names the block
    ├── ForeignTable (ValueError)       a sound table, but of another material, metric or version
    ├── DamagedLog (OSError)            a pass log that cannot be read after a pass; names it
    ├── CannotBuild (RuntimeError)      too little memory or disk, or no permission; says how much
    │   └── UnusableDisk                a path that this machine cannot write or read; names it
    ├── Cancelled (RuntimeError)        a build that was cancelled; its committed passes are kept
    └── CannotServe (RuntimeError)      an address that cannot, or must not, be listened on

A message is one line.  It says what was wrong, with the values, and what would work.  `api` maps
each error to an exit code or an HTTP status in one place; nothing below `api` does.
"""

from kingpair.workers.number_types import Depth, Side


class KingpairError(Exception):
    """The root of the tree: every failure but programming errors."""

    def __str__(self) -> str:
        # KeyError would show its message quoted.
        return str(self.args[0]) if self.args else ""


class BadMaterial(KingpairError, ValueError):
    """A name of no material, or of a material that cannot be solved."""


class BadPosition(KingpairError, ValueError):
    """A FEN that does not parse, or a position that the rules forbid."""


class BadRequest(KingpairError, ValueError):
    """A cursor, a key or the number of an event that the service never gave out."""


class BadSelection(KingpairError, ValueError):
    """A choice of positions that no position meets, or fewer than were asked for."""


class BadSettings(KingpairError, ValueError):
    """An unknown setting or an impossible value, in a file or the environment."""


class BadToken(KingpairError, ValueError):
    """A token whose name is taken or not allowed, or a token to revoke that does not exist."""


class MissingTableError(KingpairError, KeyError):
    """No table for a material in the directories that were opened."""


class DamagedTable(KingpairError, OSError):
    """A table file that is truncated or altered, or a file that is not a table."""


class ForeignTable(KingpairError, ValueError):
    """A sound table of another material, metric or version than its name or user expects."""


class DamagedLog(KingpairError, OSError):
    """A pass log with a committed pass that cannot be read; it is sound up to pass `depth`.
    `is_below` says that it is the log of a level on which the level at hand rests.
    """

    is_below = False

    def __init__(self, path: object, winner: Side, depth: Depth) -> None:
        super().__init__(f"{path}: damaged after pass {depth}")
        self.winner, self.depth = winner, depth


class CannotBuild(KingpairError, RuntimeError):
    """A build that lacks memory, disk or permission."""


class UnusableDisk(CannotBuild):
    """A path that this machine cannot write or read; another machine may be able to."""


class Cancelled(KingpairError, RuntimeError):
    """A build that was cancelled."""


class CannotServe(KingpairError, RuntimeError):
    """An address that is taken, is not of this machine, or must not be open to others."""
