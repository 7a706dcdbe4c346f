"""The exits of a table's analyses.  Each game has its own kinds of captures."""

from kingpair.workers.sets.threads import Chunk, Threads
from kingpair.workers.solve.block_exits import block_exits
from kingpair.workers.solve.exit_columns import Tables
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.table.key import TableKey


def exits_of_table(
    key: TableKey, tables: Tables, threads: Threads, partitions: Chunk | None
) -> tuple[Exits, Exits]:
    """Returns the exits for the analysis of each winner: stronger, weaker; in chess those in some
    partitions, if they are named.
    """
    if key.material.game.frame:
        return block_exits(key, tables, threads)
    return exits_of(key, tables, threads, partitions=partitions)
