"""Facts about names, lengths and wording that may only get better.

Each list below holds the exceptions of today.  A new exception fails; when one is gone, remove
it from its list.
"""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from test_layout import ROOT, files

FILE_LINES = 300
LONG_FILES = {
    "api/bench/figures.py": 380,
    "api/ray/executor.py": 320,
    "coordinator/execute/build_queue.py": 405,
    "coordinator/journal/database.py": 330,
    "coordinator/machine/step.py": 345,
    "workers/ask/probe.py": 305,
    "workers/solve/analysis.py": 465,
    "workers/solve/open_sets.py": 410,
    "workers/solve/reference.py": 390,
    "workers/store/remote.py": 420,
}
"""The files that are longer, and how long they may be."""

FUNCTION_LINES = 40
LONG_FUNCTIONS = {
    "api/cli/build.py:build": 52,
    "api/cli/export.py:export": 45,
}
"""Commands with many options: most of each is its options and its help."""

RETIRED = {
    "Asker",
    "Chapter",
    "Crew",
    "Door",
    "Elsewhere",
    "Estate",
    "Foreman",
    "Freed",
    "Heard",
    "Heirlooms",
    "Hire",
    "Ledger",
    "Library",
    "Lookout",
    "Parcel",
    "Patient",
    "Roster",
    "Story",
    "Stretch",
    "Subject",
    "Survey",
    "Telling",
    "Told",
    "Verse",
    "Wanted",
    "Watched",
    "Works",
    "Workshop",
}
"""Names of classes that were replaced by plain ones."""

UNUSED = {"is_stalemate", "parse_uci", "position_of"}
"""Functions that the product does not call: the Python interface, and rules for the tests."""
TWIN = "workers/solve/reference"
"""The slow twin defines what the kernels compute; the tests use all of it."""

RIDDLE = re.compile(r"(What|Who|Whoever|Whose|Whatever|Nobody)\b")
"""A docstring that begins so is a riddle; it should say what is done."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Source(NamedTuple):
    """A Python file: its name in the repository, its text and its syntax tree."""

    name: str
    text: str
    tree: ast.Module

    def definitions(self) -> list[Definition]:
        return [node for node in ast.walk(self.tree) if isinstance(node, Definition)]


@cache
def sources() -> tuple[Source, ...]:
    found = []
    for name in files():
        if name.suffix == ".py":
            text = (ROOT / name).read_text(encoding="utf-8")
            found.append(Source(str(name), text, ast.parse(text)))
    return tuple(found)


def product() -> list[Source]:
    return [source for source in sources() if not source.name.startswith("tests/")]


def test_no_file_of_the_product_is_too_long() -> None:
    lengths = {source.name: source.text.count("\n") for source in product()}
    assert {n: lines for n, lines in lengths.items() if lines > LONG_FILES.get(n, FILE_LINES)} == {}


def test_no_function_is_too_long() -> None:
    lengths = {
        f"{source.name}:{each.name}": (each.end_lineno or 0) - each.lineno + 1
        for source in sources()
        for each in source.definitions()
        if not isinstance(each, ast.ClassDef)
    }
    too_long = {
        name: lines
        for name, lines in lengths.items()
        if lines > LONG_FUNCTIONS.get(name, FUNCTION_LINES)
    }
    assert too_long == {}


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict[str, set[str]](set)
    for source in product():
        for each in source.definitions():
            if isinstance(each, ast.ClassDef):
                places[each.name].add(source.name)
    assert {n: p for n, p in places.items() if len(p) > 1} == {}
    assert RETIRED & places.keys() == set()


def test_every_function_and_class_is_used() -> None:
    words = Counter(word for each in product() for word in re.findall(r"\w+", each.text))
    unused = {
        f"{source.name}:{each.name}"
        for source in product()
        if not source.name.startswith(TWIN)
        for each in source.definitions()
        if words[each.name] == 1 and not each.decorator_list and not each.name.startswith("__")
    }
    assert {each for each in unused if each.partition(":")[2] not in UNUSED} == set()


def test_docstrings_say_what_is_done() -> None:
    riddles = [
        f"{source.name}: {docstring.splitlines()[0]}"
        for source in sources()
        for node in (source.tree, *source.definitions())
        if RIDDLE.match(docstring := ast.get_docstring(node) or "")
    ]
    assert riddles == []


def test_tests_are_named_after_facts() -> None:
    names = [each.name for source in sources() for each in source.definitions()]
    assert [n for n in names if re.match("test_(what|who|whoever|whatever|nobody)_", n)] == []


def test_the_signature_is_compared_with_the_golden_one_in_ci() -> None:
    run = Path(ROOT, ".ci", "run").read_text(encoding="utf-8")
    assert "timed make test" in run
    # It is in the slow part, because it builds the tables at every instruction set.
    compared = Path(ROOT, "tests/api/bench/test_signature.py").read_text(encoding="utf-8")
    assert "@pytest.mark.slow" in compared
    assert "signature(threads).lines()) == GOLDEN" in compared
