"""Verifies Syzygy files against our tables, and prints a line for each when it is done."""

import json
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import typer

from kingpair.api.text import count
from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import DamagedTable, ForeignTable, KingpairError, MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.study.syzygy_compare import ComparedFile, compared_or_refused
from kingpair.workers.syzygy.file import MEN_MAX, files_in, material_of_file

Outcome = ComparedFile | DamagedTable | ForeignTable | MissingTableError


def verify(
    tablebase: Tablebase, names: Sequence[str], directory: Path, threads: int, as_json: bool
) -> None:
    """Raises DamagedTable after the last file if one differs or cannot be read, else
    MissingTableError if a table is missing for one: the output says which and how.
    """
    entries = []
    with ThreadPoolExecutor(threads) as pool:
        for path in chosen(names, directory):
            found = compared_or_refused(tablebase.table, path, pool)
            problem = _problem(path, found)
            entries.append(_entry(path, found, problem))
            if not as_json:
                typer.echo(_line(path, found, problem))
    if as_json:
        typer.echo(json.dumps(entries, indent=2))
    verdicts = Counter(each["sound"] for each in entries)
    if wrong := verdicts[False]:
        raise DamagedTable(f"wrong Syzygy files in {directory}: {wrong} of {len(entries)}")
    if left := verdicts[None]:
        raise MissingTableError(
            f"Syzygy files in {directory} not compared, for tables are missing: "
            f"{left} of {len(entries)}"
        )


def chosen(names: Sequence[str], directory: Path) -> list[Path]:
    """The files of a directory, or those of some materials."""
    if not directory.is_dir():
        raise MissingTableError(f"no directory of Syzygy files at {directory}")
    wanted = {Material.parse(name, MEN_MAX) for name in names}
    found = list(files_in(directory).values())
    kept = [path for path in found if not wanted or material_of_file(path) in wanted]
    if not kept:
        what = " or ".join(sorted(map(str, wanted))) or "any material"
        raise MissingTableError(f"no Syzygy files of {what} in {directory}")
    return kept


def _line(path: Path, found: Outcome, problem: KingpairError | None) -> str:
    if isinstance(found, MissingTableError):
        return f"{path.name}: not compared, {found}"
    if problem is not None:
        return str(problem)
    assert isinstance(found, ComparedFile)
    return f"{path.name}: sound, {count(found.compared, 'value')} compared"


def _problem(path: Path, found: Outcome) -> KingpairError | None:
    if not isinstance(found, ComparedFile):
        return found
    if found.first is None:
        return None
    of_all = f"{count(found.differences, 'value')} of {found.compared:,} differ"
    return DamagedTable(f"{path}: {found.first}; {of_all}")


def _entry(path: Path, found: Outcome, problem: KingpairError | None) -> dict[str, Any]:
    numbers = found if isinstance(found, ComparedFile) else None
    first = None if numbers is None else numbers.first
    return {
        "path": str(path),
        "material": str(material_of_file(path)),
        "sound": None if isinstance(found, MissingTableError) else problem is None,
        "problem": None if problem is None else str(problem),
        "compared": None if numbers is None else numbers.compared,
        "differences": None if numbers is None else numbers.differences,
        "first": None if first is None else first._asdict(),
    }
