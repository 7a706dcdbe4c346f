"""Whether a node may build with us: the same program, the same store.

Asked on the node itself, in a process of its own.  Tables of two programs may differ, and nobody
would see it; so beside the version the commit must be the same, where both are known.  The
instruction set may be another: the bytes are the same.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from api.version import UNKNOWN, components
from workers.errors import CannotBuild
from workers.store import store_at

NAMED = 3  # nodes that lack the same; the others are counted


class Terms(NamedTuple):
    """What a node must have: our program, the place of the tables; a file there of ours, where the
    place is a directory.
    """

    version: str
    commit: str
    where: str
    mark: str


def terms(where: str, mark: str) -> Terms:
    ours = components()
    return Terms(ours["kingpair"], ours["commit"], where, mark)


def lack(what: Terms) -> str:
    """What is wrong with this node, and what to do; nothing, if it is fit."""
    here = components()
    if differs := other(here["kingpair"], here["commit"], what):
        return differs
    if what.mark and not os.access(what.mark, os.R_OK | os.W_OK):
        return f"cannot write {what.where}; build to a directory or a store that all nodes share"
    if what.where and not what.mark:
        try:
            store_at(what.where).check()
        except CannotBuild as error:
            return f"cannot use the store: {error}"
    return ""


def other(version: str, commit: str, what: Terms) -> str:
    """In what another program differs from ours, and what to do; nothing, if it may be ours."""
    if version != what.version:
        return _instead(version, what.version, "version")
    if not may_be_alike(commit, what.commit):
        return _instead(f"of commit {commit}", f"of {what.commit}", "build")
    return ""


def may_be_alike(commit: str, other: str) -> bool:
    return commit == other or UNKNOWN in (commit, other)


def said(lacks: Iterable[tuple[str, str]]) -> str:
    """Nodes, and what each lacks, in one line: each lack once, and whose it is."""
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


def _instead(theirs: str, ours: str, what: str) -> str:
    return f"has kingpair {theirs}, this machine {ours}; install the same {what} on every node"
