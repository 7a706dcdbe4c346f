"""Facts about the folders that a run of the tests makes."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
import run_folders


def folder_of(source: str) -> Path:
    """The folder that a process makes which then ends without removing it."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import run_folders; print(run_folders.made(), flush=True)\n{source}",
        ],
        cwd=Path(run_folders.__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def test_a_killed_run_leaves_nothing_to_the_next_but_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    abandoned, young = folder_of("import os; os._exit(0)"), folder_of("")
    held = tmp_path / f"{run_folders.PREFIX}held"
    held.mkdir()
    for folder in (abandoned, held):
        os.utime(folder, (0, 0))
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    run_folders.remove_abandoned(tmp_path)
    os.close(lock)
    assert [folder.exists() for folder in (abandoned, young, held)] == [False, True, True]
