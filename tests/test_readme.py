"""Facts about the README: what it shows is what happens.

Its blocks are gone through in order, in one directory, as by a reader.  A block in `sh` is run; a
block in `text` right after it is what it prints, where a line of three dots stands for any lines,
and sizes, times and the gaps between columns may differ.  A block in `python` is a doctest.  Any
other block is for the eye alone.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LANGUAGES = {"sh", "text", "python", "console"}


class Block(NamedTuple):
    """A fenced block: its language, its text, and what follows an `sh` block as its output."""

    language: str
    text: str
    output: str | None = None


def blocks() -> Iterator[Block]:
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = [*fenced.finditer(README), None]
    for match, after in pairwise(found):
        assert match is not None
        shown = after is not None and README[match.end() : after.start()].isspace()
        is_output = shown and after is not None and after[1] == "text" and match[1] == "sh"
        yield Block(match[1], match[2], after[2] if after is not None and is_output else None)


BLOCKS = list(blocks())
RUN = [block for block in BLOCKS if block.language in ("sh", "python")]


def names(found: list[Block]) -> list[str]:
    return [f"{i}-{block.text.split(chr(10))[0][:40]}" for i, block in enumerate(found)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the reader sits, with the command on the path."""
    at = tmp_path_factory.mktemp("reader")
    command = at / "bin" / "kingpair"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m api.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return at


def printed(script: str, at: Path) -> str:
    path = os.pathsep.join([str(at / "bin"), os.environ["PATH"]])
    sources = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=at,
        env=os.environ | {"PATH": path, "PYTHONPATH": sources},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pattern(output: str) -> str:
    """Lines as a regular expression for lines that are `plain`."""
    lines = [r"(?:.*\n)*?" if s == "..." else re.escape(s) + r"\n" for s in plain(output)]
    return "".join(lines)


def plain(output: str) -> list[str]:
    """Lines without what differs from run to run and from one zstd to another."""
    amounts = re.compile(r"\b[\d.]+ (s|ms|[KMG]iB|bytes)\b")
    return [" ".join(amounts.sub(r"# \1", line).split()) for line in output.splitlines()]


def doctested(text: str) -> str:
    """What went wrong, if anything."""
    test = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def imported(text: str) -> set[str]:
    lines = re.findall(r"^>>> (?:import|from) (.*?)(?: import .*)?$", text, re.MULTILINE)
    return {name.split()[0].split(".")[0] for line in lines for name in line.split(",")}


def test_every_block_says_what_it_is() -> None:
    assert {block.language for block in BLOCKS} <= LANGUAGES


@pytest.mark.parametrize("block", RUN, ids=names(RUN))
def test_what_is_shown_is_what_happens(
    block: Block, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block.language == "sh":
        out = "\n".join(plain(printed(block.text, place))) + "\n"
        if block.output is not None:
            # Of several commands the last one's output is shown.
            assert re.search(rf"(?:^|\n){pattern(block.output)}$", out), out
        return
    absent = sorted(name for name in imported(block.text) if find_spec(name) is None)
    if absent:
        names = ", ".join(absent)
        pytest.skip(f"an example in Python was not run: {sys.executable} -m pip install {names}")
    monkeypatch.chdir(place)
    assert doctested(block.text) == ""


def test_the_signature_and_the_files_named_are_there() -> None:
    named = re.findall(r"`((?:workers|coordinator|api|tests)/[\w./]*)`", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
    targets = re.findall(r"^\$ make (\w+)", README, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []
