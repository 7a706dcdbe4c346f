"""Positions in which capturing en passant decides something: what the end would be without it.

In all of them a pawn has just made a double step beside an enemy pawn.  For each: whether the side
to move would be "mate" or "stalemate" without the capture, or "" if it has other moves; and how
many pawns may lawfully capture.  With none the capture is not lawful, and the end is real.

None of this happens with four men; these were found by searching, with python-chess as judge.
"""

POSITIONS: dict[str, tuple[str, int]] = {
    # Stalemate but for the capture
    "8/8/8/8/4pP2/4K3/4B3/4k3 b - f3 0 1": ("stalemate", 1),
    "8/8/R7/7k/6pP/6K1/8/8 b - h3 0 1": ("stalemate", 1),
    "8/8/1k6/pP6/K7/2r5/8/8 w - a6 0 1": ("stalemate", 1),
    "K7/8/1k6/pP6/8/6q1/8/8 w - a6 0 1": ("stalemate", 1),
    "5K2/5b2/5k2/5Pp1/8/8/8/8 w - g6 0 1": ("stalemate", 1),
    "8/8/8/8/6pP/6B1/5K2/7k b - h3 0 1": ("stalemate", 1),
    "8/8/1b6/pP6/8/7k/8/7K w - a6 0 1": ("stalemate", 1),
    "8/8/8/8/4pPp1/4Q1K1/8/7k b - f3 0 1": ("stalemate", 2),
    "8/3r4/5k1K/5PpP/8/8/8/8 w - g6 0 1": ("stalemate", 2),
    # Mate but for the capture
    "8/8/7p/5K1k/6Pp/8/8/8 b - g3 0 1": ("mate", 1),
    "8/8/8/Pp6/K1k5/4q3/8/8 w - b6 0 1": ("mate", 1),
    "8/8/8/6pP/5k1K/8/8/6n1 w - g6 0 1": ("mate", 1),
    "1N6/8/8/k1K5/pP6/8/8/8 b - b3 0 1": ("mate", 1),
    "8/6Q1/8/7k/6Pp/7K/8/8 b - g3 0 1": ("mate", 1),
    "8/1K6/1R6/k7/pPp5/8/8/8 b - b3 0 1": ("mate", 2),
    "8/8/8/5PpP/5k1K/2q5/8/8 w - g6 0 1": ("mate", 2),
    # Not lawful: stalemate or mate all the same
    "8/8/8/5Q2/4pP2/QK6/8/1k6 b - f3 0 1": ("stalemate", 0),
    "8/8/6K1/8/1Q2Pp1k/5Q2/8/8 b - e3 0 1": ("stalemate", 0),
    "K7/2k5/2b5/Pp6/3q4/8/8/8 w - b6 0 1": ("mate", 0),
    "4b3/8/8/Ppk5/K7/5r2/8/8 w - b6 0 1": ("mate", 0),
    # Not lawful: two men would leave the rank between a king and a slider
    "8/k7/8/K2pP1r1/8/8/8/8 w - d6 0 1": ("", 0),
    "8/8/8/8/2QpP2k/8/6K1/8 b - e3 0 1": ("", 0),
    "8/8/8/8/kpP2R2/3K4/8/8 b - c3 0 1": ("", 0),
    "8/4k3/8/q4pPK/8/8/8/8 w - f6 0 1": ("", 0),
    # Not lawful: the captor is pinned, or the king is in another check
    "8/8/8/8/1K1Pp3/8/k4R2/8 b - d3 0 1": ("", 0),
    "8/1Q6/8/8/6Pp/8/4K3/7k b - g3 0 1": ("", 0),
    # Two pawns could capture, one lawfully
    "8/8/2Q5/8/2pPp1K1/8/6k1/8 b - d3 0 1": ("", 1),
    "4K3/8/8/7k/5pPp/7R/8/8 b - g3 0 1": ("", 1),
    "8/8/K1k5/PpP5/8/q7/8/8 w - b6 0 1": ("", 1),
}
