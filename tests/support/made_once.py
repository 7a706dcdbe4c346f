"""Results that several test modules need, made once in a run by the first process that asks.

A run is one process, or several with xdist.  `begin` gives them one folder, which the first process
removes at the end.  Another process that asks meanwhile waits for the result.
"""

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pytest
import run_folders

Result = TypeVar("Result")
VARIABLE = "TESTS_MADE_ONCE"
ZSTD = pa.Codec("zstd", 1)


def begin(config: pytest.Config) -> None:
    """Makes the folder, unless the process that started this one has done so."""
    if VARIABLE not in os.environ:
        run_folders.remove_abandoned()
        os.environ[VARIABLE] = str(run_folders.made())
        config.add_cleanup(_end)


def _end() -> None:
    shutil.rmtree(os.environ.pop(VARIABLE))


@contextmanager
def locked(name: str) -> Iterator[Path]:
    """The path of that name in the folder, for one process at a time."""
    path = Path(os.environ[VARIABLE]) / name
    with path.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path


def once(name: str, make: Callable[[], Result]) -> Result:
    """Returns what is kept under a name; the first process makes and keeps it."""
    if VARIABLE not in os.environ:  # a program of its own, not a run of tests
        return make()
    with locked(name) as path:
        if path.exists():
            found: Result = _read(path)
            return found
        made = make()
        data = pickle.dumps(made, protocol=5)
        partial = path.with_name(f"{name}.partial")  # a process may be killed while it writes
        partial.write_bytes(len(data).to_bytes(8) + ZSTD.compress(data, asbytes=True))
        partial.replace(path)
        return made


def _read(path: Path) -> Any:
    data = path.read_bytes()
    return pickle.loads(ZSTD.decompress(data[8:], int.from_bytes(data[:8]), asbytes=True))
