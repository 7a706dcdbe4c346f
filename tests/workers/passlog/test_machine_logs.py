"""Facts about pass logs on the disks of several machines, which are directories here."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kingpair.workers.number_types import Depth
from kingpair.workers.passlog import machine_logs
from kingpair.workers.passlog.keeper import LogKeeper
from kingpair.workers.passlog.log import LayerChunk, LogFile, PassResult
from kingpair.workers.passlog.machine_logs import MachineLogs

NAME = "folder/stronger.1.0.log"
SIZE = 1000  # of a layer


def machines(home: Path, count: int) -> list[MachineLogs]:
    """Machines in the order of their ring."""
    keepers = sorted(
        (LogKeeper(home / str(number)) for number in range(count)), key=LogKeeper.identity
    )
    return [MachineLogs(keeper.directory, keepers) for keeper in keepers]


def lose(machine: MachineLogs) -> None:
    """Every call to it fails from now on."""
    directory = machine.own.directory
    directory.rename(directory.with_name(f"lost.{directory.name}"))
    directory.touch()


def layer(depth: int) -> bytes:
    return bytes([depth + 1]) * SIZE


def write(machine: MachineLogs, passes: int, losing: dict[int, MachineLogs] | None = None) -> None:
    """Writes a log of so many passes; machines are lost before some of them."""
    with closing(machine.begin(NAME, {"winner": 0}, is_copied=True)) as log:
        for depth in range(passes):
            if losing and depth in losing:
                lose(losing[depth])
            log.append(LayerChunk(Depth(depth), True, 0), (layer(depth), [SIZE]))
            log.commit(PassResult(Depth(depth), 1, 1, False)).result()


def layers_of(log: LogFile) -> list[bytes]:
    return [streams[0].tobytes() for _, streams in log.read_layers([0])]


def opened(machine: MachineLogs) -> list[list[bytes]]:
    """The layers of the log and of each copy that the machine finds."""
    found = []
    for log in machine.opened(NAME):
        with closing(log):
            log.bring([0], 0, 100)
            assert json.loads(log.identity) == {"winner": 0}
            found.append(layers_of(log))
    return found


def whole(passes: int) -> list[bytes]:
    return [layer(depth) for depth in range(passes)]


@pytest.mark.parametrize("piece", [7, SIZE, 1 << 20])
def test_a_log_is_read_from_any_machine(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_logs, "PIECE", piece)
    every = machines(tmp_path, 3)
    write(every[0], 5)
    assert [machine.own.path(NAME).exists() for machine in every] == [True, True, False]
    for machine in every:
        assert opened(machine) == [whole(5)] * 2


def test_a_log_that_is_not_to_be_copied_is_on_one_machine(tmp_path: Path) -> None:
    first, second = machines(tmp_path, 2)
    first.begin(NAME, {"winner": 0}, is_copied=False).close()
    assert not second.own.path(NAME).exists()


def test_a_machine_alone_copies_nothing_and_needs_no_name(tmp_path: Path) -> None:
    alone = MachineLogs(tmp_path)
    write(alone, 2)
    assert opened(alone) == [whole(2)]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["stronger.1.0.log"]


def test_machines_that_see_one_directory_make_no_copies(tmp_path: Path) -> None:
    shared = LogKeeper(tmp_path)
    machine = MachineLogs(tmp_path, [shared, LogKeeper(tmp_path)])
    assert machine.others == []
    write(machine, 2)
    assert opened(machine) == [whole(2)]


@pytest.mark.parametrize("depth", range(5))
def test_a_machine_that_takes_no_more_copies_is_replaced_by_the_next(
    tmp_path: Path, depth: int
) -> None:
    first, second, third = machines(tmp_path, 3)
    write(first, 5, {depth: second})
    assert opened(third) == [whole(5)] * 2


def test_a_commit_says_why_no_other_machine_has_a_copy(tmp_path: Path) -> None:
    first, second, third = machines(tmp_path, 3)
    with closing(first.begin(NAME, {"winner": 0}, is_copied=True)) as log:
        assert log.commit(PassResult(Depth(0), 1, 1, False)).result() == ""
        lose(second)
        assert log.commit(PassResult(Depth(1), 1, 1, False)).result() == ""
        lose(third)
        said = log.commit(PassResult(Depth(2), 1, 1, False)).result()
        assert said.startswith("the last one asked: ")
        assert log.commit(PassResult(Depth(3), 1, 1, False)).result() == said
    with closing(first.begin(NAME, {"winner": 0}, is_copied=False)) as log:
        assert log.commit(PassResult(Depth(0), 1, 1, False)).result() == ""


def test_a_log_is_read_on_from_the_copy_when_a_machine_is_lost_meanwhile(tmp_path: Path) -> None:
    first, second, third = machines(tmp_path, 3)
    write(first, 5)
    with closing(next(third.opened(NAME))) as log:
        lose(first)
        assert layers_of(log) == whole(5)
    with closing(next(third.opened(NAME))) as log:
        lose(second)
        assert log.sound_passes() == []


def test_a_log_of_one_machine_is_copied_to_a_second_and_no_third(tmp_path: Path) -> None:
    every = machines(tmp_path, 4)
    write(every[0], 5)
    lose(every[0])
    left = [MachineLogs(each.own.directory, [e.own for e in every]) for each in every[1:]]
    for machine in (left[2], left[1], left[0]):
        machine.secure(NAME)
    copies = [machine.own.path(NAME).exists() for machine in left]
    assert sum(copies) == 2
    assert copies[0]
    for machine in left:
        assert opened(machine) == [whole(5)] * 2


def test_a_copy_that_lacks_passes_does_not_count_as_one(tmp_path: Path) -> None:
    first, second = machines(tmp_path, 2)
    write(first, 5)
    path = second.own.path(NAME)
    path.write_bytes(path.read_bytes()[: 3 * SIZE])
    first.secure(NAME)
    assert opened(second) == [whole(5)] * 2


@given(flipped=st.integers(0, 5 * (SIZE + 16)))
@settings(max_examples=30, deadline=None)
def test_a_flipped_byte_of_one_machine_costs_no_pass(
    tmp_path_factory: pytest.TempPathFactory, flipped: int
) -> None:
    """The head of a record ends the log there, and the copy has more; a layer is read from it."""
    first, second = machines(tmp_path_factory.mktemp("machines"), 2)
    write(first, 5)
    path = first.own.path(NAME)
    data = bytearray(path.read_bytes())
    data[flipped] ^= 1
    path.write_bytes(data)
    for machine in (first, second):
        found = []
        for log in machine.opened(NAME):
            with closing(log):
                log.bring([0], 0, 100)
                assert layers_of(log) == whole(log.depth + 1)
                found.append(int(log.depth))
        assert max(found) == 4


def test_folders_that_are_removed_are_gone_and_others_stay(tmp_path: Path) -> None:
    keeper = LogKeeper(tmp_path)
    for folder in ("a", "b", "c"):
        keeper.append(f"{folder}/log", 0, b"some", is_last=True)
    keeper.remove("a", "c")
    assert _names(keeper, ("a", "b", "c")) == [[], ["log"], []]


def _names(keeper: LogKeeper, folders: Iterable[str]) -> list[list[str]]:
    return [keeper.names(folder) for folder in folders]
