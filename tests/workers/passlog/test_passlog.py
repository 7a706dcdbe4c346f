"""Facts about the pass log: committed passes are read back after any damage to later bytes."""

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from full_disks import files_end_at
from hypothesis import given, settings
from hypothesis import strategies as st

from kingpair.workers.errors import CannotBuild, DamagedLog
from kingpair.workers.number_types import Depth
from kingpair.workers.passlog.log import LayerChunk, LogFile, PassResult
from kingpair.workers.passlog.writer import PassLog
from kingpair.workers.store.segments import Range

Identity = dict[str, object]
Layers = dict[LayerChunk, list[bytes]]

OURS: Identity = {"material": "KRvK", "winner": 0}
THEIRS: Identity = {"material": "KRvK", "winner": 1}

LAYERS: list[Layers] = [
    {
        LayerChunk(Depth(0), False, 0): [b"mates", b""],
        LayerChunk(Depth(0), False, 16): [b"", b"more mates"],
    },
    {
        LayerChunk(Depth(1), True, 0): [b"", b"won in one"],
        LayerChunk(Depth(1), False, 16): [b"lost", b"in one"],
    },
    {
        LayerChunk(Depth(2), True, 16): [bytes(range(40)), b"\0" * 90],
        LayerChunk(Depth(2), False, 0): [b"x", b"y"],
    },
]
PASSES = [
    PassResult(Depth(0), 0, 3, False),
    PassResult(Depth(1), 5, 2, False),
    PassResult(Depth(2), 300, 1, False),
]


@contextmanager
def begun(path: Path, identity: Identity = OURS) -> Iterator[PassLog]:
    with closing(PassLog(path, identity)) as log:
        yield log


@contextmanager
def read(path: Path) -> Iterator[LogFile]:
    with closing(LogFile(path)) as log:
        yield log


def packed(streams: list[bytes]) -> tuple[bytes, list[int]]:
    ends = [sum(map(len, streams[: i + 1])) for i in range(len(streams))]
    return b"".join(streams), ends


def append(log: PassLog, layers: Layers) -> None:
    for found, streams in layers.items():
        log.append(found, packed(streams))


def write(log: PassLog, passes: range) -> None:
    """And wait until they are durable."""
    for depth in passes:
        append(log, LAYERS[depth])
        log.commit(PASSES[depth]).result()


def held(log: LogFile) -> Layers:
    return {
        found: [stream.tobytes() for stream in streams]
        for chunk in (0, 16)
        for found, streams in log.read_layers([chunk])
    }


def first(passes: int) -> Layers:
    """The layers of the first passes."""
    return {found: streams for layers in LAYERS[:passes] for found, streams in layers.items()}


def commits(path: Path, identity: Identity = OURS) -> list[int]:
    """Write the whole log; the size of the file after the identity and after each commit."""
    with begun(path, identity) as log:
        ends = [path.stat().st_size]
        for depth in range(len(PASSES)):
            write(log, range(depth, depth + 1))
            ends.append(path.stat().st_size)
    return ends


def committed(ends: list[int], sound: int) -> int:
    """The number of passes that end within the first `sound` bytes."""
    return sum(end <= sound for end in ends[1:])


def assert_holds(path: Path, passes: int) -> None:
    with read(path) as log:
        assert log.passes == log.sound_passes() == PASSES[:passes]
        assert log.depth == passes - 1
        assert held(log) == first(passes)


@given(st.lists(st.lists(st.binary(max_size=300), min_size=1, max_size=5), max_size=4))
@settings(max_examples=30, deadline=None)
def test_logged_layers_are_read_back(layers: list[list[bytes]]) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "log"
        passes = [PassResult(Depth(depth), depth * 7, 1, False) for depth in range(len(layers))]
        with begun(path) as log:
            for done, streams in zip(passes, layers, strict=True):
                log.append(LayerChunk(done.depth, True, 0), packed(streams))
                log.commit(done, seconds=done.depth / 8)
        with read(path) as found:
            assert json.loads(found.identity) == OURS
            assert found.passes == found.sound_passes() == passes
            assert found.seconds == {done.depth: done.depth / 8 for done in passes}
            assert held(found) == {
                LayerChunk(Depth(i), True, 0): layer for i, layer in enumerate(layers)
            }


def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    with begun(tmp_path / "log") as log:
        write(log, range(3))
        assert held(log) == first(3)
        assert log.passes == PASSES


def test_a_layer_is_read_as_soon_as_it_was_appended(tmp_path: Path) -> None:
    with begun(tmp_path / "log") as log:
        append(log, LAYERS[0])
        assert held(log) == first(1)


def test_streams_come_in_the_order_of_the_passes(tmp_path: Path) -> None:
    with begun(tmp_path / "log") as log:
        write(log, range(3))
        assert [found.depth for found, _ in log.read_layers([16])] == [0, 1, 2]


def at_once(jobs: Iterable[Callable[[], object]]) -> None:
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_chunks_that_many_threads_append_are_all_kept(tmp_path: Path) -> None:
    parts: Layers = {
        LayerChunk(Depth(1), True, chunk): [b"%d" % chunk * chunk] for chunk in range(40)
    }
    with begun(tmp_path / "log") as log:
        at_once(partial(log.append, found, packed(streams)) for found, streams in parts.items())
        log.commit(PassResult(Depth(1), 40, 0, False))
    with read(tmp_path / "log") as found:
        for part, streams in parts.items():
            ((again, layer),) = found.read_layers([part.chunk])
            assert (again, [stream.tobytes() for stream in layer]) == (part, streams)


def test_a_new_log_replaces_any_file_of_its_name(tmp_path: Path) -> None:
    commits(tmp_path / "log")
    for path in (tmp_path / "log", tmp_path / "fresh"):
        with begun(path, THEIRS) as log:
            assert log.passes == []
            assert held(log) == {}
    assert (tmp_path / "log").read_bytes() == (tmp_path / "fresh").read_bytes()


# Commits


def test_readers_ignore_a_layer_that_was_not_committed(tmp_path: Path) -> None:
    with begun(tmp_path / "log") as log:
        write(log, range(2))
        append(log, LAYERS[2])
    assert_holds(tmp_path / "log", 2)


def depth_of(path: Path) -> int:
    with read(path) as log:
        return log.depth


def test_a_commit_is_made_durable_only_when_all_before_it_is_written(tmp_path: Path) -> None:
    # Others are about the next pass meanwhile, with parts that take a while to be written.
    path, part = tmp_path / "log", packed([bytes(1 << 20)])
    found: dict[int, int] = {}

    def extend(fd: int, end: int, heads: Sequence[Range]) -> None:
        found[end] = depth_of(path)

    def go_ahead(log: PassLog, chunk: int) -> None:
        for depth in range(40):
            log.append(LayerChunk(Depth(depth), True, chunk), part)

    with closing(PassLog(path, OURS, extend)) as log:
        ahead = [threading.Thread(target=go_ahead, args=(log, chunk)) for chunk in range(4)]
        for thread in ahead:
            thread.start()
        depths = count()
        while any(thread.is_alive() for thread in ahead):
            log.commit(PassResult(Depth(next(depths)), 1, 1, False)).result()
    for end in sorted(found, reverse=True):
        os.truncate(path, end)
        assert found[end] >= depth_of(path)


def test_commits_that_wait_are_made_durable_together(tmp_path: Path) -> None:
    begins, goes_on, ends = threading.Event(), threading.Event(), list[int]()

    def extend(fd: int, end: int, heads: Sequence[Range]) -> None:
        begins.set()
        assert goes_on.wait(60)
        ends.append(end)

    with closing(PassLog(tmp_path / "log", OURS, extend)) as log:
        durable = [log.commit(PASSES[0])]
        assert begins.wait(60)
        durable += map(log.commit, PASSES[1:])
        assert not any(commit.done() for commit in durable)
        goes_on.set()
        assert all(commit.result() == "" for commit in durable)
    assert len(ends) == 2
    assert ends[-1] == (tmp_path / "log").stat().st_size


