"""How much of its sets an analysis keeps in memory; the table has the same bytes in each mode.

all     both open sets and both frontiers                                 (analysis.py)
two     both open sets; frontiers walk by walk, from the pass log         (streamed_analysis.py)
one     open_w; open_l lies in a file
walks   two sets of a walk; both open sets lie in files
"""

from enum import StrEnum


class SetsMode(StrEnum):
    ALL = "all"
    TWO = "two"
    ONE = "one"
    WALKS = "walks"

    @property
    def held(self) -> int:
        """The number of open sets that are in memory."""
        return {SetsMode.ONE: 1, SetsMode.WALKS: 0}.get(self, 2)

    @property
    def read(self) -> int:
        """The number of sets that a pass reads at most."""
        return {SetsMode.ONE: 1, SetsMode.WALKS: 3}.get(self, 0)

    @property
    def written(self) -> int:
        """The number of sets that a pass writes at most."""
        return self.filed

    @property
    def filed(self) -> int:
        """The number of open sets that lie in files."""
        return 2 - self.held
