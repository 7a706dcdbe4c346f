"""Studies of a whole table over HTTP: its longest positions, mutual zugzwangs, samples, and the
SHA-256 of its file.

Each reads the table from its beginning, one request at a time, so that probes keep a core.  Answers
are kept by the digest of the table.  A table of six men takes minutes and is left to the command.
"""

import hashlib
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, Response

from kingpair.api.answers import studies
from kingpair.api.http.open_tables import ServedTables
from kingpair.api.http.probing import ByMetric, answer
from kingpair.api.http.problems import BAD_REQUEST, DOCUMENTED, Refused
from kingpair.api.http.schemas.model import answers
from kingpair.api.http.schemas.tables import LongestPositions, Sample, Zugzwangs
from kingpair.api.http.standard import Served
from kingpair.api.http.tables import Named, table_of
from kingpair.workers.game.metric import Metric
from kingpair.workers.game.outcome import Outcome
from kingpair.workers.number_types import SIDES, STRONGER, WEAKER, Side
from kingpair.workers.sets.threads import Threads
from kingpair.workers.study import longest as finding
from kingpair.workers.study.position_filter import DepthRange, PositionFilter
from kingpair.workers.study.sample import sample as drawn
from kingpair.workers.study.zugzwang import census
from kingpair.workers.table.format import Table
from kingpair.workers.table.value import MAX_MOVES

router = APIRouter(prefix="/api/v1/tables", tags=["Tables"], responses=DOCUMENTED)
MEN = 5
PIECE = 1 << 22
Limit = Annotated[int, Query(ge=0, le=1000, description="How many positions of each sort.")]
Sort = Annotated[Literal["win", "draw", "loss"] | None, Query(description="For the side to move.")]
ToMove = Annotated[Literal["white", "black"] | None, Query()]
Depth = Annotated[int | None, Query(ge=0, le=MAX_MOVES, description="In so many moves.")]
_SIDES: dict[str | None, tuple[Side, ...]] = {None: SIDES, "white": (STRONGER,), "black": (WEAKER,)}


@router.get("/{material}/longest", responses=answers(LongestPositions))
async def longest(
    material: Named, served: Served, metric: ByMetric = Metric.DTC, limit: Limit = 100
) -> Response:
    """The positions that take longest to win and to lose, up to symmetry."""
    table = await _table(served, material, metric)

    def find(threads: Threads) -> Any:
        wanted = finding.longest_of(table.counts)
        found = finding.collect(table, threads, wanted, limit)
        return studies.longest_json(material, metric, found)

    return answer(await served.findings.find((table.digest, "longest", limit), find))


@router.get("/{material}/zugzwangs", responses=answers(Zugzwangs))
async def zugzwangs(
    material: Named, served: Served, metric: ByMetric = Metric.DTC, limit: Limit = 100
) -> Response:
    """The mutual zugzwangs: how many there are of each kind, and the first of them."""
    table = await _table(served, material, metric)

    def find(threads: Threads) -> Any:
        return studies.zugzwangs_json(material, metric, census(table, threads, limit))

    return answer(await served.findings.find((table.digest, "zugzwangs", limit), find))


@router.get("/{material}/sample", responses=answers(Sample))
async def sample(
    material: Named,
    served: Served,
    metric: ByMetric = Metric.DTC,
    result: Sort = None,
    to_move: ToMove = None,
    least: Depth = None,
    most: Depth = None,
    limit: Limit = 10,
    seed: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """Positions drawn at random, each as likely as another; the same seed draws the same ones."""
    table = await _table(served, material, metric)
    depths = None if least is None and most is None else DepthRange(least or 0, _last(most))
    outcomes = tuple(Outcome) if result is None else (Outcome(result),)
    chosen = PositionFilter(_SIDES[to_move], outcomes, depths)
    matching = chosen.count(table.counts)

    def find(threads: Threads) -> Any:
        entries = drawn(table, threads, chosen, min(limit, matching), seed)
        return {
            "material": str(material),
            "metric": metric,
            "seed": seed,
            "matching": matching,
            "positions": [studies.entry_json(material, entry) for entry in entries],
        }

    key = (table.digest, result, to_move, least, most, limit, seed)
    return answer(await served.findings.find(key, find))


@router.get("/{material}/sha256", response_class=PlainTextResponse)
async def sha256(material: Named, served: Served, metric: ByMetric = Metric.DTC) -> str:
    """The SHA-256 of the file, as `sha256sum` prints it and `sha256sum -c` reads it."""
    table = await table_of(served, material, metric)
    key = (table.path, table.inode, table.bytes, "sha256")
    return f"{await served.findings.find(key, lambda _: _sha256(table))}  {table.path.name}\n"


def _last(most: int | None) -> int:
    return MAX_MOVES if most is None else most


def _sha256(table: Table) -> str:
    found = hashlib.sha256()
    for at in range(0, table.bytes, PIECE):
        found.update(table.read_bytes(at, min(at + PIECE, table.bytes)))
    return found.hexdigest()


async def _table(served: ServedTables, material: Named, metric: Metric) -> Table:
    if material.men > MEN:
        detail = f"to read all of {material} takes too long here; use kingpair report {material}"
        raise Refused(BAD_REQUEST, detail)
    return await table_of(served, material, metric)
