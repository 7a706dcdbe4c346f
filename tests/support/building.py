"""Building small tables in a directory of one's own, and what then lies in it."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Assigned, Became, Record, WavesPlanned
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.number_types import SIDES
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.table.format import PLAIN, Counts, Table
from kingpair.workers.table.key import TableIdentity
from kingpair.workers.table.writing import (
    EncodedBlocks,
    encode,
    header_of,
    sealed_trailer,
    table_schema,
    write_blocks,
)

CLOSURE = ("KQvKR", "KQvK", "KRvK")


BOTH_METRICS = (Metric.DTC, Metric.DTM)


def built(
    out: Path,
    *names: str,
    force: bool = False,
    memory: int | None = None,
    metrics: tuple[Metric, ...] = (Metric.DTC,),
) -> list[Record]:
    """Builds; returns all that was settled, but for the states of the build."""
    rows: list[Row] = []
    materials = tuple(map(Material.parse, names))
    build(
        BuildRequest(BuildSpec(materials, metrics, force=force), out, threads=2, memory=memory),
        rows.append,
    )
    return settled(rows)


def build_unverified(
    out: Path, *names: str, metrics: tuple[Metric, ...] = (Metric.DTC,), threads: int = 2
) -> None:
    """Builds without a proof, for tests that compare every value themselves."""
    spec = BuildSpec(tuple(map(Material.parse, names)), metrics, verify=False)
    build(BuildRequest(spec, out, threads=threads), lambda row: None)


def settled(rows: list[Row]) -> list[Record]:
    return [row.record for row in rows if not isinstance(row.record, Became)]


def planned(records: list[Record]) -> WavesPlanned:
    (found,) = (record for record in records if isinstance(record, WavesPlanned))
    return found


def started(records: list[Record]) -> list[str]:
    """The materials that were given workers, in the order in which that happened first."""
    domains = [record.domain for record in records if isinstance(record, Assigned)]
    return [domain.split(".")[0] for domain in dict.fromkeys(domains)]


def files(directory: Path) -> dict[str, bytes]:
    """Every file, hidden ones and those of logs too, but for the notes of times."""
    return untimed(
        {
            str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file()
        }
    )


def contents(root: Path) -> dict[Path, bytes | None]:
    """All files below a folder, and the folders themselves."""
    return {path: path.read_bytes() if path.is_file() else None for path in root.rglob("*")}


def untimed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the notes of what passes took and of proofs, whose times differ each time."""
    notes = (".passes.json", ".proof.json")
    return {name: data for name, data in files.items() if not name.endswith(notes)}


def finished(tables: Path, *names: str) -> dict[str, bytes]:
    """Returns the files of a directory once these are built: their tables and no other."""
    return {
        f"{name}.dtc.arrow": (tables / f"{name}.dtc.arrow").read_bytes()
        for name in names or CLOSURE
    }


def copied(tables: Path, out: Path, *names: str) -> Path:
    out.mkdir(exist_ok=True)
    for name in names or CLOSURE:
        shutil.copy(tables / f"{name}.dtc.arrow", out)
    return out


def publish(
    path: Path,
    identity: TableIdentity,
    dtype: np.dtype[Any],
    parts: Iterable[EncodedBlocks],
    counts: Counts,
) -> None:
    """Writes a table of these parts, which need not have been solved."""
    schema = table_schema(identity, dtype)
    head = header_of(schema)
    with atomic_file(path) as file:
        file.write(head)
        blocks = write_blocks(file, parts)
        file.write(sealed_trailer(head, schema, identity, blocks, counts).data)


def replace(path: Path, counts: dict[str, object]) -> str:
    """Another table of the same material, such as another version might have written."""
    old = Table(path)
    identity = TableIdentity(old.key, old.smaller)
    columns = [old.block(0, side) for side in SIDES]
    part = encode(table_schema(identity, old.dtype), columns[0], columns[1], PLAIN)
    publish(path, identity, old.dtype, [part], counts)
    return Table(path).digest
