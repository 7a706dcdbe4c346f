"""What a distance counts to: the metrics that tables come in.

dtc    moves until mate or until a capture leads into a smaller table: Thompson's count, in which
       a loser who is forced to capture has been converted already
dtm    moves until mate
"""

from enum import StrEnum


class Metric(StrEnum):
    """The name is part of a table's file name."""

    DTC = "dtc"
    DTM = "dtm"

    @property
    def counts_to(self) -> str:
        return "mate or conversion" if self is Metric.DTC else "mate"
