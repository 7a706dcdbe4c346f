"""The exits of a table's analyses.  Each game has its own kinds of captures."""

from kingpair.workers.game.game import CHESS, XIANGQI
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.block_exits import block_exits
from kingpair.workers.solve.exit_columns import Tables
from kingpair.workers.solve.exits import Exits, exits_of
from kingpair.workers.table.key import TableKey

_EXITS = {CHESS.name: exits_of, XIANGQI.name: block_exits}


def exits_of_table(key: TableKey, tables: Tables, threads: Threads) -> tuple[Exits, Exits]:
    """Returns the exits for the analysis of each winner: stronger, weaker."""
    return _EXITS[key.material.game.name](key, tables, threads)
