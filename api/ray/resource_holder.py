"""Holds cores and memory of a node for a build, by a process that does nothing.

A placement group would need no process.  But Ray prepares one placement group at a time: while one
is tried on a node that is silent, those on sound nodes wait too, until the silent node is ended.
Processes are started independently of each other.

Ray passes the request for a process that needs nothing to any node, which may be a silent one, and
the request for a process that needs something to the node of the driver.  So every process of a
build needs a little of the resource that each node has by its address.

This module is loaded by the process that holds, so it imports nothing else of kingpair.
"""

from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

_A_LITTLE = 0.0001  # Ray's smallest amount; each node has one of it


class ResourceHolder:
    """Holds what its process was started with."""

    def is_held(self) -> bool:
        """Answers as soon as the process has begun."""
        return True


_REMOTE: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(ResourceHolder)


def holder(node: str, cores: int, memory: int) -> Any:
    """Returns a process that begins when so much of a node is free."""
    options = placed_on(node) | {"num_cpus": cores, "memory": memory}
    return _REMOTE.options(**options).remote()


def placed_on(node: str) -> dict[str, Any]:
    """Returns the options of a process on this node."""
    own = {f"node:{each['NodeManagerAddress']}" for each in ray.nodes() if each["NodeID"] == node}
    return {
        "scheduling_strategy": on(node),
        "resources": dict.fromkeys(own, _A_LITTLE),
    }


def on(node: str) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(node, soft=False)
