"""Which nodes of a cluster are silent: Ray itself takes from eight seconds to a minute to notice.

    check      opens a connection to a node's raylet and waits for its first frame (head.py)
    silent     two checks in a row failed, or the first one ever did
    a node is not silent any more as soon as a check succeeds

A raylet that is stopped still has connections accepted by its kernel, but sends no frame; a host
that is cut off accepts none.  Checks run on threads of their own, because each may take its whole
limit.
"""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait

from kingpair.api.ray.head import reached
from kingpair.workers.errors import CannotBuild

LIMIT_SECONDS = 1.5
PATIENCE = 2  # checks in a row that fail before a node is silent
AT_ONCE = 32  # checks


class SilentNodes:
    """Counts the failed checks of each node.  Has no clock and opens no connection."""

    def __init__(self) -> None:
        self._misses: dict[str, int] = {}

    def keep(self, nodes: Collection[str]) -> None:
        """Forgets all other nodes."""
        self._misses = {node: count for node, count in self._misses.items() if node in nodes}

    def take(self, node: str, answers: bool) -> None:
        before = self._misses.get(node, PATIENCE - 1)  # before it ever answered one is enough
        self._misses[node] = 0 if answers else before + 1

    def __contains__(self, node: str) -> bool:
        return self._misses.get(node, 0) >= PATIENCE


def answers(address: str) -> bool:
    """Whether a raylet answers at this address."""
    try:
        reached(address, LIMIT_SECONDS)
    except CannotBuild:
        return False
    return True


class RayletWatch:
    """Checks the raylets of all nodes from time to time."""

    def __init__(self, check: Callable[[str], bool] = answers) -> None:
        self._check, self._silent = check, SilentNodes()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="raylets")
        self._checks: dict[str, Future[bool]] = {}
        self._known: set[str] = set()

    def silent(self, raylets: Mapping[str, str]) -> set[str]:
        """Returns the silent ones of these nodes, given their addresses, and begins the next check
        of each node.  Waits for a result of nodes that were never checked before.
        """
        self._silent.keep(raylets)
        self._known &= raylets.keys()
        self._take_results()
        for node in raylets.keys() - self._checks.keys():
            self._checks[node] = self._threads.submit(self._check, raylets[node])
        if new := [self._checks[node] for node in raylets.keys() - self._known]:
            wait(new, timeout=2 * LIMIT_SECONDS)
            self._take_results()
        return {node for node in raylets if node in self._silent}

    def _take_results(self) -> None:
        for node, check in list(self._checks.items()):
            if check.done():
                del self._checks[node]
                self._known.add(node)
                self._silent.take(node, check.result())

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
