"""Facts about how the service answers: at once what needs no disk, on a thread what may."""

import asyncio
from pathlib import Path

from kingpair.api.http.open_tables import NOW_AND_THEN, OF_LATE, ServedTables
from kingpair.api.settings import Settings
from kingpair.workers.ask.position_report import PositionReport
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.game.rules import parse_fen

LONGEST = parse_fen("8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1")


def test_a_service_that_waited_for_its_tables_answers_at_once_again(
    tables: Path, tmp_path: Path
) -> None:
    served = ServedTables(Settings(tables=tables, state=tmp_path))

    def waited() -> bool:
        def made(report: PositionReport, wait: bool) -> bool:
            answer = report.here.answer
            assert answer is not None
            assert answer.signed == 31
            return wait

        return asyncio.run(served.answer(LONGEST, made))

    for _ in range(OF_LATE):  # each time no table is open
        served.tablebase = Tablebase(1 << 24)
        served.tablebase.add_directory(tables)
        assert waited()
    answers = [waited() for _ in range(OF_LATE * NOW_AND_THEN)]
    assert any(answers)
    assert not any(answers[-NOW_AND_THEN:])
