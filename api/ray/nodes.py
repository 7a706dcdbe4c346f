"""Asks every node of a Ray cluster the same question."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

Said = TypeVar("Said")
WAIT_SECONDS = 60.0


def asked(question: Callable[[], Said]) -> Iterator[tuple[str, Said | str]]:
    """Yields the address of each node and its answer, or a line that says why there is none."""
    ask = ray.remote(num_cpus=0, max_retries=0)(question)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    answers = [
        ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in nodes
    ]
    for node, answer in zip(nodes, answers, strict=True):
        try:
            yield node["NodeManagerAddress"], ray.get(answer, timeout=WAIT_SECONDS)
        except Exception as error:
            yield node["NodeManagerAddress"], " ".join(str(error).split())[-200:]
