"""The cost of sets that lie on disk (solve/sets_mode.py): what passes read and write, and the time.

A pass reads and writes each set at most as often as its mode says; one that finds nothing among
the partitions of a walk does not touch them.  The passes are those of the deepest material known of
so many men, so these are bounds: KRBvKBN, which has 98 passes of 243, moved a fifth of this.
"""

from typing import NamedTuple

from kingpair.coordinator.plan.closure import winners_of
from kingpair.coordinator.plan.estimate import Estimate
from kingpair.coordinator.plan.pass_statistics import DEEPEST
from kingpair.workers.game.metric import Metric

RATE = 1e9  # bytes a second of the disk that times are given for


class DiskTraffic(NamedTuple):
    """The bytes that sets on disk move at most: in a pass, and in all passes of a material."""

    read_by_pass: int
    written_by_pass: int
    read: int
    written: int

    @property
    def seconds(self) -> float:
        """The time that a disk of RATE takes for it."""
        return (self.read + self.written) / RATE


def disk_traffic(needs: Estimate, metric: Metric) -> DiskTraffic:
    """Returns what a material moves in the mode of an estimate."""
    material, mode, a_set = needs.material, needs.mode, needs.bitmap
    analyses = len(winners_of(material))
    passes = analyses * DEEPEST[metric].get(material.men, max(DEEPEST[metric].values()))
    read, written = mode.read * a_set, mode.written * a_set
    opened = analyses * mode.filed * a_set  # they are written once before the first pass
    return DiskTraffic(read, written, passes * read, passes * written + opened)
