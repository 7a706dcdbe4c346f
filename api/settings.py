"""The settings: one object, read once from a file, the environment and options.

Each setting is a field of `Settings`.  Its name is a key of the file `kingpair.toml`, in capitals
after `KINGPAIR_` a variable of the environment, and with dashes an option of the commands that use
it.  An option overrides a variable, a variable the file, the file the default.  An empty variable
counts as unset.  The file is the first of these:

    that of `kingpair --config FILE` or of KINGPAIR_CONFIG, which must exist
    $XDG_CONFIG_HOME/kingpair/kingpair.toml, which is ~/.config/kingpair/kingpair.toml by default
    /etc/kingpair/kingpair.toml

An unknown key, or a value of the wrong type, is an error that says where it was set.  A field made
by `secret` is never printed: not by `kingpair config`, not in an error, not by `repr`.

Pydantic checks the types.  It and the reader of files are imported only when there is a file or a
variable to check, because their imports take long beside a cold probe.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from kingpair.api.text import plain_reason
from kingpair.coordinator.plan.amounts import PARTS_FROM
from kingpair.workers.errors import BadSettings
from kingpair.workers.limits import usable_cores
from kingpair.workers.store.filesystem import printable, uri_of

if TYPE_CHECKING:
    from pydantic import ValidationError

PREFIX = "KINGPAIR_"
CONFIG = f"{PREFIX}CONFIG"
NAME = Path("kingpair", "kingpair.toml")
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b?|b?)", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


class Size(int):
    """An amount of bytes, written as `12GiB`, `12 GB`, `12G`, `500MiB` or `1000000`; without the i,
    units are powers of 1000.
    """

    @classmethod
    def parse(cls, written: object) -> "Size":
        matched = None if isinstance(written, bool) else _SIZE.fullmatch(str(written).strip())
        if matched:
            number, unit, binary = matched.groups()
            power = _POWERS[unit.lower()] if unit else 0
            if size := int(float(number) * (1024 if binary else 1000) ** power):
                return cls(size)
        raise ValueError(f"{written!r} is no amount of memory; use one such as 12GiB or 800MiB")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(cls.parse)


class Words(tuple[str, ...]):
    """A list of words: an array in the file, words with commas in a variable."""

    @classmethod
    def parse(cls, written: object) -> "Words":
        if isinstance(written, str):
            return cls(word.strip() for word in written.split(",") if word.strip())
        if isinstance(written, Sequence) and all(isinstance(word, str) for word in written):
            return cls(written)
        raise ValueError("must be words: an array of strings, or words with commas between them")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(cls.parse)


class Bounds(NamedTuple):
    """The bounds of a number.  (Importing the types of `annotated_types` is slow.)"""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], Any]) -> Any:
        given = {name: bound for name, bound in self._asdict().items() if bound is not None}
        return handler(source) | given


def setting(default: Any, help: str) -> Any:
    """Makes a field that may be printed; a function as default is called for its value."""
    metadata = {"help": help, "secret": False}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def secret(help: str) -> Any:
    """Makes a field for text that is never printed; None unless it is set."""
    return field(default=None, repr=False, metadata={"help": help, "secret": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings in force, read once and passed down."""

    tables: Path = setting(Path("tables"), "where the tables are, and where builds put them")
    threads: Annotated[int, Bounds(ge=1, le=1024)] = setting(
        usable_cores, "threads at work at once; one a core by default"
    )
    memory: Size | None = setting(None, "what a build may hold at most; what is free if not set")
    scratch: Path | None = setting(
        None, "where builds keep sets that do not fit in memory; beside the tables if not set"
    )
    logs: Path | None = setting(
        None,
        "a directory of each machine for pass logs and copies; beside the tables if not set",
    )
    parts_from: Size = setting(
        Size(PARTS_FROM), "bytes that a table may have from which on it is kept in parts"
    )
    cache: Size = setting(Size(256 << 20), "decoded blocks that are kept in memory, in bytes")
    syzygy: Path | None = setting(None, "Syzygy files, which answer where there is no table")
    level: str | None = setting(
        None, "instruction set of the kernels, v2, v3 or v4; the best there is if not set"
    )
    host: str = setting("127.0.0.1", "where the service listens")
    port: Annotated[int, Bounds(ge=0, le=65535)] = setting(
        8000, "on which port the service listens; 0 for any that is free"
    )
    look_every: Annotated[float, Bounds(ge=0.01)] = setting(
        1.0, "seconds between two looks of the service at the directory of tables"
    )
    verbose: bool = setting(False, "log every request")
    state: Path | None = setting(None, "where tokens are kept; beside the tables if not set")
    names: Words = setting(Words(), "names of this machine, besides its addresses and localhost")
    probes_per_second: Annotated[float, Bounds(gt=0)] = setting(
        5000.0, "positions that each client may ask for, a hundred of a batch counting as one"
    )

    cluster: str | None = setting(
        None,
        "where builds run with Ray: local, auto or HOST:PORT; if not set, the service takes local, "
        "and commands build in process",
    )
    workers: Annotated[int, Bounds(ge=1)] | None = setting(None, "workers of the cluster at most")
    materials_per_build: Annotated[int, Bounds(ge=1)] = setting(
        100, "materials of one build at most"
    )
    queued_builds: Annotated[int, Bounds(ge=1)] = setting(
        100, "builds that may wait for their turn"
    )
    event_streams: Annotated[int, Bounds(ge=1)] = setting(
        500, "clients that may watch builds at once; further ones are told to come back"
    )

    @property
    def state_directory(self) -> Path:
        if self.state is not None or uri_of(self.tables) is None:
            return self.state or self.tables
        # A database needs a disk, whatever store the tables are in.
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(home, "kingpair")


