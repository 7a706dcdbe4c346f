"""Answers about positions: probes, batches, lines, and those of Lichess's interface."""

from typing import Literal

from pydantic import Field

from kingpair.api.answers.fifty import Category
from kingpair.api.http.schemas.model import Model
from kingpair.workers.game.metric import Metric

Result = Literal["win", "draw", "loss"]
Side = Literal["white", "black"]
BY_CLOCK = "The result under the fifty-move rule, by the half-move clock of the FEN."
NOT_KNOWN = "Null where no table decides it."
BY_SYZYGY = "By a Syzygy file: plies to zeroing; the true number may be one more."


class Value(Model):
    """The result for the side to move, and in how many moves."""

    result: Result | None = Field(description=NOT_KNOWN)
    moves: int | None = Field(description="Null in a draw and where it is not known.")


class MoveValue(Value):
    """A legal move and what it is worth to the side that makes it."""

    uci: str
    san: str
    dtz: int | None = Field(description=BY_SYZYGY)
    precise_dtz: int | None = Field(description="The same where it is exact.")
    category: Category
    mate: bool
    converts_to: str | None = Field(description="The material that a capture leads to.")
    fen: str = Field(description="The position after the move.")


class ValuedPosition(Value):
    """A position and its value."""

    fen: str
    material: str
    metric: Metric
    to_move: Side


class Probe(ValuedPosition):
    """A position, its value, and its moves, best first."""

    category: Category = Field(description=BY_CLOCK)
    dtz: int | None = Field(description=BY_SYZYGY)
    precise_dtz: int | None = Field(description="The same where it is exact.")
    missing: str | None = Field(description="Which table is missing, and how to build it.")
    check: bool
    checkmate: bool
    stalemate: bool
    insufficient_material: bool
    options: list[MoveValue]


class BatchValues(Model):
    """Values in the order of the positions that were asked for."""

    metric: Metric
    values: list[Value]


class NamedMove(Model):
    uci: str
    san: str


class LineStep(NamedMove):
    fen: str = Field(description="The position after the move.")


class Phase(ValuedPosition):
    """The moves of a line that are played with the same men, to the capture that ends them."""

    line: list[NamedMove]


class BestLine(ValuedPosition):
    """The best moves of both sides."""

    category: Category = Field(description=BY_CLOCK)
    complete: bool = Field(description="Whether no table was missing on the way.")
    missing: str | None
    claimed: bool = Field(description="Whether the line was ended where a draw can be claimed.")
    plies: int
    line: list[LineStep]
    phases: list[Phase]
    pgn: str


class LichessPosition(Model):
    """A position as its side to move sees it."""

    checkmate: bool
    stalemate: bool
    variant_win: bool
    variant_loss: bool
    insufficient_material: bool
    dtz: int | None = Field(description="Plies to zeroing; the true number may be one more.")
    precise_dtz: int | None = Field(description="The same where it is exact.")
    dtm: int | None = Field(description="Plies to mate.")
    dtw: None
    dtc: int | None = Field(description="Moves to mate or to a conversion.")
    category: Category


class LichessMove(LichessPosition):
    """A move, and the position after it."""

    uci: str
    san: str
    zeroing: bool
    conversion: bool


class LichessProbe(LichessPosition):
    moves: list[LichessMove]


class LichessStep(Model):
    uci: str
    san: str
    dtz: int
    precise_dtz: int | None


class LichessMainline(Model):
    dtz: int
    precise_dtz: int | None
    winner: Literal["w", "b"] | None
    mainline: list[LichessStep]
