"""The passes of a material in a build, by partition: what the page shows with its slider."""

from collections.abc import Iterable
from typing import Any

from kingpair.coordinator.machine.records import PassCommitted
from kingpair.workers.table.format import COLUMNS
from kingpair.workers.table.key import TableKey


def partition_passes(key: TableKey, passes: Iterable[PassCommitted]) -> dict[str, Any]:
    """Returns the passes with the positions that each found, in the order of the partitions."""
    return {
        "material": str(key.material),
        "metric": str(key.metric),
        "passes": [
            {
                "winner": COLUMNS[record.winner],
                "depth": record.depth,
                "cells": {"won": record.won, "lost": record.lost},
            }
            for record in passes
        ],
    }
