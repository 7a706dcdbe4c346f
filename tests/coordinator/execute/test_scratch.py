"""Facts about the directory for sets that do not fit in memory: it is made, looked at before
anything begins, and named when it fails; the next run goes on from what was committed.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import killable_build
import pytest
import scratch_build
from building import files, finished
from full_disks import in_a_namespace, needs_mounts

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Assigned, PassCommitted
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.coordinator.plan.estimate import estimate
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.chess.material import Material
from kingpair.workers.number_types import STRONGER
from kingpair.workers.solve.sets_mode import SetsMode

pytestmark = pytest.mark.slow  # builds whose sets lie on a disk

KQVKR = Material.parse("KQvKR")


def built_on_disk(
    out: Path,
    scratch: Path,
    held: int = 0,
    harm: Callable[[], object] | None = None,
    workers: int = 1,
) -> list[int]:
    """Builds with so many bytes of sets in memory.  Returns the passes of the stronger side that
    were committed; after pass 5 of KQvKR something happens to the directory.
    """
    passes = []

    def listen(row: Row) -> None:
        record = row.record
        if isinstance(record, Assigned) and record.domain == "KQvKR.dtc":
            assert len(record.shares) == workers
        if isinstance(record, PassCommitted) and record.domain == "KQvKR.dtc":
            if record.winner == STRONGER:
                passes.append(int(record.depth))
            if harm is not None and passes[-1:] == [5] and record.winner == STRONGER:
                harm()

    request = BuildRequest(BuildSpec((KQVKR,)), out, threads=2, workers=workers, grain=1)
    build(replace(request, held=held, scratch=scratch), listen)
    return passes


def held_in(mode: SetsMode) -> int:
    """The bytes of sets that KQvKR holds in a mode."""
    needs = estimate(KQVKR, 2)
    sets = {SetsMode.ALL: needs.sets} | {each.mode: each.sets for each in needs.smaller_modes}
    assert needs.in_room(needs.memory, sets[mode]).mode is mode
    return sets[mode]


@pytest.mark.parametrize("mode", SetsMode)
def test_a_table_has_the_same_bytes_in_each_mode(
    mode: SetsMode, tables: Path, tmp_path: Path
) -> None:
    built_on_disk(tmp_path / "out", tmp_path / "scratch", held=held_in(mode))
    assert files(tmp_path / "out") == finished(tables)
    made = mode is not SetsMode.ALL
    assert list(tmp_path.glob("scratch")) == [tmp_path / "scratch"] * made
    assert list(tmp_path.glob("scratch/*")) == []


@pytest.mark.parametrize("mode", [SetsMode.TWO, SetsMode.ONE, SetsMode.WALKS])
@pytest.mark.parametrize("workers", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_several_workers_make_the_same_bytes_in_each_mode(
    workers: int, mode: SetsMode, tables: Path, tmp_path: Path
) -> None:
    built_on_disk(tmp_path / "out", tmp_path / "scratch", held_in(mode), workers=workers)
    assert files(tmp_path / "out") == finished(tables)
    assert list(tmp_path.glob("scratch/*")) == []


@needs_mounts
def test_a_scratch_directory_without_room_is_refused_at_once(tmp_path: Path) -> None:
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    script = 'at=$1; shift; mount -t tmpfs -o size=64k tmpfs "$at"; "$@" || :'
    command = scratch_build.command(out, scratch, "KQvKR")
    said = in_a_namespace(script, str(scratch), *command)
    assert said.startswith(
        f"CannotBuild: {scratch} has 64.0 KiB free, the sets that do not fit in memory take"
    )
    assert said.count("\n") == 1
    assert not list(out.glob("*.arrow"))


@needs_mounts
def test_a_scratch_directory_that_fills_up_can_be_given_room(tables: Path, tmp_path: Path) -> None:
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    script = """
        at=$1; shift; mount -t tmpfs -o size=640k tmpfs "$at"
        "$@" --fill 400 || rm "$at/filler"; "$@"
    """
    command = scratch_build.command(out, scratch, "KQvKR")
    said = in_a_namespace(script, str(scratch), *command)
    assert said.startswith(f"CannotBuild: cannot keep sets in {scratch}: No space left on device;")
    assert said.count("\n") == 1
    assert files(out) == finished(tables)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_scratch_directory_that_vanishes_costs_no_committed_pass(
    workers: int, tables: Path, tmp_path: Path
) -> None:
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    with pytest.raises(CannotBuild, match=f"^cannot keep sets in {scratch}: No such file .*"):
        built_on_disk(out, scratch, harm=lambda: shutil.rmtree(scratch), workers=workers)
    # The stronger side's analysis was over.
    assert built_on_disk(out, scratch, workers=workers) == []
    assert files(out) == finished(tables)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_scratch_disk_costs_no_committed_pass(
    workers: int, tables: Path, tmp_path: Path
) -> None:
    scratch, out = tmp_path / "scratch", tmp_path / "out"

    def break_disk() -> None:
        """Puts in place of the files of sets one whose first pages cannot be read or written."""
        broken = os.open("/proc/self/mem", os.O_RDWR)
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd != broken and is_below(scratch, fd):
                os.dup2(broken, fd)
        os.close(broken)

    with pytest.raises(CannotBuild, match=f"^cannot keep sets in {scratch}: Input/output error"):
        built_on_disk(out, scratch, harm=break_disk, workers=workers)
    assert built_on_disk(out, scratch, workers=workers)[0] > 5
    assert files(out) == finished(tables)


@pytest.mark.parametrize(
    ("mode", "workers"),
    [(SetsMode.TWO, 1), (SetsMode.ONE, 1), (SetsMode.WALKS, 1), (SetsMode.WALKS, 2)],
)
def test_a_build_that_is_killed_at_twenty_moments_makes_the_same_bytes(
    mode: SetsMode, workers: int, tables: Path, tmp_path: Path
) -> None:
    scratch, out, drawn = tmp_path / "scratch", tmp_path / "out", Random(20)
    command = scratch_build.command(out, scratch, "KQvKR", held_in(mode), workers)
    for _ in range(20):
        # A run has begun anew by event 4, and commits a pass or two more before it dies.
        moment = drawn.randint(1, 8)
        killed = subprocess.run(
            [*command, "--kill", str(moment)], env=killable_build.environment(), timeout=300
        )
        assert killed.returncode == -signal.SIGKILL, moment
        assert list(scratch.glob("*")) == []
    done = subprocess.run(command, env=killable_build.environment(), timeout=300)
    assert done.returncode == 0
    assert files(out) == finished(tables)


def is_below(directory: Path, fd: int) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}").startswith(str(directory))
    except FileNotFoundError:
        return False
