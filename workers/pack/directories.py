"""Packs and unpacks the tables of a directory into another one, smaller materials first."""

from collections.abc import Iterator
from pathlib import Path

from kingpair.workers.ask.probe import Tablebase
from kingpair.workers.errors import CannotBuild
from kingpair.workers.pack.unpack import WholeTables, unpack
from kingpair.workers.sets.threads import Threads
from kingpair.workers.store.atomic_file import atomic_file
from kingpair.workers.store.filesystem import store_at, uri_of
from kingpair.workers.table.dense_writing import can_be_dense, pack_dense
from kingpair.workers.table.format import Compression, Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.packed import PACKED, PackedFile, pack

_PIECE = 8 << 20


def pack_directory(
    tablebase: Tablebase, out: Path, packing: Compression | None, threads: Threads
) -> Iterator[PackedFile]:
    """Packs every table, but copies those of Chinese chess.  Yields each file.

    Without `packing` the files are dense; those of three men are packed.
    """
    _prepare(tablebase, out)
    for key in _keys(tablebase):
        table, path = tablebase.table(*key), out / key.file_name
        if not key.material.game.is_packed:
            table.require_whole()
            _copy(table, path)
            yield PackedFile(key, table.digest, table.bytes, table.bytes, None)
        elif packing is None and can_be_dense(table):
            yield pack_dense(table, path, threads)
        else:
            yield pack(table, path, packing or PACKED, threads)


def unpack_directory(tablebase: Tablebase, out: Path, threads: Threads) -> Iterator[Table]:
    """Unpacks every packed table and copies the others.  Yields the tables of `out`."""
    _prepare(tablebase, out)
    written: dict[TableKey, Table] = {}
    whole = WholeTables(lambda key: written.get(key) or tablebase.table(*key), threads)
    for key in _keys(tablebase):
        table, path = tablebase.table(*key), out / key.file_name
        if table.is_whole:
            _copy(table, path)
        else:
            table.check()
            unpack(table, whole, path, threads)
        written[key] = Table(path)
        yield written[key]


def _copy(table: Table, path: Path) -> None:
    with atomic_file(path) as file:
        for at in range(0, table.bytes, _PIECE):
            file.write(table.read_bytes(at, min(at + _PIECE, table.bytes)))


def _keys(tablebase: Tablebase) -> list[TableKey]:
    """The tables of a directory, each after those that it rests on."""
    keys = [key for path in tablebase.paths if (key := TableKey.of_file(path.name))]
    return sorted(keys, key=lambda key: (key.material.men, key.material.letters.count("P"), key))


def _prepare(tablebase: Tablebase, out: Path) -> None:
    """Makes the directory.  Raises CannotBuild if it cannot be one."""
    if uri_of(out) is not None:
        raise CannotBuild(f"cannot write {out}: choose a directory of this machine")
    if any(out.resolve() == each.resolve() for each in tablebase.directories):
        raise CannotBuild(
            f"cannot write into {out}: it holds the tables to be read; choose another"
        )
    store_at(out).check()
