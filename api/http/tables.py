"""Tables over HTTP: the list, one of them, its statistics, and its file with ranges."""

import logging
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from kingpair.api.answers import catalogue
from kingpair.api.http import ranges
from kingpair.api.http.builds import Service
from kingpair.api.http.open_tables import ServedTables
from kingpair.api.http.probing import ByMetric, answer
from kingpair.api.http.problems import CONFLICT, DOCUMENTED, Refused
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.schemas.tables import (
    Statistics,
    TableDetails,
    TableList,
    TablePasses,
)
from kingpair.api.http.standard import Served
from kingpair.workers.errors import CannotServe, MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.store.filesystem import printable, store_at
from kingpair.workers.table.format import Table
from kingpair.workers.table.key import TableKey
from kingpair.workers.table.parts_file import remove_table_file
from kingpair.workers.table.pass_times import read_pass_times
from kingpair.workers.table.statistics import counts_table, parquet_of, sorted_counts

log = logging.getLogger("kingpair")
router = APIRouter(prefix="/api/v1/tables", tags=["Tables"], responses=DOCUMENTED)
PIECE = 1 << 18
PARQUET = "application/vnd.apache.parquet"
MEDIA = "application/vnd.apache.arrow.file"
BINARY = {"schema": {"type": "string", "format": "binary"}}
Name = Annotated[str, Path(max_length=40, description="In any usual form.", examples=["KQvKR"])]


class OtherSpelling(Exception):
    """The material has another name; the request is to be made with that."""

    def __init__(self, location: str) -> None:
        self.location = location


async def named(material: Name, request: Request) -> Material:
    """The material of a path, if it is spelled as its tables are."""
    found = Material.parse(material)
    if str(found) != material:
        path = request.url.path.replace(f"/tables/{material}", f"/tables/{found}", 1)
        raise OtherSpelling(f"{path}?{request.url.query}" if request.url.query else path)
    return found


Named = Annotated[Material, Depends(named)]


async def redirected(request: Request, error: Exception) -> Response:
    assert isinstance(error, OtherSpelling)
    return RedirectResponse(error.location, 301)


@router.get("", responses=answers(TableList))
async def every(served: Served) -> Response:
    """All tables, by the number of their men; one that cannot be used says why."""
    tables = await run_in_threadpool(served.catalogue.of, served.tablebase.paths)
    return answer({"tables": tables})


@router.get("/{material}", responses=answers(TableDetails))
async def one(material: Named, served: Served, metric: ByMetric = Metric.DTC) -> Response:
    """The figures of a table, the tables that it rests on, and those that rest on it."""
    table = await table_of(served, material, metric)
    return answer(await run_in_threadpool(catalogue.metadata, table, served.tablebase))


@router.get("/{material}/statistics", responses=answers(Statistics))
async def statistics(material: Named, served: Served, metric: ByMetric = Metric.DTC) -> Response:
    """Positions by side to move, result and ply, and the longest, as syzygy-tables.info does."""
    return answer(catalogue.statistics(await table_of(served, material, metric)))


@router.get(
    "/{material}/statistics.parquet",
    response_class=Response,
    responses={200: {"content": {PARQUET: BINARY}, "description": "A row for each number"}},
)
async def statistics_parquet(
    material: Named, served: Served, metric: ByMetric = Metric.DTC
) -> Response:
    """The same counts as columns: material, metric, to_move, result, moves, positions."""
    table = await table_of(served, material, metric)
    rows = counts_table(material, metric, sorted_counts(table.counts))
    return Response(parquet_of(rows).to_pybytes(), media_type=PARQUET)


@router.get("/{material}/passes", responses=answers(TablePasses))
async def passes(material: Named, served: Served, metric: ByMetric = Metric.DTC) -> Response:
    """The passes in which the table was found: what each found, and how long it took."""
    table = await table_of(served, material, metric)
    found = await run_in_threadpool(read_pass_times, table)
    stated = None if found is None else [each.stated() for each in found]
    return answer({"material": str(material), "metric": metric, "passes": stated})


@router.delete("/{material}", status_code=204)
async def delete(
    material: Named, served: Served, service: Service, metric: ByMetric = Metric.DTC
) -> Response:
    """Remove a table.  Downloads under way go on; tables that rest on it can still be asked."""
    for record in service.records.not_deleted():
        if record.is_active and str(TableKey(material, metric)) in record.domains:
            raise Refused(CONFLICT, f"build {record.name} uses {material}; cancel it first")
    await run_in_threadpool(_removed, served, material, metric)
    return Response(status_code=204)


def _removed(served: ServedTables, material: Material, metric: Metric) -> None:
    key, tables = TableKey(material, metric), served.settings.tables
    name = key.file_name
    with closing(store_at(tables)) as store:
        try:
            if not store.has(name):
                raise MissingTableError(f"no table {name} in {printable(tables)}")
            remove_table_file(store, key)
        except OSError as error:
            raise CannotServe(f"cannot remove {name}: {error.strerror or error}") from error
    log.info("table deleted", extra={"fields": {"table": name}})
    served.refresh()


async def table_of(served: ServedTables, material: Material, metric: Metric) -> Table:
    """The opened table; MissingTableError if there is none."""
    return await run_in_threadpool(served.tablebase.table, material, metric)


@router.get(
    "/{material}/file",
    response_class=StreamingResponse,
    responses={
        200: {"content": {MEDIA: BINARY}, "description": "All of it"},
        206: {"description": "The bytes asked for"},
        304: {"description": "What the client has is what there is"},
    },
)
@router.head("/{material}/file", include_in_schema=False)
async def file(
    request: Request, material: Named, served: Served, metric: ByMetric = Metric.DTC
) -> Response:
    """The file itself: Arrow's IPC format, which any Arrow reader opens.  Ranges are served."""
    table = await table_of(served, material, metric)
    return await run_in_threadpool(_file, request, table)


def _file(request: Request, table: Table) -> Response:
    if not table.path.exists():  # removed; what is open can still be read
        raise MissingTableError(f"no table {table.path.name} any more")
    # The digest is of the values; how tightly they are packed shows in the size.
    tag = f'"{table.digest}-{table.bytes:x}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "no-cache",
        "Content-Disposition": f'attachment; filename="{table.path.name}"',
    }
    if ranges.matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    return _bytes(request, table, headers)


def _bytes(request: Request, table: Table, headers: dict[str, str]) -> Response:
    span, size = None, table.bytes
    try:
        if request.headers.get("if-range", headers["ETag"]) == headers["ETag"]:
            span = ranges.span_of(request.headers.get("range"), size)
    except ranges.Unsatisfiable as error:
        asked = {"Content-Range": f"bytes */{size}"}
        raise HTTPException(416, f"no such bytes: {error}", asked) from error
    wanted = span or ranges.Span(0, size)
    headers["Content-Length"] = str(wanted.end - wanted.first)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.first}-{span.end - 1}/{size}"
    status = 206 if span else 200
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=MEDIA)
    return StreamingResponse(_pieces(table, wanted), status, headers, MEDIA)


async def _pieces(table: Table, span: ranges.Span) -> AsyncIterator[bytes]:
    for at in range(span.first, span.end, PIECE):
        yield await run_in_threadpool(table.read_bytes, at, min(at + PIECE, span.end))
