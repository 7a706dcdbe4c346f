"""Answers about tables: the list, one of them, its statistics, and what is found in it."""

from typing import Literal

from pydantic import Field

from kingpair.api.http.schemas.model import Model
from kingpair.api.http.schemas.positions import Result, Side
from kingpair.workers.game.metric import Metric


class TableSummary(Model):
    """A table of the list.  One that cannot be used has a `problem` and no figures."""

    material: str
    metric: Metric
    men: int
    problem: str | None
    bytes: int = 0
    type: Literal["int8", "int16"] | None = None
    form: Literal["whole", "packed", "dense"] | None = Field(
        default=None, description="A packed or dense table holds one of the two columns."
    )
    digest: str | None = None
    positions: int = 0
    drawn: int = 0
    longest_win: int | None = None


class TableList(Model):
    tables: list[TableSummary]


class Proof(Model):
    """The time at which a table was proved, and the commit of kingpair that proved it."""

    at: str
    commit: str


class TableDetails(TableSummary):
    """All that a table says of itself but its counts."""

    rows: int
    blocks: int
    smaller: dict[str, str] = Field(description="The tables it rests on, and their digests.")
    used_by: list[str] = Field(description="The tables here that rest on it.")
    modified: str = Field(description="When its file was written.")
    proved: Proof | None = Field(description="Its latest proof, if one is known.")


class SideHistogram(Model):
    """Positions by ply: the index is the number of plies."""

    win: list[int]
    loss: list[int]
    wdl: dict[str, int] = Field(
        description="2 a win, 0 a draw, -2 a loss; of dtz also 1 a cursed win, -1 a blessed loss."
    )


class Histogram(Model):
    white: SideHistogram
    black: SideHistogram


class LongestEntry(Model):
    epd: str
    ply: int
    wdl: int


class Statistics(Model):
    material: str
    metric: Metric
    bytes: int
    digest: str
    histogram: Histogram
    longest: list[LongestEntry]


class TablePass(Model):
    """A pass of the analysis of one winner."""

    winner: Side
    depth: int
    won: int
    lost: int
    seconds: float
    level: int | None = Field(default=None, description="With pawns, from 0 on; else not there.")


class TablePasses(Model):
    material: str
    metric: Metric
    passes: list[TablePass] | None = Field(description="null if their times were not kept.")


class LongestKind(Model):
    """The positions that take one side to move longest."""

    to_move: Side
    result: Result
    moves: int
    positions: int = Field(description="How many there are; `fens` has the first of them.")
    fens: list[str]


class LongestPositions(Model):
    material: str
    metric: Metric
    longest: list[LongestKind]


class SideValue(Model):
    result: Result
    moves: int | None


class Zugzwang(Model):
    """The FEN has White to move; each value is that of its side to move."""

    fen: str
    white: SideValue
    black: SideValue


class ZugzwangKind(Model):
    positions: int
    listed: list[Zugzwang]


class Zugzwangs(Model):
    """By kind: the result with White to move, and with Black to move."""

    material: str
    metric: Metric
    zugzwangs: dict[str, ZugzwangKind]


class SampledPosition(Model):
    fen: str
    to_move: Side
    result: Result
    moves: int | None


class Sample(Model):
    """Positions drawn at random; the same seed draws the same ones."""

    material: str
    metric: Metric
    seed: int
    matching: int = Field(description="How many positions were drawn from.")
    positions: list[SampledPosition]
