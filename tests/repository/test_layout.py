"""Facts about the repository itself: its layers, its folders, its names.

Nothing here runs the product: grimp reads the import graph from the sources, and the rest is read
from the files that git lists.
"""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import imports

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "coordinator", "workers")
FOLDERS = {*PACKAGES, "deploy", "tests", ".ci"}
ROOT_FILES = {
    ".clang-format",
    ".dockerignore",
    ".editorconfig",
    ".gitignore",
    "CHANGELOG.md",
    "CMakeLists.txt",
    "LICENSE",
    "Makefile",
    "README.md",
    "pyproject.toml",
}
SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
GENERATED = {"build", "dist", "tables", "__pycache__"}

# In brackets, so that this file does not name what it forbids.
REGISTRIES = re.compile(
    r"pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|yarnpkg[.]com|anaconda[.]org"
    r"|(deb|security|ftp|snapshot)[.]debian[.]org|crates[.]io"
)


@cache
def files() -> tuple[Path, ...]:
    """Returns the files that git tracks; outside a checkout, the files that are there."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        tracked = [Path(name) for name in listed.split("\0") if name]
        if tracked:
            return tuple(name for name in tracked if (ROOT / name).is_file())
    return tuple(sorted(untracked_files()))


def untracked_files() -> list[Path]:
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [name for name in names if not any(is_ignored(part) for part in name.parts)]


def is_ignored(part: str) -> bool:
    hidden = part.startswith(".") and part not in FOLDERS | ROOT_FILES
    return hidden or part in GENERATED or part.endswith((".so", ".pyc"))


def modules() -> list[Path]:
    return [name for name in files() if name.suffix == ".py" and name.parts[0] != "tests"]


def project() -> dict[str, object]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(table, dict)
    return table


def test_the_files_are_found() -> None:
    assert {Path("pyproject.toml"), Path("tests/repository/test_layout.py")} <= set(files())
    assert {name.parts[0] for name in modules()} == {*PACKAGES, "deploy"}


def test_the_top_level_holds_three_packages_and_little_else() -> None:
    folders = {name.parts[0] for name in files() if len(name.parts) > 1}
    root_files = {name.parts[0] for name in files() if len(name.parts) == 1}
    assert folders <= FOLDERS
    assert root_files <= ROOT_FILES


def test_imports_point_downwards() -> None:
    checked = imports.run("lint")
    assert checked.returncode == 0, checked.stdout


def test_every_module_opens_with_what_it_is() -> None:
    silent = [
        str(name)
        for name in modules()
        if not ast.get_docstring(ast.parse((ROOT / name).read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [
        str(name)
        for name in files()
        if name.suffix in {".py", ".cpp", ".hpp", ".h", ".js"}
        and SAY_NOTHING & {name.stem, *name.stem.split("_"), *name.parent.parts}
    ]
    assert vague == []


def test_no_file_names_a_package_registry() -> None:
    naming = [
        str(name)
        for name in files()
        if REGISTRIES.search((ROOT / name).read_bytes().decode("utf-8", errors="replace"))
    ]
    assert naming == []


def test_the_version_stands_in_one_place() -> None:
    version = project()["version"]
    assert importlib.metadata.version("kingpair") == version
    literal = re.compile(rf"(?i)version.*\b{re.escape(str(version))}\b")
    sources = [name for name in files() if name.suffix in {".py", ".pyi", ".cpp", ".hpp", ".txt"}]
    elsewhere = [
        str(name) for name in sources if literal.search((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert elsewhere == []


def test_every_imported_package_is_declared() -> None:
    outside = {
        name.split(".")[0]
        for names in imports.graph().values()
        for name in names
        if not name.startswith("kingpair")
    }
    distributions = importlib.metadata.packages_distributions()
    imported = {
        found.replace("_", "-")
        for name in outside - sys.stdlib_module_names
        for found in distributions[name]
    }
    # FastAPI has Starlette in its own interface, pydantic its core.
    assert imported - declared() == {"starlette", "pydantic-core"}


def declared() -> set[str]:
    """The distributions that an install brings."""
    wanted = project()["dependencies"]
    assert isinstance(wanted, list)
    return {re.split("[^a-z-]", line)[0] for line in wanted}


def test_every_module_is_reached_from_the_command() -> None:
    scripts = project()["scripts"]
    assert isinstance(scripts, dict)
    entries = {str(target).partition(":")[0] for target in scripts.values()}
    graph = imports.graph()
    # Python runs `__main__`; the root loads what it exports when it is asked for it.
    entries |= {"kingpair.__main__", "kingpair.api.python"}
    # The reference twins are the definition that the tests hold the kernels to.
    entries |= {"kingpair.workers.solve.reference", "kingpair.workers.solve.reference_pawns"}
    assert entries <= graph.keys()
    reached = entries.union(*(imports.upstream(entry, graph) for entry in entries))
    parents = {str(parent).replace("/", ".") for name in reached for parent in _parents(name)}
    assert graph.keys() - reached - parents == set()


def _parents(module: str) -> "Sequence[Path]":
    return Path(module.replace(".", "/")).parents
