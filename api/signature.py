"""The signature: one number that says whether the tables are still the same.

    signature = sha256 over a line "MATERIAL DIGEST" for each table that a fixed list needs

The list has both colours winning, like men, a smaller table whose colours are swapped, and a man on
every kind of axis.  A table's digest covers its identity, its counts and the decoded values of each
block, not the bytes of the file: zstd inside another pyarrow may compress the same values into
other bytes.  (One pyarrow writes the same bytes, whatever the threads, the instruction set and the
interruptions: the tests of the build compare files.)

A change of the program either leaves the signature as it is or says the new one.
"""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from coordinator.build import build
from coordinator.request import Published, Request
from workers.material import Material
from workers.metric import Metric
from workers.table import Table, table_name

LISTED = ("KQvKR", "KRvKR", "KBBvK", "KBNvK", "KNNvKR")
METRIC = Metric.DTC


class Signature(NamedTuple):
    """The digest of each table by its material, in the order in which they were built."""

    digests: dict[str, str]

    @property
    def value(self) -> str:
        lines = "".join(f"{material} {digest}\n" for material, digest in self.digests.items())
        return sha256(lines.encode()).hexdigest()

    def lines(self) -> Iterator[str]:
        """The text of tests/golden/signature.txt."""
        for material, digest in self.digests.items():
            yield f"{material:<9} {digest}"
        yield f"signature {self.value}"


def signature(threads: int) -> Signature:
    """Build the list in a directory that is gone afterwards."""
    with TemporaryDirectory(prefix="kingpair-signature-") as at:
        return _signed(Path(at), threads)


def _signed(out: Path, threads: int) -> Signature:
    built: list[Material] = []
    request = Request(tuple(map(Material.parse, LISTED)), out, metrics=(METRIC,), threads=threads)
    build(request, lambda e: built.append(e.subject.material) if isinstance(e, Published) else None)
    return Signature({str(m): _digest(out / table_name(m, METRIC)) for m in built})


def _digest(path: Path) -> str:
    table = Table(path)
    digest = table.digest
    table.close()
    return digest
