"""Facts about the README and the pages of deploy/docs: their examples print what they show.

The blocks of a page run in order, in one directory.  A block in `sh` is run.  A block in `text`
right after it is its output, in which a line of three dots stands for any lines; sizes, times and
the gaps between columns may differ.  A block in `python` is a doctest.  Other blocks are not run.
The README starts in an empty directory; other pages have some tables and a service, whose address
replaces the usual one.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from services import running

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = (README, *sorted((ROOT / "deploy" / "docs").glob("*.md")))
LANGUAGES = {"sh", "text", "python", "console", "toml", "promql"}
USUAL = "http://127.0.0.1:8000"


class Block(NamedTuple):
    """A fenced block of a page: its language, its text, and what follows an `sh` block as its
    output.
    """

    page: Path
    language: str
    text: str
    output: str | None = None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = [*fenced.finditer(text), None]
    for match, after in pairwise(found):
        assert match is not None
        shown = after is not None and text[match.end() : after.start()].isspace()
        is_output = shown and after is not None and after[1] == "text" and match[1] == "sh"
        yield Block(page, match[1], match[2], after[2] if after is not None and is_output else None)


def is_compared_elsewhere(block: Block) -> bool:
    """Whether tests/coordinator/plan/test_model.py compares all that the block prints."""
    return block.page.stem == "cluster" and block.text.startswith("kingpair model ")


BLOCKS = [block for page in PAGES for block in blocks(page)]
RUN = [
    block
    for block in BLOCKS
    if block.language in ("sh", "python") and not is_compared_elsewhere(block)
]


def names(found: list[Block]) -> list[str]:
    return [f"{i}-{b.page.stem}-{b.text.split(chr(10))[0][:40]}" for i, b in enumerate(found)]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command, to be put on the path."""
    at = tmp_path_factory.mktemp("bin")
    (at / "kingpair").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kingpair "$@"\n')
    (at / "kingpair").chmod(0o755)
    return at


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The empty directory of a reader of the README."""
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def something(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a reader who has tables, for the other pages."""
    at = tmp_path_factory.mktemp("reader with tables")
    shutil.copytree(tables, at / "tables")
    return at


@pytest.fixture(scope="module")
def url(something: Path) -> Iterator[str]:
    with running("--tables", str(something / "tables"), "--port", "0") as (_, found):
        yield found.rstrip("/")


@pytest.fixture
def place(request: pytest.FixtureRequest, block: Block) -> Path:
    found: Path = request.getfixturevalue("nothing" if block.page == README else "something")
    return found


@pytest.fixture
def script(request: pytest.FixtureRequest, block: Block) -> str:
    """The text of a block, which asks the service that there is."""
    if "curl" not in block.text:
        return block.text
    if shutil.which("curl") is None:
        pytest.skip("an example with curl was not run: apt-get install curl")
    return block.text.replace(USUAL, request.getfixturevalue("url"))


def printed(script: str, at: Path, command: Path) -> str:
    path = os.pathsep.join([str(command), os.environ["PATH"]])
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
    amounts = re.compile(r"\b(?:[\d.]+ to )?[\d.]+ (s|ms|min|[KMG]iB|bytes)\b")
    return [" ".join(amounts.sub(r"# \1", line).split()) for line in output.splitlines()]


def doctested(text: str) -> str:
    """Returns the failures of a doctest, or an empty string."""
    test = doctest.DocTestParser().get_doctest(text, {}, "page", "page", 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def imported(text: str) -> set[str]:
    lines = re.findall(r"^>>> (?:import|from) (.*?)(?: import .*)?$", text, re.MULTILINE)
    return {name.split()[0].split(".")[0] for line in lines for name in line.split(",")}


def test_every_block_says_what_it_is() -> None:
    assert {block.language for block in BLOCKS} <= LANGUAGES


@pytest.fixture(scope="module")
def run_here() -> set[Block]:
    """The blocks that this process has run."""
    return set()


@pytest.fixture
def after_others(block: Block, place: Path, command: Path, run_here: set[Block]) -> None:
    """Runs the earlier commands of the page that another process of the tests has taken."""
    for earlier in RUN[: RUN.index(block)]:
        is_needed = earlier.page == block.page and earlier.language == "sh"
        if is_needed and "curl" not in earlier.text and earlier not in run_here:
            printed(earlier.text, place, command)
            run_here.add(earlier)
    run_here.add(block)


@pytest.mark.usefixtures("after_others")
@pytest.mark.parametrize("block", RUN, ids=names(RUN))
def test_examples_print_what_the_page_shows(
    block: Block, place: Path, script: str, command: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block.language == "sh":
        out = "\n".join(plain(printed(script, place, command))) + "\n"
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_and_targets_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:workers|coordinator|api|deploy|tests)/[\w./]*)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []
    linked = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [name for name in linked if not (page.parent / name).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^\$ make (\w+)", text, re.MULTILINE)
    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.MULTILINE)] == []


def test_every_page_is_reached_from_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"(deploy/docs/{page.name})" not in text] == []