def test_a_store_that_refuses_ends_a_log_and_every_commit_fails(tmp_path: Path) -> None:
    def extend(fd: int, end: int, heads: Sequence[Range]) -> None:
        raise CannotBuild("the store was taken over")

    with closing(PassLog(tmp_path / "log", OURS, extend)) as log:
        with pytest.raises(CannotBuild, match="taken over"):
            log.commit(PASSES[0]).result(60)
        with pytest.raises(CannotBuild, match="taken over"):
            append(log, LAYERS[1])


# Damage


def test_a_file_that_is_not_a_log_has_no_passes(tmp_path: Path) -> None:
    for data in (b"", b"kpl2" + b"not a log" * 100, b"kpl3" + b"not a log" * 100):
        (tmp_path / "log").write_bytes(data)
        assert_holds(tmp_path / "log", 0)


def test_a_log_torn_at_any_byte_keeps_all_commits_before_it(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    whole, torn = (tmp_path / "whole").read_bytes(), tmp_path / "torn"
    for size in range(len(whole) + 1):
        torn.write_bytes(whole[:size])
        assert_holds(torn, committed(ends, size))


def flipped(whole: bytes, at: int) -> bytes:
    data = bytearray(whole)
    data[at] ^= 1 << at % 8
    return bytes(data)


def test_a_flipped_bit_loses_only_passes_after_the_last_sound_commit(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    for at in range(len(whole)):
        (tmp_path / "flipped").write_bytes(flipped(whole, at))
        with read(tmp_path / "flipped") as log:
            # The identity stands first: if it cannot be read, nothing behind it is trusted.
            assert log.sound_passes() == PASSES[: committed(ends, at)], at


def refusals(path: Path) -> Iterator[tuple[LayerChunk, DamagedLog]]:
    """Checks that each layer is read back as it was written or raises DamagedLog; returns these."""
    with read(path) as log:
        for found in (found for chunk in (0, 16) for found in log.layer_chunks(chunk)):
            try:
                assert [stream.tobytes() for stream in log.read_chunk(found)] == first(3)[found]
            except DamagedLog as damage:
                yield found, damage


def test_a_layer_with_a_flipped_bit_raises_damaged_log(tmp_path: Path) -> None:
    ends, path = commits(tmp_path / "whole", THEIRS), tmp_path / "flipped"
    whole, flips = (tmp_path / "whole").read_bytes(), 0
    for at in range(len(whole)):
        path.write_bytes(flipped(whole, at))
        sound = committed(ends, at)
        # A header that does not read back ends the log, at the commit before it.
        assert depth_of(path) in (sound - 1, PASSES[-1].depth)
        for found, damage in refusals(path):
            assert (damage.winner, damage.depth, found.depth) == (1, sound - 1, sound)
            assert str(path) in str(damage)
            flips += 1
    layers = first(3).values()
    assert flips == sum(8 + 8 * len(streams) + len(b"".join(streams)) for streams in layers)


# A full disk


def test_a_full_disk_is_reported_in_one_line_and_committed_passes_are_kept(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    for size in range(ends[0], ends[-1], 41):
        path = tmp_path / f"up to {size}"
        with files_end_at(size), begun(path) as log, pytest.raises(CannotBuild) as refused:
            write(log, range(3))
        assert str(path) in str(refused.value)
        assert "run the same command again" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert path.stat().st_size <= size
        assert_holds(path, committed(ends, size))


def test_nothing_is_written_after_a_failed_write(tmp_path: Path) -> None:
    ends = commits(tmp_path / "whole")
    path = tmp_path / "log"
    with begun(path) as log:
        with files_end_at(ends[1] + 1), pytest.raises(CannotBuild):
            write(log, range(3))
        with pytest.raises(CannotBuild):
            append(log, LAYERS[2])
        with pytest.raises(CannotBuild):
            log.commit(PASSES[1])
    assert_holds(path, 1)
