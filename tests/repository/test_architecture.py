"""Facts about deploy/docs/architecture.md: the functions and rooms that it names exist."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest
from test_layout import ROOT, modules

PAGE = (ROOT / "deploy" / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w.]+:[\w.]+)`", PAGE)))


def file_of(module: str) -> Path:
    """A module's file; compiled modules have a stub."""
    path = ROOT.joinpath(*module.split("."))
    return next(p for p in map(path.with_suffix, (".py", ".pyi")) if p.exists())


def names_in(body: list[ast.stmt], before: str = "") -> set[str]:
    found = set[str]()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(before + node.name)
        if isinstance(node, ast.ClassDef):
            found |= names_in(node.body, f"{node.name}.")
    return found


@pytest.mark.parametrize("named", NAMED)
def test_a_function_of_the_page_exists(named: str) -> None:
    module, _, name = named.partition(":")
    assert name in names_in(ast.parse(file_of(module).read_text(encoding="utf-8")).body)


def way_of_a_pass() -> list[list[str]]:
    """The functions of each table of that section, in order."""
    section = PAGE.partition("## The way of a pass")[2].partition("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)
    return [re.findall(r"^\| `([\w.]+:[\w.]+)` \|", table, re.MULTILINE) for table in tables]


def source_of(named: str) -> str:
    module, _, name = named.partition(":")
    text = file_of(module).read_text(encoding="utf-8")
    body: list[ast.stmt] = ast.parse(text).body
    for part in name.split("."):
        found = (node for node in body if getattr(node, "name", None) == part)
        node = next(found)
        assert isinstance(node, ast.FunctionDef | ast.ClassDef)
        body = node.body
    return ast.get_source_segment(text, node) or ""


@pytest.mark.parametrize(
    ("caller", "called"),
    [pair for table in way_of_a_pass() for pair in pairwise(table)],
)
def test_a_function_on_the_way_of_a_pass_names_the_next(caller: str, called: str) -> None:
    name = re.split(r"[:.]", called)[-1]
    # The machine finds its handlers in tables of its modules.
    by_table = {"_answered": "_HANDLERS", "_prepared": "_AFTER"}
    assert re.search(rf"\b({name}|{by_table.get(name, name)})\b", source_of(caller))


def test_the_way_of_a_pass_is_short() -> None:
    functions = [named for table in way_of_a_pass() for named in table]
    assert len(functions) <= 14
    assert len({named.partition(":")[0] for named in functions}) <= 8


def test_both_ways_are_shown() -> None:
    assert len(NAMED) > 20
    assert {name.split(".")[0] for name in NAMED} == {"api", "coordinator", "workers"}


def test_every_room_is_drawn() -> None:
    rooms = {name.parts[1] for name in modules() if len(name.parts) > 2} - {"kingpair"}
    drawing = PAGE.partition("```text")[2].partition("```")[0]
    assert {room for room in rooms if not re.search(rf"\b{room}\b", drawing)} == set()
