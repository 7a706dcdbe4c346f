"""The pass logs on the disks of a cluster's nodes: a process on each node that keeps them.

    one node        no process: its workers read the directory themselves
    several nodes   one process each, started before the first worker that is created then.  Workers
                    ask it for ranges of logs, and give it copies (passlog/machine_logs.py)

The processes end with the build.  One that dies is started again on its node; it has nothing but
what is in the directory.  Every wait has a limit, after which the machine counts as one that does
not answer.

Cost: 60 MiB of memory on each node, and what its libraries share.  Bytes go from node to node
through Ray's object stores.
"""

import ctypes
import signal
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from kingpair.api.ray.resource_holder import placed_on
from kingpair.workers.passlog.keeper import LogIndex, LogKeeper

ANSWER_SECONDS = 30.0
REMOVAL_SECONDS = 5.0
_AT_ONCE = 8
_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


class LogProcess(LogKeeper):
    """Keeps the logs of a node."""

    def __init__(self, directory: Path) -> None:
        end_with_node()
        super().__init__(directory)


_REMOTE: Any = ray.remote(
    num_cpus=0, max_restarts=-1, max_task_retries=-1, max_concurrency=_AT_ONCE
)(LogProcess)


@dataclass(frozen=True, slots=True)
class LogMachine:
    """The logs of a node, as other nodes reach them."""

    process: Any

    def identity(self) -> str:
        return str(self._ask(self.process.identity))

    def names(self, folder: str) -> list[str]:
        return list(self._ask(self.process.names, folder))

    def index(self, name: str) -> LogIndex:
        return LogIndex(*self._ask(self.process.index, name))

    def read(self, name: str, first: int, stop: int) -> bytes:
        return bytes(self._ask(self.process.read, name, first, stop))

    def append(self, name: str, at: int, data: bytes, is_last: bool) -> None:
        self._ask(self.process.append, name, at, data, is_last)

    def remove(self, *beginnings: str) -> None:
        self._ask(self.process.remove, *beginnings)

    def _ask(self, method: Any, *words: Any) -> Any:
        try:
            return ray.get(method.remote(*words), timeout=ANSWER_SECONDS)
        except RayError as error:
            raise OSError(str(error).splitlines()[-1]) from error


class LogMachines:
    """The nodes that keep logs in a directory of each; none if there is no such directory."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._machines: dict[str, LogMachine] = {}  # by node
        self._cleared: set[str] = set()  # folders of tables that are there
        self._there: Collection[str] = ()
        self._removals: dict[str, Any] = {}  # by node: the last one

    def on(self, nodes: Collection[str]) -> Sequence[LogMachine]:
        """Returns the machines of the nodes that are there, if there are several."""
        if self._directory is None or len(nodes) < 2:
            return ()
        self._there = frozenset(nodes)
        for node in sorted(nodes - self._machines.keys()):
            process = _REMOTE.options(**placed_on(node)).remote(self._directory)
            self._machines[node] = LogMachine(process)
            self._clear([node], self._cleared)
        return [self._machines[node] for node in sorted(nodes)]

    def clear(self, beginnings: Collection[str]) -> None:
        """Removes what the nodes have in some folders, or some logs.  No node is waited for."""
        self._cleared.update(each for each in beginnings if "/" not in each)
        self._clear(self._machines, beginnings)

    def _clear(self, nodes: Collection[str], beginnings: Collection[str]) -> None:
        for node in nodes:
            self._removals[node] = self._machines[node].process.remove.remote(*beginnings)

    def close(self) -> None:
        """Ends the processes, once what was to be removed is gone on the nodes that are there."""
        left = [removal for node, removal in self._removals.items() if node in self._there]
        with suppress(RayError):
            if left:
                ray.wait(left, num_returns=len(left), timeout=REMOVAL_SECONDS)
            for machine in self._machines.values():
                ray.kill(machine.process)
        self._machines.clear()


def end_with_node() -> None:
    """Makes the kernel end this process as soon as the raylet that started it has ended.

    If a driver is killed, Ray ends its processes.  If a raylet is killed, Ray leaves its processes
    alive, and they would go on to write into the store.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
