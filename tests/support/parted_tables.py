"""A table in parts, made of one that is a single file by cutting it anywhere."""

from collections.abc import Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import ListedPart, manifest_line
from kingpair.workers.table.seal import read_trailer


def parted(path: Path, out: Path, cuts: Iterable[int]) -> Path:
    """Writes the table into another directory, cut at these bytes; the path of its manifest."""
    data = path.read_bytes()
    with closing(pa.memory_map(str(path))) as file:
        end = read_trailer(file).at
    key = TableKey.of_file(path.name)
    assert key is not None
    (out / key.parts_folder).mkdir()
    listed = []
    for number, (start, stop) in enumerate(pairwise([0, *sorted(cuts), end])):
        listed.append(ListedPart(f"{key.parts_folder}/{number:03}.cut", stop - start))
        (out / listed[-1].name).write_bytes(data[start:stop])
    (out / path.name).write_bytes(manifest_line(listed) + data[end:])
    return out / path.name
