"""Asks each node of a cluster whether it is fit (`fitness`), and keeps the answers.

    asked      a task runs there; a node that does not answer is named once, and still awaited
    fit        it may be used
    unfit      it is passed over until it leaves the cluster
    put off    it could not be asked, or its disk failed: it is asked again after 2, 4, 8, ... s

While nodes are asked, a file with a name drawn by lot lies in the directory of the tables: a node
that sees the same file shares the directory.  A process that is killed meanwhile leaves the file,
and the next build removes it.
"""

import secrets
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayTaskError

from kingpair.api.ray.cluster import line
from kingpair.api.ray.fitness import MARK, lack, requirements
from kingpair.api.ray.resource_holder import on
from kingpair.workers.store.filesystem import uri_of

FIRST_SECONDS = 10.0  # that all nodes may take before a build begins with those that answered
LONGEST_SECONDS = 64.0  # that a node is put off
_LACK: Any = ray.remote(num_cpus=0, max_retries=0)(lack)


class _Question(NamedTuple):
    answer: Any
    since: float
    is_late: bool = False


class _PutOff(NamedTuple):
    until: float
    times: int


class FitnessQuestions:
    """The nodes that were asked, and what came of it.  `out` is the place of the tables."""

    def __init__(self, out: str, limit: float) -> None:
        self._out, self._limit = out, limit
        self._asked: dict[str, _Question] = {}
        self._unfit: set[str] = set()
        self._put_off: dict[str, _PutOff] = {}
        self.fit: set[str] = set()
        self._mark: Path | None = None
        self._has_mark = bool(out) and uri_of(out) is None
        if self._has_mark:
            for left in Path(out).glob(f"{MARK}*"):
                left.unlink(missing_ok=True)

    def close(self) -> None:
        """Removes the file in the directory of the tables."""
        if self._mark is not None:
            with suppress(OSError):
                self._mark.unlink(missing_ok=True)
            self._mark = None

    @property
    def are_open(self) -> bool:
        """Whether nodes have not answered yet."""
        return bool(self._asked) or bool(self._put_off.keys() - self.fit - self._unfit)

    def ask(self, nodes: Iterable[str]) -> None:
        """Asks those that were not asked yet, or whose time has come to be asked again."""
        known, now = self.fit | self._asked.keys() | self._unfit, time.monotonic()
        for node in nodes:
            if node in known or (node in self._put_off and now < self._put_off[node].until):
                continue
            what = requirements(self._out, self._marked())
            asked = _LACK.options(scheduling_strategy=on(node)).remote(what)
            self._asked[node] = _Question(asked, now)

    def _marked(self) -> str:
        if self._has_mark and self._mark is None:
            self._mark = Path(self._out) / f"{MARK}{secrets.token_hex(8)}"
            self._mark.touch()
        return str(self._mark or "")

    def await_answers(self) -> None:
        """Waits for all answers for a while, and for the first one up to the limit."""
        if answers := [asked.answer for asked in self._asked.values()]:
            patience = min(FIRST_SECONDS, self._limit)
            if not ray.wait(answers, num_returns=len(answers), timeout=patience)[0]:
                ray.wait(answers, timeout=self._limit - patience)

    def hear(self) -> dict[str, str]:
        """Takes the answers that are there; returns why nodes have become unfit."""
        lacks: dict[str, str] = {}
        for node, question in list(self._asked.items()):
            if ray.wait([question.answer], timeout=0)[0]:
                del self._asked[node]
                what = _said(question.answer)
                if what == "":
                    self.fit.add(node)
                elif what is None or node in self._put_off:
                    self.put_off(node)
                else:
                    self._unfit.add(node)
                    lacks[node] = what
        if not self._asked:
            self.close()
        return lacks

    def late(self) -> dict[str, str]:
        """Returns, once for each node, which do not answer."""
        now = time.monotonic()
        late = {
            node: question
            for node, question in self._asked.items()
            if now > question.since + self._limit and not question.is_late
        }
        self._asked |= {node: question._replace(is_late=True) for node, question in late.items()}
        said = f"does not answer within {self._limit:.0f} s; see ray status"
        return dict.fromkeys(late, said)

    def put_off(self, node: str) -> None:
        """Skips a node for a time that doubles each time, then asks it again."""
        times = self._put_off[node].times + 1 if node in self._put_off else 1
        pause = min(2.0**times, LONGEST_SECONDS)
        self._put_off[node] = _PutOff(time.monotonic() + pause, times)
        self.fit.discard(node)

    def forget_all_but(self, nodes: Collection[str]) -> None:
        """Nodes that left, or are silent, are asked again when they are there again."""
        self.fit &= set(nodes)
        self._unfit &= set(nodes)
        self._asked = {node: asked for node, asked in self._asked.items() if node in nodes}
        self._put_off = {node: off for node, off in self._put_off.items() if node in nodes}


def _said(answer: Any) -> str | None:
    """Returns what a node lacks; None if it could not be asked."""
    try:
        return str(ray.get(answer))
    except Exception as error:
        if "No module named 'kingpair'" in str(error):
            return "has no kingpair; install kingpair on every node"
        if "No module named 'kingpair." in str(error):
            return "has another kingpair; install the same version on every node"
        return f"cannot be used: {line(error)}" if isinstance(error, RayTaskError) else None
