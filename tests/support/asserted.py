"""Kernels that check their invariants, in place of the installed ones: import this before anything
of the package.

`make fast` builds them.  Those that are older than a source of the kernels are left alone, and so
is a package that is installed elsewhere.  What tests start as a process of its own runs the
installed kernels.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import kingpair.workers

ROOT = Path(__file__).resolve().parents[2]
NAME = "kingpair.workers._kernels"


def built() -> Path | None:
    """The extension module with assertions, if it is there and of these sources."""
    sources = [ROOT / "CMakeLists.txt", *(ROOT / "workers/kernels").glob("*.?pp")]
    newest = max(source.stat().st_mtime for source in sources)
    found = (ROOT / "build/asserted").glob("_kernels.*.so")
    return next((path for path in found if path.stat().st_mtime >= newest), None)


def is_of_this_checkout() -> bool:
    return (ROOT / "workers").samefile(Path(str(kingpair.workers.__file__)).parent)


def load(path: Path) -> None:
    assert NAME not in sys.modules, "the installed kernels are loaded already"
    spec = spec_from_file_location(NAME, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    kingpair.workers._kernels = module


if is_of_this_checkout() and (path := built()) is not None:
    load(path)