KNOWN: Mapping[str, Field[Any]] = MappingProxyType({each.name: each for each in fields(Settings)})


class InForce(NamedTuple):
    """The settings, and where each was set: an option, a variable, a file, or nowhere."""

    settings: Settings
    origins: Mapping[str, str]

    def said(self, name: str) -> Any:
        """Returns the value as it may be printed, fit for JSON."""
        value = getattr(self.settings, name)
        if KNOWN[name].metadata["secret"]:
            return None if value is None else "set, not shown"
        return printable(value) if isinstance(value, Path) else value


class Source(NamedTuple):
    """Values as a source has them, and the names that it gives to settings."""

    values: Mapping[str, object]
    called: Mapping[str, str]
    """By the name of the setting."""


def read(
    flags: Mapping[str, object], file: Path | None = None, environ: Mapping[str, str] = os.environ
) -> InForce:
    """Returns the settings; raises BadSettings for an unknown key or an impossible value."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(KNOWN, "default")
    for source in (_file(file, environ), _environment(environ)):
        values |= _checked(source)
        origins |= {name: source.called[name] for name in source.values}
    given = {name: value for name, value in flags.items() if value is not None}
    assert given.keys() <= KNOWN.keys()
    origins |= {name: f"--{name.replace('_', '-')}" for name in given}
    return InForce(Settings(**values | given), origins)


# ---- sources ----


def _environment(environ: Mapping[str, str]) -> Source:
    known = {f"{PREFIX}{name.upper()}": name for name in KNOWN}
    ours = {key: v for key, v in environ.items() if key.startswith(PREFIX) and v and key != CONFIG}
    for key in ours:
        if key not in known:
            raise BadSettings(_unknown(key, PREFIX))
    return Source(
        {known[key]: value for key, value in ours.items()},
        {name: key for key, name in known.items()},
    )


def _file(named: Path | None, environ: Mapping[str, str]) -> Source:
    path = _where(named, environ)
    if path is None:
        return Source({}, {})
    import tomllib

    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSettings(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{path} is no TOML: {error}") from error
    for key in values:
        if key not in KNOWN:
            raise BadSettings(f"{path}: {_unknown(key)}")
    return Source(values, {name: f"{path}: {name}" for name in KNOWN})


def _where(named: Path | None, environ: Mapping[str, str]) -> Path | None:
    if named is None and (variable := environ.get(CONFIG)):
        named = Path(variable)
    if named is not None:
        return named
    return next((path for path in _usual(environ) if os.path.isfile(path)), None)


def _usual(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yields the usual places of the file; some may not exist."""
    yield Path(os.path.expanduser(environ.get("XDG_CONFIG_HOME") or "~/.config"), NAME)
    yield Path("/etc", NAME)


def _unknown(key: str, prefix: str = "") -> str:
    """Returns a message for an unknown key, with the nearest setting, or all of them."""
    near = difflib.get_close_matches(key.removeprefix(prefix).lower(), KNOWN, n=1)
    if near:
        meant = f"{prefix}{near[0].upper()}" if prefix else near[0]
        return f"{key} is no setting of kingpair; did you mean {meant}?"
    return f"{key} is no setting of kingpair; there are {', '.join(KNOWN)}"


# ---- types ----


def _checked(source: Source) -> dict[str, Any]:
    """Returns the values of a source with their types."""
    if not source.values:
        return {}
    from pydantic import TypeAdapter, ValidationError

    try:
        checked = TypeAdapter(Settings).validate_python(source.values)
    except ValidationError as error:
        raise BadSettings(_wrong(source, error)) from None
    return {name: _home(getattr(checked, name)) for name in source.values}


def _wrong(source: Source, error: "ValidationError") -> str:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    why = plain_reason(first["msg"])
    if KNOWN[name].metadata["secret"]:
        return f"{source.called[name]}: {first['type'].replace('_', ' ')}, and it is a secret"
    return f"{source.called[name]} = {first['input']!r}: {why}"


def _home(value: object) -> object:
    return Path(os.path.expanduser(value)) if isinstance(value, Path) else value
