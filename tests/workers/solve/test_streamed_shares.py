"""Facts about several workers whose sets lie on disk: together they log what one in memory logs,
and workers with other shares go on from that.
"""

from pathlib import Path

import pytest
from shared_tables import unproved

from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.index.king_pairs import TURNED
from kingpair.workers.index.share import Share
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Depth, Partition, Side
from kingpair.workers.passlog.history import EMPTY_HISTORY, History, LogRange
from kingpair.workers.passlog.log import PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.sets.domain import Domain
from kingpair.workers.sets.threads import Threads
from kingpair.workers.solve.analysis import Analysis
from kingpair.workers.solve.exits import exits_of
from kingpair.workers.solve.frontiers import PackedFrontier, StepResult
from kingpair.workers.solve.sets_mode import SetsMode
from kingpair.workers.solve.streamed_analysis import StreamedAnalysis
from kingpair.workers.solve.walked_exits import WalkedExits
from kingpair.workers.solve.walks import walks
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.table_store import TableStore

PASSES = 12
SLOW = pytest.mark.slow
CASES = [
    (Metric.DTC, STRONGER),
    pytest.param(Metric.DTM, STRONGER, marks=SLOW),
    pytest.param(Metric.DTM, WEAKER, marks=SLOW),
    pytest.param(Metric.DTZ, STRONGER, marks=SLOW),
    pytest.param(Metric.DTZ, WEAKER, marks=SLOW),
]
THIRDS = [p * 3 // len(TURNED) for p in range(len(TURNED))]
SCATTERED = [p * p % 7 % 2 for p in range(len(TURNED))]
"""Of two workers, one of which has four partitions in seven."""


class StreamedTeam:
    """The analyses of one winner of KQvKR, one for each worker, and what they send each other."""

    def __init__(
        self, metric: Metric, winner: Side, owners: list[int], mode: SetsMode, where: Path
    ) -> None:
        self.threads = Threads(2)
        key = TableKey(Material.parse("KQvKR"), metric)
        smaller = [capture.material for capture in key.material.captures()]
        tables = TableStore(unproved(smaller, metric))
        where.mkdir()
        self.analyses: list[Analysis | StreamedAnalysis] = []
        for number in range(1 + max(owners)):
            share = Share(TURNED, owners, number)
            domain, steps = Domain(key.material, share), metric.passes_per_move
            identity = {"partitions": share.own.tolist(), "together": domain.index.together}
            log = PassLog(where / f"{number}.log", identity)
            if mode is SetsMode.ALL:
                exits = exits_of(key, tables, self.threads)[winner]
                self.analyses.append(
                    Analysis(domain, winner, exits, self.threads, log, passes_per_move=steps)
                )
                continue
            by_walk = WalkedExits(key, winner, tables, self.threads)
            at = log, where, steps, mode
            self.analyses.append(StreamedAnalysis(domain, winner, by_walk, self.threads, *at))
        self._sent: list[dict[int, PackedFrontier]] = []

    def prepare(self, history: History = EMPTY_HISTORY) -> None:
        self._sent = [analysis.prepare(history) for analysis in self.analyses]

    def go_on(self, first: int, last: int) -> list[tuple[int, int]]:
        """Does the passes `first` to `last`; returns what each of them won and lost."""
        found = []
        for depth in map(Depth, range(first, last + 1)):
            won = 0 if depth == 0 else self._taken([a.win(depth, i) for a, i in self.inbound()])
            lost = self._taken(
                [a.lose_at_once() for a in self.analyses]
                if depth == 0
                else [a.lose(depth, i) for a, i in self.inbound()]
            )
            found.append((won, lost))
            for analysis in self.analyses:
                analysis.log.commit(PassResult(depth, won, lost, False)).result()
        return found

    def inbound(self) -> list[tuple[Analysis | StreamedAnalysis, list[PackedFrontier]]]:
        return [
            (analysis, [sent[number] for sent in self._sent if number in sent])
            for number, analysis in enumerate(self.analyses)
        ]

    def _taken(self, results: list[StepResult]) -> int:
        self._sent = [result.frontiers for result in results]
        return sum(result.total for result in results)

    def history(self, last: int) -> History:
        return History([LogRange(analysis.log, 0, last) for analysis in self.analyses])

    def close(self) -> None:
        for analysis in self.analyses:
            analysis.close()
            analysis.log.close()
        self.threads.close()


def layers(history: History) -> dict[tuple[Depth, bool, Partition], bytes]:
    """The streams that hold anything."""
    return {
        (found.depth, found.won, partition): stream.tobytes()
        for found, streams in history.layers(range(len(TURNED)))
        for partition, stream in streams.items()
        if stream.any()
    }


@pytest.mark.parametrize(("metric", "winner"), CASES)
def test_several_workers_log_what_one_in_memory_logs(
    metric: Metric, winner: Side, tmp_path: Path
) -> None:
    alone = StreamedTeam(metric, winner, [0] * len(TURNED), SetsMode.ALL, tmp_path / "alone")
    alone.prepare()
    counted, expected = alone.go_on(0, PASSES), layers(alone.history(PASSES))
    for mode in list(SetsMode)[1:]:
        team = StreamedTeam(metric, winner, THIRDS, mode, tmp_path / mode)
        team.prepare()
        assert team.go_on(0, PASSES) == counted, mode
        assert layers(team.history(PASSES)) == expected, mode
        team.close()
    alone.close()


@pytest.mark.parametrize(("metric", "winner"), CASES)
def test_workers_with_other_shares_go_on_from_any_pass(
    metric: Metric, winner: Side, tmp_path: Path
) -> None:
    whole = StreamedTeam(metric, winner, SCATTERED, SetsMode.ALL, tmp_path / "whole")
    whole.prepare()
    whole.go_on(0, PASSES)
    expected = layers(whole.history(PASSES))
    for committed, mode in zip((0, 3, 6), list(SetsMode)[1:], strict=True):
        rest = StreamedTeam(metric, winner, THIRDS, mode, tmp_path / mode)
        rest.prepare(whole.history(committed))
        rest.go_on(committed + 1, PASSES)
        later = {at: stream for at, stream in expected.items() if at[0] > committed}
        assert layers(rest.history(PASSES)) == later, (mode, committed)
        rest.close()
    whole.close()


def test_the_walks_of_a_share_hold_its_own_partitions_and_those_that_their_king_enters() -> None:
    share = Share(TURNED, SCATTERED, 0)
    domain = Domain(Material.parse("KQvK"), share)
    for side in SIDES:
        there = list(walks(domain, side))
        own = [p for walk in there for p in walk.partitions.tolist()]
        assert sorted(own) == share.own.tolist()
        for walk in there:
            copies = {p for piece in walk.copies for p in piece.tolist()}
            entered = {q for p in walk.partitions.tolist() for q in TURNED.entered[side][p]}
            assert copies == entered - {*walk.partitions.tolist()}
            assert walk.places.keys() == copies | {*walk.partitions.tolist()}
            assert copies <= {*share.halo.tolist()}


def test_a_worker_reads_and_writes_its_share_and_the_copies_of_it(tmp_path: Path) -> None:
    team = StreamedTeam(Metric.DTC, STRONGER, THIRDS, SetsMode.WALKS, tmp_path / "team")
    team.prepare()
    team.go_on(0, 1)
    for analysis, inbound in team.inbound():
        share, a_set = analysis.domain.share, analysis.domain.words * 8
        around = {q for p in share.own for q in TURNED.entered[WEAKER][p]} - {*share.own}
        use = analysis.win(Depth(2), inbound).disk
        assert 0 < use.read <= len(share.own) * a_set
        assert 0 < use.written <= len(share.own) * a_set
        use = analysis.lose(Depth(2), []).disk
        assert 0 < use.read <= (2 * len(share.own) + len(around)) * a_set
        assert 0 < use.written <= (len(share.own) + len(around)) * a_set
    team.close()
