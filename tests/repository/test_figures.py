"""Facts about measured figures: each stands once, in deploy/docs/figures.md or cluster.md, and the
README and the changelog quote it from there.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "deploy" / "docs"
MEASURED = re.compile(r"\d[\d.,]* ?(?:µs|ms|s|GiB|MiB|MB|GB|%|x|M/s|/s)(?![\w/])")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose(text: str) -> str:
    """The text without fenced blocks: `test_readme.py` runs those."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def rows(text: str) -> dict[str, str]:
    """The first two columns of the table whose second column is headed `measured`."""
    table = re.search(r"^\| what \| measured \|.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    cells = [line.strip("|").split("|") for line in table[0].splitlines()[2:] if line]
    return {what.strip(): measured.strip() for what, measured, *_ in cells}


def test_the_readme_quotes_rows_of_the_page_of_figures() -> None:
    quoted, measured = rows(text_of(ROOT / "README.md")), rows(text_of(DOCS / "figures.md"))
    assert quoted.items() <= measured.items()


def test_no_other_figure_is_quoted() -> None:
    sources = text_of(DOCS / "figures.md") + text_of(DOCS / "cluster.md")
    for page in ("README.md", "CHANGELOG.md"):
        quoted = set(MEASURED.findall(prose(text_of(ROOT / page))))
        assert quoted <= set(MEASURED.findall(sources)), page


def test_every_figure_names_a_command_that_prints_it() -> None:
    page = text_of(DOCS / "figures.md")
    table = page[page.index("| what | measured |") :].split("\n\n")[0].splitlines()[2:]
    for line in table:
        assert re.search(r"\| `(?:kingpair bench|make)[^`]*` \|$", line), line
