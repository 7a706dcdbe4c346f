"""The tokens of a service and their scopes.  A token's secret is shown once, when it is made.

    tokens    name | scope | digest | made        SQLite, the file `.kingpair.tokens`

A secret has 256 random bits, so its SHA-256 does not reveal it, and no slow hash is needed as for a
password that people choose.  A reader sees at once the tokens that other processes make or revoke.
"""

import hashlib
import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from enum import IntEnum
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from kingpair.workers.errors import BadToken, CannotServe

FILE = ".kingpair.tokens"
PREFIX = "kingpair_"
_SCHEMA = (
    "create table if not exists tokens (name text primary key, scope text not null, "
    "digest blob not null unique, made real not null) strict"
)


class Scope(IntEnum):
    """The rights of a token; each scope includes those before it."""

    PROBE = 1
    BUILD = 2
    ADMIN = 3

    def __str__(self) -> str:
        return self.name.lower()

    @property
    def contained(self) -> list[str]:
        return [str(scope) for scope in Scope if scope <= self]


class Token(NamedTuple):
    name: str
    scope: Scope
    made: float


class Tokens:
    """The tokens of a state directory."""

    def __init__(self, state: Path) -> None:
        self.path = state / FILE

    def create(self, name: str, scope: Scope) -> str:
        """Makes a token and returns its secret, which cannot be read again."""
        if not name.strip() or not name.isprintable() or len(name) > 100:
            raise BadToken(f"{name!r} names no token; use up to 100 letters that can be printed")
        secret = PREFIX + secrets.token_urlsafe(32)
        row = (name, str(scope), digest(secret), time.time())
        with self._writing() as database:
            try:
                database.execute("insert into tokens values (?, ?, ?, ?)", row)
            except sqlite3.IntegrityError:
                message = f"there is a token {name!r} already; revoke it or choose another name"
                raise BadToken(message) from None
        return secret

    def revoke(self, name: str) -> None:
        with self._writing() as database:
            if not database.execute("delete from tokens where name = ?", (name,)).rowcount:
                raise BadToken(f"no token {name!r}; kingpair token list shows those there are")

    def every(self) -> list[Token]:
        if not self.path.exists():
            return []
        with _told(self.path), closing(sqlite3.connect(self.path)) as database:
            return [token for _, token in _read(database)]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            raise CannotServe(f"cannot write {self.path}: {error.strerror}") from error
        with _told(self.path), closing(sqlite3.connect(self.path)) as database, database:
            database.execute(_SCHEMA)
            yield database


class TokenReader:
    """The tokens as a service reads them at each request.

    The file is read again when another process has changed it, which SQLite counts.  While another
    program holds the database, the tokens that were read last remain valid.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / FILE
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._seen: tuple[int, int] | None = None
        self._known: Mapping[bytes, Token] = {}

    def known(self) -> Mapping[bytes, Token]:
        """Returns the tokens by digest; raises CannotServe if they cannot be read."""
        with self._lock, _told(self._path):
            try:
                self._look()
            except sqlite3.Error as error:
                if self._seen is None or not _is_held(error):
                    self.close()
                    raise
            return self._known

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = self._seen = None

    def _look(self) -> None:
        try:
            inode = os.stat(self._path).st_ino
        except FileNotFoundError:
            self.close()
            self._known = {}
            return
        if self._database is None or (self._seen and self._seen[0] != inode):
            self.close()
            self._database = sqlite3.connect(self._path, timeout=0, check_same_thread=False)
        (version,) = self._database.execute("pragma data_version").fetchone()
        if self._seen != (inode, version):
            self._known = dict(_read(self._database))
            self._seen = inode, version


def _read(database: sqlite3.Connection) -> Iterator[tuple[bytes, Token]]:
    if not database.execute("select 1 from sqlite_schema where name = 'tokens'").fetchone():
        return
    for name, scope, digest, made in database.execute("select * from tokens order by made"):
        if scope.upper() not in Scope.__members__:
            raise sqlite3.DataError(f"{scope!r} is no scope")
        yield digest, Token(name, Scope[scope.upper()], made)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _is_held(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise CannotServe(f"cannot read the tokens in {path}: {error}") from error
