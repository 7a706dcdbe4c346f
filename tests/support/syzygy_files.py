"""The Syzygy files of the golden figures, and python-chess as the oracle that reads them."""

import random
from pathlib import Path

import chess
import chess.syzygy
from boards import scattered

from kingpair.workers.game.chess.fen import parse_fen
from kingpair.workers.syzygy.prober import SyzygyTables

GOLDEN = Path(__file__).parents[1] / "golden" / "syzygy"
PROBED = ("KQvK", "KRvK", "KBvK", "KNvK", "KPvK", "KQvKQ", "KQQvK", "KRvKB", "KRPvK")
"""The materials whose files, and those that their moves lead to, are there."""


def drawn(name: str, chance: random.Random) -> chess.Board:
    """A position of a material; no pawn stands on the first or the last rank."""
    while True:
        board = scattered(name, chance)
        if not board.pawns & chess.BB_BACKRANKS:
            return board


def by_oracle(oracle: chess.syzygy.Tablebase, board: chess.Board) -> tuple[int, int]:
    return oracle.probe_wdl(board), oracle.probe_dtz(board)


def by_ours(tables: SyzygyTables, board: chess.Board) -> tuple[int, int]:
    position = parse_fen(board.fen())
    return tables.probe_wdl(position), tables.probe(position).dtz
