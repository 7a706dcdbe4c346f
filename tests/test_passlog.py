"""Facts about the pass log: what was committed is there again, whatever happened to the rest."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from disks import files_end_at
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.errors import CannotBuild
from workers.passlog import Found, Pass, PassLog

Identity = dict[str, object]
Layers = dict[Found, list[bytes]]

OURS: Identity = {"material": "KRvK", "winner": 0}
THEIRS: Identity = {"material": "KRvK", "winner": 1}

LAYERS: list[Layers] = [
    {Found(0, False, 0): [b"mates", b""], Found(0, False, 16): [b"", b"more mates"]},
    {Found(1, True, 0): [b"", b"won in one"], Found(1, False, 16): [b"lost", b"in one"]},
    {Found(2, True, 16): [bytes(range(40)), b"\0" * 90], Found(2, False, 0): [b"x", b"y"]},
]
PASSES = [Pass(0, 0, 3, False), Pass(1, 5, 2, False), Pass(2, 300, 1, False)]


@contextmanager
def opened(path: Path, identity: Identity = OURS) -> Iterator[PassLog]:
    log = PassLog(path, identity)
    try:
        yield log
    finally:
        log.close()


def packed(streams: list[bytes]) -> tuple[bytes, list[int]]:
    ends = [sum(map(len, streams[: i + 1])) for i in range(len(streams))]
    return b"".join(streams), ends


def append(log: PassLog, layers: Layers) -> None:
    for found, streams in layers.items():
        log.append(found, packed(streams))


def write(log: PassLog, passes: range) -> None:
    for depth in passes:
        append(log, LAYERS[depth])
        log.commit(PASSES[depth])


def held(log: PassLog) -> Layers:
    return {
        found: [stream.tobytes() for stream in streams]
        for chunk in (0, 16)
        for found, streams in log.streams([chunk])
    }


def first(passes: int) -> Layers:
    """What the first passes found."""
    return {found: streams for layers in LAYERS[:passes] for found, streams in layers.items()}


def commits(path: Path) -> list[int]:
    """Write the whole log; the size of the file after the identity and after each commit."""
    ends = []
    with opened(path) as log:
        ends.append(path.stat().st_size)
        for depth in range(len(PASSES)):
            write(log, range(depth, depth + 1))
            log.flush()
            ends.append(path.stat().st_size)
    return ends


def committed(ends: list[int], sound: int) -> int:
    """How many passes end within the first `sound` bytes."""
    return sum(end <= sound for end in ends[1:])


def assert_holds(path: Path, passes: int) -> None:
    with opened(path) as log:
        assert log.passes == PASSES[:passes]
        assert log.depth == passes - 1
        assert held(log) == first(passes)


@given(st.lists(st.lists(st.binary(max_size=300), min_size=1, max_size=5), max_size=4))
@settings(max_examples=30, deadline=None)
def test_what_was_logged_is_read_back(layers: list[list[bytes]]) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "log"
        with opened(path) as log:
            for depth, streams in enumerate(layers):
                log.append(Found(depth, True, 0), packed(streams))
                log.commit(Pass(depth, depth * 7, 1, False))
        with opened(path) as log:
            assert log.passes == [Pass(depth, depth * 7, 1, False) for depth in range(len(layers))]
            assert held(log) == {Found(i, True, 0): layer for i, layer in enumerate(layers)}


def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    with opened(tmp_path / "log") as log:
        write(log, range(3))
        log.flush()
        assert held(log) == first(3)
        assert log.passes == PASSES


def test_streams_come_in_the_order_of_the_passes(tmp_path: Path) -> None:
    with opened(tmp_path / "log") as log:
        write(log, range(3))
        log.flush()
        assert [found.depth for found, _ in log.streams([16])] == [0, 1, 2]


def test_parts_that_many_threads_append_are_all_kept(tmp_path: Path) -> None:
    parts: Layers = {Found(1, True, chunk): [b"%d" % chunk * chunk] for chunk in range(40)}
    with opened(tmp_path / "log") as log:
        jobs = [
            threading.Thread(target=log.append, args=(found, packed(streams)))
            for found, streams in parts.items()
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        log.commit(Pass(1, 40, 0, False))
    with opened(tmp_path / "log") as log:
        for found, streams in parts.items():
            ((again, read),) = log.streams([found.chunk])
            assert (again, [stream.tobytes() for stream in read]) == (found, streams)


def test_a_log_is_gone_on_with_after_it_is_opened_again(tmp_path: Path) -> None:
    for depth in range(3):
        with opened(tmp_path / "log") as log:
            assert log.depth == depth - 1
            write(log, range(depth, depth + 1))
    assert_holds(tmp_path / "log", 3)
    commits(tmp_path / "at once")
    assert (tmp_path / "log").read_bytes() == (tmp_path / "at once").read_bytes()


def test_a_layer_that_was_not_committed_is_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path / "log") as log:
        write(log, range(2))
        log.flush()
        size = (tmp_path / "log").stat().st_size
        append(log, LAYERS[2])
    assert (tmp_path / "log").stat().st_size > size
    assert_holds(tmp_path / "log", 2)
    assert (tmp_path / "log").stat().st_size == size


def test_the_log_of_another_identity_is_begun_anew(tmp_path: Path) -> None:
    commits(tmp_path / "log")
    with opened(tmp_path / "log", THEIRS) as log:
        assert log.passes == []
        assert held(log) == {}
    with opened(tmp_path / "fresh", THEIRS):
        pass
    assert (tmp_path / "log").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_what_is_no_log_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"kpl2" + b"not a log" * 100)
    assert_holds(tmp_path / "log", 0)
    assert (tmp_path / "log").stat().st_size < 200


def test_a_tail_torn_at_any_byte_loses_that_tail_alone(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    whole, torn = (tmp_path / "whole").read_bytes(), tmp_path / "torn"
    for size in range(len(whole) + 1):
        torn.write_bytes(whole[:size])
        passes = committed(ends, size)
        assert_holds(torn, passes)
        # Nothing but what follows the last commit is cut off; without one, the log begins anew.
        assert torn.read_bytes() == whole[: ends[passes]], size


def test_a_log_torn_at_any_byte_can_be_completed(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    whole, torn = (tmp_path / "whole").read_bytes(), tmp_path / "torn"
    for size in range(0, len(whole), 23):
        torn.write_bytes(whole[:size])
        with opened(torn) as log:
            assert log.depth == committed(ends, size) - 1
            write(log, range(log.depth + 1, 3))
        assert torn.read_bytes() == whole, size


def test_a_flipped_bit_loses_only_what_follows_the_last_good_commit(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    whole, flipped = (tmp_path / "whole").read_bytes(), tmp_path / "flipped"
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        flipped.write_bytes(data)
        # The identity stands first: if it cannot be read, nothing behind it is trusted.
        passes = committed(ends, at)
        assert_holds(flipped, passes)
        assert flipped.read_bytes() == whole[: ends[passes]], at


def write_and_flush(log: PassLog) -> None:
    for depth in range(3):
        write(log, range(depth, depth + 1))
        log.flush()


def test_a_full_disk_is_one_line_and_keeps_what_was_committed(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    for size in range(ends[0], ends[-1], 41):
        path = tmp_path / f"up to {size}"
        with files_end_at(size), opened(path) as log, pytest.raises(CannotBuild) as refused:
            write_and_flush(log)
        assert str(path) in str(refused.value)
        assert "run the same command again" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert path.stat().st_size <= size
        assert_holds(path, committed(ends, size))


def test_a_log_goes_on_once_the_disk_has_room_again(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    path = tmp_path / "log"
    with files_end_at(ends[2] + 1), opened(path) as log, pytest.raises(CannotBuild):
        write_and_flush(log)
    with opened(path) as log:
        assert log.depth == 1
        write(log, range(2, 3))
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
