"""The import graph of the package as it is installed, from `build/source`.

    python -P -S imports.py lint | graph        with PYTHONPATH=build/source:SITE-PACKAGES

`lint` checks the contracts of pyproject.toml; `graph` prints a JSON object: for each module of ours
what it imports, outside packages included.  To be run with -S, without the finder of the editable
install: that one finds the repository's top level inside the package, tests included.
"""

import json
import os
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def graph() -> dict[str, list[str]]:
    """For each module what it imports directly, outside packages by their top-level names."""
    found: dict[str, list[str]] = json.loads(run("graph").stdout)
    return found


def run(word: str) -> "subprocess.CompletedProcess[str]":
    paths = str(ROOT / "build/source"), sysconfig.get_path("purelib")
    return subprocess.run(
        [sys.executable, "-P", "-S", __file__, word],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )


def upstream(module: str, among: dict[str, list[str]]) -> set[str]:
    """Returns all modules that a module imports, directly or not."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        for imported in among.get(waiting.pop(), ()):
            if imported not in found:
                found.add(imported)
                waiting.append(imported)
    return found


def main(word: str) -> int:
    if word == "lint":
        from importlinter.cli import lint_imports

        return lint_imports(config_filename="pyproject.toml", no_cache=True)
    import grimp

    built = grimp.build_graph("kingpair", include_external_packages=True, cache_dir=None)
    edges = {name: sorted(built.find_modules_directly_imported_by(name)) for name in built.modules}
    json.dump({name: to for name, to in edges.items() if name.startswith("kingpair")}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
