"""A part of a walk of seven men, solved with its sets in files: the layers agree with the moves.

Partitions that others own find nothing here: what a king can reach there is open for ever.  So the
part is a game of its own, and a sample of its positions is judged by their moves.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from bitmaps import is_marked, number, squares_of

from kingpair.api.bench.walk_pass import NoExits
from kingpair.workers import _kernels
from kingpair.workers.game.chess.material import Material
from kingpair.workers.index.king_pairs import TURNED, numbers_of
from kingpair.workers.index.share import Share
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Depth, Side
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.memory import Layer
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.reference import Position, is_legal, moves
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_analysis import StreamedAnalysis
from kingpair.workers.solve.walked_exits import ExitsByWalk

PASSES = 3
Placed = tuple[Side, Position]  # the side to move, and where the men stand


def in_the_corner(count: int) -> Share:
    """Partitions among which the weaker king moves near a corner."""
    walk = min(TURNED.walks(WEAKER), key=len)[:count]
    return Share(TURNED, [0 if pair in walk else 1 for pair in TURNED.partitions], 0)


class SolvedPart:
    """The layers of a part that was solved: each is restored from the log when it is asked for."""

    def __init__(self, domain: Domain, exits: ExitsByWalk, folder: Path, pool: Threads) -> None:
        identity = {"partitions": domain.share.own.tolist(), "together": domain.index.together}
        self.domain, self.log = domain, PassLog(folder / "log", identity)
        self._analysis = analysis = StreamedAnalysis(
            domain, STRONGER, exits, pool, self.log, folder, 1, SetsMode.WALKS
        )
        analysis.prepare()
        lost = [analysis.lose_at_once().total]
        self.log.commit(PassResult(Depth(0), 0, lost[0], False)).result()
        self.counts = [(0, lost[0])]
        for depth in map(Depth, range(1, PASSES + 1)):
            won, found = analysis.win(depth).total, analysis.lose(depth).total
            self.log.commit(PassResult(depth, won, found, False)).result()
            self.counts.append((won, found))

    def close(self) -> None:
        self._analysis.close()
        self.log.close()

    def layers(self) -> Iterator[tuple[Side, int, dict[int, np.ndarray]]]:
        """By side to move and depth: the words of each partition, where unmarked rows are empty."""
        rows = self.domain.kernel.rows
        for depth in map(Depth, range(PASSES + 1)):
            for side in SIDES:
                layer = Layer.empty(self.domain.share.held, rows)
                streams = self._analysis._layers.streams(
                    depth, side == STRONGER, self.domain.share.own
                )
                for pair, stream in streams if depth or side == WEAKER else ():
                    _kernels.restore(self.domain.kernel, pair, stream, layer.kernel)
                of_pair = layer.words.reshape(self.domain.share.held, -1)
                own = numbers_of(self.domain.share.own)
                yield side, depth, {p: of_pair[self.domain.share.places[p]] for p in own}


def drawn(part: SolvedPart, each: int) -> set[Placed]:
    """Some positions of each layer, and some legal ones from anywhere."""
    noise, found = np.random.default_rng(0), set[Placed]()
    men, material = len(part.domain.material.letters), part.domain.material
    for side, _, layer in part.layers():
        for pair, words in layer.items():
            some = np.flatnonzero(words)
            for word in noise.choice(some, min(each, len(some)), replace=False).tolist():
                lowest = int(words[word]) & -int(words[word])
                slot = 64 * word + lowest.bit_length() - 1
                found.add((side, (pair, squares_of(men, slot))))
    for pair in numbers_of(part.domain.share.own):
        for _ in range(20 * each):
            position: Position = int(pair), tuple(noise.integers(0, 64, men).tolist())
            found.update((side, position) for side in SIDES if is_legal(material, side, position))
    return found


def depths(part: SolvedPart, wanted: Iterable[Placed]) -> dict[Placed, int]:
    """The depths at which positions were decided."""
    found, left = dict[Placed, int](), set(wanted)
    for side, depth, layer in part.layers():
        here = {
            (at, (pair, squares))
            for at, (pair, squares) in left
            if at == side and pair in layer and is_marked(layer[pair], number(squares))
        }
        found |= dict.fromkeys(here, depth)
    return found


class Rules:
    """The depth of a position by its moves.  Captures lead nowhere: none wins, none escapes."""

    def __init__(self, material: Material, depth_of: dict[Placed, int]) -> None:
        self.material, self.depth_of = material, depth_of

    def after(self, placed: Placed) -> set[Placed]:
        side, position = placed
        other: Side = WEAKER if side == STRONGER else STRONGER
        to = moves(self.material, position, side)
        return {(other, p) for p in to if is_legal(self.material, other, p)}

    def in_check(self, position: Position) -> bool:
        return not is_legal(self.material, STRONGER, position)

    def depth(self, placed: Placed) -> int | None:
        side, position = placed
        after = [self.depth_of.get(each) for each in self.after(placed)]
        known = [depth for depth in after if depth is not None]
        if side == STRONGER:
            within = [depth + 1 for depth in known if depth < PASSES]
            return min(within, default=None)
        if len(known) < len(after):
            return None
        return max(known) if known else self.depth_at_once(position)

    def depth_at_once(self, position: Position) -> int | None:
        return 0 if self.in_check(position) else None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["KQQQQQvK", "KQRNvKBN"])
def test_a_part_of_seven_men_is_solved_as_its_moves_say(name: str, tmp_path: Path) -> None:
    domain = Domain(Material.parse(name, 7), in_the_corner(2))
    with Threads(2) as pool:
        part = SolvedPart(domain, NoExits(domain.material), tmp_path, pool)
        sample = drawn(part, 20)
        rules = Rules(domain.material, {})
        known = depths(part, sample.union(*map(rules.after, sample)))
        part.close()
    rules = Rules(domain.material, known)
    assert {0, 1, 2} <= set(known.values())
    for placed in sample:
        assert known.get(placed) == rules.depth(placed)
