"""The partitions of a material by the worker that owns them, where the workers border, and what
each sent to each, in the last pass and in all.
"""

from itertools import permutations
from typing import Any

from kingpair.api.answers.builds import shares_told
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.plan.closure import layout
from kingpair.coordinator.plan.cut import Owners, cut
from kingpair.coordinator.plan.domains import Layout


def owners_told(domain: DomainRecord) -> dict[str, Any]:
    """Returns the worker of each king pair; nothing if no workers share the king pairs of it."""
    king_pairs, count = layout(), len(domain.shares)
    is_shared = count > 0 and sum(number for _, number in domain.shares) == king_pairs.partitions
    owners = cut(king_pairs, domain.proportions or (1,) * count) if is_shared else ()
    sent = {(a, b): count for a, b, count in domain.sent}
    return {
        "material": str(domain.material),
        "metric": str(domain.metric),
        "shares": shares_told(domain.shares if is_shared else ()),
        "owners": list(owners),
        "borders": [
            {
                "sender": a,
                "receiver": b,
                "partitions": _border(king_pairs, owners, a, b),
                "bytes": sent.get((a, b), 0),
                "bytes_in_all": domain.sent_in_all.get((a, b), 0),
            }
            for a, b in (permutations(range(count), 2) if is_shared else ())
        ],
    }


def _border(graph: Layout, owners: Owners, sender: int, receiver: int) -> list[int]:
    """Returns the partitions of a worker that have a neighbour at another worker."""
    return [
        partition
        for partition, owner in enumerate(owners)
        if owner == sender and any(owners[q] == receiver for q in graph.neighbours[partition])
    ]
