"""Whether a node may take part in a build: it needs the same program and the same store.

The check runs on the node, in a process of its own.  Tables of two programs may differ unnoticed,
so the commits must be equal too, where both are known, and so must pyarrow, whose zstd makes the
bytes of a table.  Then each machine solves a small material and the digests of the tables are
compared, which notices other kernels and another zstd under the same version.  The instruction sets
may differ, because the bytes are the same.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kingpair.api.version import components
from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.commit import UNKNOWN
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.store.filesystem import store_at, uri_of

NAMED = 3  # nodes that lack the same; the others are counted
SAMPLE = "KQvK"  # a fifth of a second
MARK = ".kingpair.mark."
"""The beginning of the names of files that are there while nodes are asked."""
TRIAL_BYTES = 4 << 20  # that a disk must take; a build that has less room fails soon


class Requirements(NamedTuple):
    """The requirements of a node: version and commit, pyarrow, the digest of the sample, the place
    of the tables, and, in a directory, a file there that the node must see.
    """

    version: str
    commit: str
    pyarrow: str
    sample: str
    where: str
    mark: str


def requirements(where: str, mark: str) -> Requirements:
    ours = components()
    return Requirements(
        ours["kingpair"], ours["commit"], ours["pyarrow"], sample_digest(), where, mark
    )


def lack(what: Requirements) -> str:
    """Returns what this node lacks and what to do, or an empty string if it is fit."""
    here = components()
    if differs := other(here["kingpair"], here["commit"], here["pyarrow"], what):
        return differs
    if sample_digest() != what.sample:
        return (
            f"writes other bytes for {SAMPLE} than this machine; install the same build of "
            "kingpair and of pyarrow on every node"
        )
    if what.mark and not os.path.exists(what.mark):
        return f"cannot write {what.where}; build to a directory or a store that all nodes share"
    return unwritable(what.where) if what.where else ""


@cache
def sample_digest() -> str:
    """Returns the digest of the bytes of a small table, solved here."""
    with TemporaryDirectory(prefix="kingpair-sample-") as at:
        spec = BuildSpec((Material.parse(SAMPLE),), verify=False)
        build(BuildRequest(spec, Path(at)), lambda row: None)
        (table,) = Path(at).glob("*.arrow")
        return sha256(table.read_bytes()).hexdigest()


def unwritable(where: str) -> str:
    """Returns why this machine cannot write the tables, with the path, or an empty string."""
    try:
        if uri_of(where) is None:
            _write_trial(Path(where) / f"{MARK}{os.urandom(8).hex()}")
        else:
            store = store_at(where)
            _write_trial(store.local_path(f"{MARK}{os.urandom(8).hex()}"))
            store.check()
            store.close()
    except CannotBuild as error:
        return f"cannot use the store: {error}"
    except OSError as error:
        return f"cannot write {error.filename or where}: {error.strerror or error}"
    return ""


def _write_trial(path: Path) -> None:
    """Writes a file and removes it."""
    try:
        with open(path, "wb") as file:
            file.write(bytes(TRIAL_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path.parent)) from error
    finally:
        path.unlink(missing_ok=True)


def other(version: str, commit: str, pyarrow: str, what: Requirements) -> str:
    """Returns how another program differs and what to do, or an empty string if it does not."""
    if version != what.version:
        return _instead("kingpair", version, what.version, "version")
    if not commits_may_match(commit, what.commit):
        return _instead("kingpair", f"of commit {commit}", f"of {what.commit}", "build")
    if pyarrow != what.pyarrow:
        return _instead("pyarrow", pyarrow, what.pyarrow, "version")
    return ""


def commits_may_match(commit: str, other: str) -> bool:
    return commit == other or UNKNOWN in (commit, other)


def said(lacks: Iterable[tuple[str, str]]) -> str:
    """Returns one line that names each lack once, with the nodes that have it."""
    addresses = defaultdict[str, list[str]](list)
    for address, what in lacks:
        addresses[what].append(address)
    return "; ".join(
        f"node {first} {what}{_so_do(rest)}" for what, (first, *rest) in addresses.items()
    )


def _so_do(others: list[str]) -> str:
    if not others:
        return ""
    named, more = others[: NAMED - 1], len(others) - (NAMED - 1)
    return f" (the same of {', '.join(named)}{f' and {more} more' if more > 0 else ''})"


def _instead(program: str, theirs: str, ours: str, what: str) -> str:
    return f"has {program} {theirs}, this machine {ours}; install the same {what} on every node"
