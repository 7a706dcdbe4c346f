"""Tells Ray's autoscaler, if there is one, which nodes a build waits for.

    ask            reserves room for a worker of each domain that waits, on a node that is not there
    withdraw       gives back the room that has been found, for the build to reserve as it needs
    is_launching   whether nodes are on their way

A reservation that finds no room makes an autoscaler add a node.  It ends with this process: a
request by `request_resources` would outlive a build that is killed, and keep the nodes for ever.

Ray makes one reservation at a time.  If it tries one on a node that is silent, all others wait,
those on sound nodes too, until the node is ended.  So a request must not go to a node that is
there: the build looks for free cores on those itself.
"""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import ray
from ray._private.ray_constants import DEBUG_AUTOSCALING_STATUS
from ray.autoscaler.v2.sdk import get_cluster_status
from ray.experimental.internal_kv import _internal_kv_get
from ray.util.placement_group import placement_group, remove_placement_group

from kingpair.coordinator.machine.demand import WantedNode
from kingpair.coordinator.plan.estimate import BASE

_NODE_LABEL = "ray.io/node-id"


class Demand:
    """The nodes that were asked for and have not come."""

    def __init__(self) -> None:
        self._rooms: dict[WantedNode, list[Any]] = {}

    def ask(self, wanted: tuple[WantedNode, ...]) -> None:
        """Asks for these nodes and for no others."""
        counts = Counter(wanted)
        for node, rooms in self._rooms.items():
            for room in rooms[counts[node] :]:
                remove_placement_group(room)
            del rooms[counts[node] :]
        there = {node["NodeID"] for node in ray.nodes()} if counts else set()
        for node, count in counts.items():
            rooms = self._rooms.setdefault(node, [])
            rooms += [_elsewhere(node, there) for _ in range(count - len(rooms))]
        self._rooms = {node: rooms for node, rooms in self._rooms.items() if rooms}

    def withdraw(self) -> None:
        """Gives back the room that was found, before the build looks for free cores."""
        for rooms in self._rooms.values():
            for room in [room for room in rooms if room.wait(0)]:
                remove_placement_group(room)
                rooms.remove(room)


def _elsewhere(node: WantedNode, there: Iterable[str]) -> Any:
    """Reserves room on a node that will have been added to those that are there."""
    bundle = {"CPU": node.cores, "memory": node.memory + BASE}
    selectors = [{_NODE_LABEL: f"!in({','.join(there)})"}]
    return placement_group([bundle], bundle_label_selector=selectors)


def is_launching() -> bool:
    """Whether an autoscaler is adding nodes."""
    return _first_version() or _second_version()


def _first_version() -> bool:
    status = json.loads(_internal_kv_get(DEBUG_AUTOSCALING_STATUS) or "{}")
    report = status.get("autoscaler_report") or {}
    return bool(report.get("pending_launches") or report.get("pending_nodes"))


def _second_version() -> bool:
    with suppress(Exception):  # there is no such autoscaler
        status = get_cluster_status(ray.get_runtime_context().gcs_address)
        return bool(status.pending_launches or status.pending_nodes)
    return False
