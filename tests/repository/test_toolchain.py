"""Facts about setting up: a line says what the machine lacks, and compiling shows its steps."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("sh", "env", "uname", "printf")

OLD = "#!/bin/sh\nexit 11\n"  # what .ci/toolchain asks of a Python ends so if it is too old,
NO_VENV = "#!/bin/sh\nexit 12\n"  # if it cannot make environments,
NO_HEADERS = "#!/bin/sh\nexit 13\n"  # and if nothing can be compiled against it
GOOD = "#!/bin/sh\necho /usr/bin/python3\n"
COMPILES = "#!/bin/sh\ncat >/dev/null\n"
COMPILES_NOT = "#!/bin/sh\nexit 1\n"


def machine(at: Path, commands: Mapping[str, str]) -> str:
    """A PATH on which there is nothing but these."""
    for name in (*NEEDED, "cat"):
        found = shutil.which(name)
        assert found is not None
        (at / name).symlink_to(found)
    for name, script in commands.items():
        (at / name).write_text(script, encoding="ascii")
        (at / name).chmod(0o755)
    return str(at)


LACKING: tuple[tuple[str, Mapping[str, str], str], ...] = (
    (
        "no Python",
        {"g++": COMPILES},
        "no usable Python among: python3.11 and later: apt-get install",
    ),
    (
        "an old Python",
        {"python3": OLD, "g++": COMPILES},
        "python3 is older than 3.11: install Python",
    ),
    ("no venv", {"python3": NO_VENV, "g++": COMPILES}, "apt-get install python3-venv"),
    ("no headers", {"python3": NO_HEADERS, "g++": COMPILES}, "apt-get install python3-dev"),
    ("no compiler", {"python3": GOOD}, "no C++ compiler (g++): apt-get install g++"),
    ("an old compiler", {"python3": GOOD, "g++": COMPILES_NOT}, "g++ does not compile C++20"),
)


@pytest.mark.parametrize(
    ("commands", "why"), [row[1:] for row in LACKING], ids=[row[0] for row in LACKING]
)
def test_a_missing_tool_is_reported_in_one_line(
    commands: Mapping[str, str], why: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "toolchain")],
        env={"PATH": machine(tmp_path, commands)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert why in done.stderr


def test_an_old_python_beside_a_good_one_is_passed_over(tmp_path: Path) -> None:
    commands = {"python3.11": GOOD, "python3": OLD, "g++": COMPILES}
    done = subprocess.run(
        ["/bin/sh", str(ROOT / ".ci" / "toolchain")],
        env={"PATH": machine(tmp_path, commands)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "/usr/bin/python3\n", "")


NINJA = "[1/2] Building CXX object CMakeFiles/kernels_v3.dir/workers/kernels/kernels.cpp.o"


def compiled(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "progress"), "sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True)


def test_compiling_shows_its_steps_and_little_else() -> None:
    done = compiled(f"echo preparing; echo '{NINJA}'; echo finished")
    assert done.stdout.splitlines()[0] == "  1 of 2: kernels.cpp (v3)"
    assert done.stdout.splitlines()[1].startswith("  done in 0:")
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 2, "")


def test_compiling_that_fails_shows_everything() -> None:
    done = compiled(f"echo preparing; echo '{NINJA}'; echo 'error: no such type'; exit 3")
    assert done.returncode == 3
    assert done.stderr.splitlines() == ["preparing", NINJA, "error: no such type", ""]
