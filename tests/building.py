"""Building small tables in a directory of one's own, and what then lies in it."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.build import build
from coordinator.request import Event, Planned, Request, Started
from workers.material import Material
from workers.metric import Metric
from workers.table import PLAIN, Counts, Identity, Table
from workers.whole import whole_file
from workers.writing import Part, encode, end_of, head_of, schema_of, write_blocks

CLOSURE = ("KQvKR", "KQvK", "KRvK")


BOTH_METRICS = (Metric.DTC, Metric.DTM)


def built(
    out: Path,
    *names: str,
    force: bool = False,
    memory: int | None = None,
    metrics: tuple[Metric, ...] = (Metric.DTC,),
) -> list[Event]:
    """Build, and all that happened."""
    events: list[Event] = []
    materials = tuple(map(Material.parse, names))
    build(Request(materials, out, metrics, threads=2, force=force, memory=memory), events.append)
    return events


def planned(events: list[Event]) -> Planned:
    (found,) = (event for event in events if isinstance(event, Planned))
    return found


def started(events: list[Event]) -> list[str]:
    return [str(event.subject.material) for event in events if isinstance(event, Started)]


def files(directory: Path) -> dict[str, bytes]:
    """Every file, hidden ones and those of logs too, but for the notes of what passes took."""
    return untimed(
        {
            str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file()
        }
    )


def untimed(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the notes of what passes took, which is something else each time."""
    return {name: data for name, data in files.items() if not name.endswith(".passes.json")}


def finished(tables: Path, *names: str) -> dict[str, bytes]:
    """What a directory holds once these are built: their tables and nothing besides."""
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
    path: Path, identity: Identity, dtype: np.dtype[Any], parts: Iterable[Part], counts: Counts
) -> None:
    """A table of whatever parts, which nobody has solved."""
    schema = schema_of(identity, dtype)
    head = head_of(schema)
    with whole_file(path) as file:
        file.write(head)
        blocks = write_blocks(file, parts)
        file.write(end_of(head, schema, identity, blocks, counts).data)


def replace(path: Path, counts: dict[str, object]) -> str:
    """Another table of the same material, such as another version might have written."""
    old = Table(path)
    identity = Identity(old.material, old.metric, old.smaller)
    columns = [old.block(0, side) for side in (0, 1)]
    part = encode(schema_of(identity, old.dtype), columns[0], columns[1], PLAIN)
    publish(path, identity, old.dtype, [part], counts)
    return Table(path).digest
