"""Tables over HTTP: the list, one of them, its statistics, and its file with ranges."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import closing
from io import FileIO
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from api import catalogue, ranges
from api.service.building import AtWork
from api.service.holding import Holding
from api.service.probing import ANSWERED, ByMetric, answer
from api.service.problems import CONFLICT, DOCUMENTED, Refused
from api.service.standard import Held
from workers.errors import CannotServe, MissingTableError
from workers.material import Material
from workers.metric import Metric
from workers.statistics import arrow_table, in_order, parquet_of
from workers.store import shown, store_at
from workers.subject import Subject
from workers.table import Table, table_name

log = logging.getLogger("kingpair")
router = APIRouter(prefix="/api/v1/tables", tags=["Tables"], responses=DOCUMENTED)
PIECE = 1 << 18
PARQUET = "application/vnd.apache.parquet"
MEDIA = "application/vnd.apache.arrow.file"
Name = Annotated[str, Path(max_length=40, description="In any usual form.", examples=["KQvKR"])]


class Elsewhere(Exception):
    """The material has another name; the request is to be made with that."""

    def __init__(self, location: str) -> None:
        self.location = location


async def named(material: Name, request: Request) -> Material:
    """The material of a path, if it is spelled as its tables are."""
    found = Material.parse(material)
    if str(found) != material:
        path = request.url.path.replace(f"/tables/{material}", f"/tables/{found}", 1)
        raise Elsewhere(f"{path}?{request.url.query}" if request.url.query else path)
    return found


Named = Annotated[Material, Depends(named)]


async def redirected(request: Request, error: Exception) -> Response:
    assert isinstance(error, Elsewhere)
    return RedirectResponse(error.location, 301)


@router.get("", responses=ANSWERED)
async def every(held: Held) -> Response:
    """All tables, by the number of their men; one that cannot be used says why."""
    tables = await run_in_threadpool(held.catalogue.of, held.tablebase.paths)
    return answer({"tables": tables})


@router.get("/{material}", responses=ANSWERED)
async def one(material: Named, held: Held, metric: ByMetric = Metric.DTC) -> Response:
    """What a table's file says of itself, with the tables that it rests on."""
    return answer(catalogue.metadata(await _table(held, material, metric)))


@router.get("/{material}/statistics", responses=ANSWERED)
async def statistics(material: Named, held: Held, metric: ByMetric = Metric.DTC) -> Response:
    """Positions by side to move, result and ply, and the longest, as syzygy-tables.info does."""
    return answer(catalogue.statistics(await _table(held, material, metric)))


@router.get(
    "/{material}/statistics.parquet",
    response_class=Response,
    responses={200: {"content": {PARQUET: {}}, "description": "A row for each number"}},
)
async def statistics_parquet(
    material: Named, held: Held, metric: ByMetric = Metric.DTC
) -> Response:
    """The same counts as columns: material, metric, to_move, result, moves, positions."""
    table = await _table(held, material, metric)
    rows = arrow_table(material, metric, in_order(table.counts))
    return Response(parquet_of(rows).to_pybytes(), media_type=PARQUET)


@router.delete("/{material}", status_code=204)
async def delete(
    material: Named, held: Held, at: AtWork, metric: ByMetric = Metric.DTC
) -> Response:
    """Remove a table.  Who is reading it reads on; what rests on it can still be asked."""
    for story in at.ledger.there():
        if story.is_active and str(Subject(material, metric)) in story.chapters:
            raise Refused(CONFLICT, f"build {story.name} uses {material}; cancel it first")
    await run_in_threadpool(_removed, held, material, metric)
    return Response(status_code=204)


def _removed(held: Holding, material: Material, metric: Metric) -> None:
    name, tables = table_name(material, metric), held.settings.tables
    with closing(store_at(tables)) as store:
        try:
            if not store.has(name):
                raise MissingTableError(f"no table {name} in {shown(tables)}")
            store.remove(name)
        except OSError as error:
            raise CannotServe(f"cannot remove {name}: {error.strerror or error}") from error
    log.info("table deleted", extra={"fields": {"table": name}})
    held.refresh()


async def _table(held: Holding, material: Material, metric: Metric) -> Table:
    return await run_in_threadpool(held.tablebase.table, material, metric)


@router.get(
    "/{material}/file",
    response_class=StreamingResponse,
    responses={
        200: {"content": {MEDIA: {}}, "description": "All of it"},
        206: {"description": "The bytes asked for"},
        304: {"description": "What the client has is what there is"},
    },
)
@router.head("/{material}/file", include_in_schema=False)
async def file(
    request: Request, material: Named, held: Held, metric: ByMetric = Metric.DTC
) -> Response:
    """The file itself: Arrow's IPC format, which any Arrow reader opens.  Ranges are served."""
    table = await _table(held, material, metric)
    return await run_in_threadpool(_file, request, table)


def _file(request: Request, table: Table) -> Response:
    try:
        # Open before it is measured: from here on it may be deleted.
        opened = FileIO(table.path)
    except FileNotFoundError as error:
        raise MissingTableError(f"no table {table.path.name} any more") from error
    size = os.fstat(opened.fileno()).st_size
    # The digest is of the values; how tightly they are packed shows in the size.
    tag = f'"{table.digest}-{size:x}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "no-cache",
        "Content-Disposition": f'attachment; filename="{table.path.name}"',
    }
    if ranges.matches(request.headers.get("if-none-match"), tag):
        opened.close()
        return Response(status_code=304, headers=headers)
    return _bytes(request, opened, size, headers)


def _bytes(request: Request, opened: FileIO, size: int, headers: dict[str, str]) -> Response:
    span = None
    try:
        if request.headers.get("if-range", headers["ETag"]) == headers["ETag"]:
            span = ranges.span_of(request.headers.get("range"), size)
    except ranges.Unsatisfiable as error:
        opened.close()
        asked = {"Content-Range": f"bytes */{size}"}
        raise HTTPException(416, f"no such bytes: {error}", asked) from error
    wanted = span or ranges.Span(0, size)
    headers["Content-Length"] = str(wanted.end - wanted.first)
    if span is not None:
        headers["Content-Range"] = f"bytes {span.first}-{span.end - 1}/{size}"
    status = 206 if span else 200
    if request.method == "HEAD":
        opened.close()
        return Response(status_code=status, headers=headers, media_type=MEDIA)
    return StreamingResponse(_pieces(opened, wanted), status, headers, MEDIA)


async def _pieces(opened: FileIO, span: ranges.Span) -> AsyncIterator[bytes]:
    with opened:
        at = span.first
        while at < span.end:
            length = min(PIECE, span.end - at)
            data = await run_in_threadpool(os.pread, opened.fileno(), length, at)
            if not data:
                return
            yield data
            at += len(data)
