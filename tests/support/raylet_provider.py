"""A provider of nodes for Ray's autoscaler: further raylets on this machine.

Ray's own provider for tests takes no node type that has memory, which ours must have: builds ask
for nodes with memory.
"""

from typing import Any

from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class Raylets(FakeMultiNodeProvider):  # type: ignore[misc]
    """Starts raylets with the memory that Ray finds on the machine."""

    def create_node_with_resources_and_labels(
        self, node_config: Any, tags: Any, count: int, resources: Any, labels: Any
    ) -> None:
        without = {name: amount for name, amount in resources.items() if name != "memory"}
        super().create_node_with_resources_and_labels(node_config, tags, count, without, labels)
