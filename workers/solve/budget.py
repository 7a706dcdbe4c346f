"""The memory of an analysis besides its sets, which the coordinator plans for.

The undo of the last passes has at most the bytes of a set, divided by UNDO.  Where a set lies in a
file, AHEAD pieces of a walk are in memory beside those that threads work on: read ahead, or not yet
written.
"""

UNDO = 2
AHEAD = 2


def walk_piece(together: int) -> int:
    """Returns the partitions of a piece of a walk, where so many make a chunk of other analyses.

    Smaller pieces take less memory; a call for each takes a tenth more time with five men.
    """
    return max(1, together // 4)
