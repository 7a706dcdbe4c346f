"""Writes deploy/docs/misprints.md: for each printed distance of Wu and Beal that is wrong, a
position of the true distance and a line that shows it.

    kingpair build 000011-220000 100011-220000 010011-220000 --metric dtm --out xiangqi
    python tests/support/misprints.py xiangqi      prints the sections of the page
"""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from kingpair.workers.ask.play import best_line
from kingpair.workers.ask.probe import Tablebase, open_tablebase
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.notation import numbered
from kingpair.workers.game.rules import parse_fen
from kingpair.workers.number_types import STRONGER
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study.longest import collect, longest_of
from kingpair.workers.table.fens import fen_at

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "deploy" / "docs" / "misprints.md"
_WIDTH = 100


def misprints() -> dict[str, int]:
    """The codes of the endgames whose printed distance to mate is wrong, and what was printed."""
    golden = ROOT / "tests" / "golden" / "xiangqi_wu_beal.csv"
    rows = csv.DictReader(golden.read_text().splitlines())
    return {
        row["code"]: int(row["paper_dtm"])
        for row in rows
        if int(row["paper_dtm"]) != max(int(row[f"dtm_longest_{end}"]) for end in ("win", "loss"))
    }


def section(tablebase: Tablebase, code: str) -> str:
    """The section of an endgame: the first of its longest wins, and the best line from there."""
    table = tablebase.table(Material.parse(code), Metric.DTM)
    # Of a win and a loss in as many moves the win.
    longest = max(longest_of(table.counts), key=lambda each: (each.moves, -each.side))
    with Threads(1) as threads:
        place = collect(table, threads, [longest], 1).entries[longest][0]
    fen = fen_at(table.material, place.run, place.slot, longest.side)
    position = parse_fen(fen)
    moves = [step.option.move for step in best_line(tablebase, position, Metric.DTM)]
    line = wrap(" ".join(numbered(position, moves)), _WIDTH, break_on_hyphens=False)
    head = f"## {table.material}: {misprints()[code]} printed, {longest.moves} true"
    ending = "White moves and wins" if longest.side == STRONGER else "Black moves and loses"
    said = f"`{code}`, {ending} in {longest.moves}: `{fen}`"
    return "\n".join([head, "", said, "", "```text", *line, "```", ""])


def sections(page: str) -> Iterator[tuple[str, str]]:
    """The code and the text of each section of the page."""
    for text in re.split(r"(?=^## )", page, flags=re.MULTILINE)[1:]:
        yield text.split("`", 2)[1], text.rstrip() + "\n"


if __name__ == "__main__":
    with open_tablebase(sys.argv[1]) as opened:
        for each in misprints():
            print(section(opened, each))
