"""The signature: one number that says whether the tables are still the same.

    signature = sha256 over a line "MATERIAL DIGEST" for each table that a fixed list needs

There are two lists, without and with pawns, each with a signature of its own.  The first has both
colours winning, like men, a smaller table whose colours are swapped, and a man on every kind of
axis.  The second counts to mate.  It has pawns of both sides, which capture each other en passant,
and like pawns, whose structures can be their own mirror images.

A table's digest covers its identity, its counts and the decoded values of each
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

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import TablePublished
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey


class SignedList(NamedTuple):
    materials: tuple[str, ...]
    metric: Metric


LISTED = SignedList(("KQvKR", "KRvKR", "KBBvK", "KBNvK", "KNNvKR"), Metric.DTC)
LISTED_WITH_PAWNS = SignedList(("KPPvK", "KPvKP"), Metric.DTM)


class Signature(NamedTuple):
    """The digest of each table by its material, in the order in which they were built."""

    digests: dict[str, str]

    @property
    def value(self) -> str:
        lines = "".join(f"{material} {digest}\n" for material, digest in self.digests.items())
        return sha256(lines.encode()).hexdigest()

    def lines(self) -> Iterator[str]:
        """The text of tests/golden/signature.txt, or of signature_pawns.txt."""
        for material, digest in self.digests.items():
            yield f"{material:<9} {digest}"
        yield f"signature {self.value}"


def signature(threads: int, listed: SignedList = LISTED, held: int | None = None) -> Signature:
    """Builds the list in a directory that is gone afterwards; with `held`, in the modes that hold
    so many bytes of sets, or the least there are, and keep the others on disk.
    """
    with TemporaryDirectory(prefix="kingpair-signature-") as at:
        return _signed(Path(at), threads, listed, held)


def _signed(out: Path, threads: int, listed: SignedList, held: int | None) -> Signature:
    built: list[str] = []

    def listen(row: Row) -> None:
        if isinstance(row.record, TablePublished):
            built.append(row.record.domain)

    materials = tuple(map(Material.parse, listed.materials))
    spec = BuildSpec(materials, metrics=(listed.metric,), verify=False)
    build(BuildRequest(spec, out, threads=threads, held=held), listen)
    keys = map(TableKey.parse, built)
    return Signature({str(key.material): _digest(out / key.file_name) for key in keys})


def _digest(path: Path) -> str:
    table = Table(path)
    digest = table.digest
    table.close()
    return digest
