"""Facts about the record of a level that is divided: it takes in all of its slices."""

from kingpair.api.answers.progress import status
from kingpair.coordinator.journal.build_records import BuildRecord
from kingpair.coordinator.journal.domain_record import DomainRecord
from kingpair.coordinator.journal.forecast import standing
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import (
    Assigned,
    LevelSolved,
    PassCommitted,
    Record,
    WavesPlanned,
)
from kingpair.coordinator.machine.state import State
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import STRONGER, Depth

FIRST, SECOND = "KPvK.dtc.level3.0-2", "KPvK.dtc.level3.2-4"


def begun(slice_: str, passes: int) -> list[Record]:
    committed = [
        PassCommitted(slice_, STRONGER, Depth(depth), 1, (3,), (2,), 0, False)
        for depth in range(passes)
    ]
    return [Assigned(slice_, 1, (("node", 64),), 0), *committed]


def told(*records: Record) -> tuple[BuildRecord, DomainRecord]:
    spec = BuildSpec((Material.parse("KPvK"),))
    build = BuildRecord("b", 1, spec, 0.0, False, State.RUNNING)
    planned = WavesPlanned((("KPvK.dtc",),), (), ())
    for at, record in enumerate((planned, *records), 1):
        build.apply(Row(at, "b", 0, float(at), record))
    return build, build.domains["KPvK.dtc"].levels[3]


def test_a_level_is_done_once_all_its_slices_are() -> None:
    half = [*begun(FIRST, 2), LevelSolved(FIRST)]
    assert told(*half)[1].state == "solving"
    assert told(*half, *begun(SECOND, 1), LevelSolved(SECOND))[1].state == "done"
    again = told(*half, *begun(SECOND, 1), *begun(FIRST, 0), LevelSolved(SECOND))[1]
    assert again.state == "solving"


def test_passes_of_slices_count_together_and_those_found_again_once() -> None:
    _, level = told(*begun(FIRST, 3), LevelSolved(FIRST), *begun(SECOND, 2), *begun(SECOND, 1))
    assert [pass_.depth for pass_ in level.passes] == [0, 1, 2, 0]
    assert level.decided == 4 * 5


def test_a_slice_is_named_while_it_is_under_way() -> None:
    build, _ = told(*begun(FIRST, 1), LevelSolved(FIRST), *begun(SECOND, 2))
    (line, *_) = status(build, 9.0, None)
    assert "level 4 of 6, structures 3 to 4 of 4, pass 1" in line


def test_the_work_that_is_done_rises_with_each_slice() -> None:
    events = [*begun(FIRST, 2), LevelSolved(FIRST), *begun(SECOND, 3), LevelSolved(SECOND)]
    done = [standing(told(*events[:count])[0]).done for count in range(len(events) + 1)]
    assert done == sorted(done)
    assert done[0] < done[4] < done[-1]
