"""Probing Syzygy files: results under the fifty-move rule, and plies to the next zeroing move.

A file answers a position only together with its moves:

    results     captures are looked at first, and the greater of the best capture and of the file's
                value counts.  The file knows no right to capture en passant
    distances   a file has one side to move, and only positions that no winning capture or pawn move
                settles.  For the other side each move is looked at.  Most files store half of the
                plies, so a distance may be one more than it says, but never so as to change the
                result

Cost: some hundred microseconds a position, most of it to generate moves.  Positions that were asked
are kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np

from kingpair.workers import _kernels
from kingpair.workers.errors import MissingTableError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.chess.moves import Move, is_capture, legal_moves, play
from kingpair.workers.game.chess.position import EMPTY, Colour, Position, material_of
from kingpair.workers.game.rules import is_checkmate
from kingpair.workers.store.filesystem import printable
from kingpair.workers.syzygy.distance import DRAW, LOSS, NO_WINNER, WIN, SyzygyAnswer, distance_of
from kingpair.workers.syzygy.file import SubTable, SyzygyFile, file_name, files_in
from kingpair.workers.syzygy.layout import BLACK_TO_MOVE, FileKind
from kingpair.workers.syzygy.numbering import BLACK, LETTERS

KEPT = 1 << 15


Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Seen:
    """A position, its moves and its result.

    `settled` is true if the result is that of a capture en passant where the file's value counts
    for nothing.
    """

    moves: tuple[Move, ...]
    result: int
    settled: bool


class SyzygyTables:
    """The Syzygy files of some directories.  A file is opened when a probe first needs it."""

    def __init__(self, *directories: str | Path) -> None:
        self.directories: list[Path] = []
        self._paths: dict[str, Path] = {}
        self._files: dict[str, SyzygyFile] = {}
        self._results: dict[Position, _Seen] = {}
        self._answers: dict[Position, SyzygyAnswer] = {}
        self._lock = Lock()
        for directory in directories:
            self.add_directory(directory)

    def add_directory(self, directory: str | Path) -> None:
        """Adds the files of a directory that no earlier directory has."""
        directory = Path(directory)
        if not directory.is_dir():
            raise MissingTableError(f"no directory of Syzygy files at {printable(directory)}")
        self.directories.append(directory)
        self._paths = files_in(directory) | self._paths

    def refresh(self) -> bool:
        """Lists the directories again.  Returns whether a file was added, removed or replaced."""
        found: dict[str, Path] = {}
        for directory in self.directories:
            if directory.is_dir():
                found = files_in(directory) | found
        with self._lock:
            gone = [
                name for name, file in self._files.items() if file.was_replaced(found.get(name))
            ]
            for name in gone:
                del self._files[name]
            different = bool(gone) or found != self._paths
            self._paths = found
        if different:
            self._results.clear()
            self._answers.clear()
        return different

    def close(self) -> None:
        for kept in (self._files, self._paths, self._results, self._answers):
            kept.clear()

    @property
    def paths(self) -> list[Path]:
        return list(self._paths.values())

    def has(self, material: Material) -> bool:
        """Whether there is a file of results of the material."""
        return file_name(material, FileKind.RESULTS) in self._paths

    # ---- one position ----

    def probe_wdl(self, position: Position) -> int:
        """2 win, 1 cursed win, 0 draw, -1 blessed loss, -2 loss, with the clock at 0."""
        return self._seen(_without_clocks(position)).result

    def probe(self, position: Position) -> SyzygyAnswer:
        """The result and the plies; MissingTableError if a file that they need is not there."""
        position = _without_clocks(position)
        if (known := self._answers.get(position)) is None:
            known = _keep(self._answers, position, self._answered(position))
        return known

    def get(self, position: Position) -> SyzygyAnswer | None:
        """The same; None if a file is not there."""
        try:
            return self.probe(position) if self.has(material_of(position)[0]) else None
        except MissingTableError:
            return None

    def _seen(self, position: Position) -> _Seen:
        if (known := self._results.get(position)) is None:
            known = _keep(self._results, position, self._looked_at(position))
        return known

    def _looked_at(self, position: Position) -> _Seen:
        if not material_of(position)[0].letters:
            return _Seen((), DRAW, True)
        moves = legal_moves(position)
        en_passant = {move for move in moves if _is_en_passant(position, move)}
        captures = [m for m in moves if m not in en_passant and is_capture(position, m)]
        own = max(self._after(position, captures), default=LOSS)
        if own < WIN:
            own = max(own, self._file_result(position))
        best = max(self._after(position, en_passant), default=None)
        if best is not None and (best > own or len(en_passant) == len(moves)):
            return _Seen(moves, best, True)
        return _Seen(moves, own, False)

    def _after(self, position: Position, moves: Iterable[Move]) -> Iterable[int]:
        return (-self._seen(_without_clocks(play(position, move))).result for move in moves)

    def _answered(self, position: Position) -> SyzygyAnswer:
        seen = self._seen(position)
        if seen.result == DRAW:
            return NO_WINNER
        zeroing = [move for move in seen.moves if _is_zeroing(position, move)]
        at_once = SyzygyAnswer(seen.result, 1, 1)
        if seen.settled or (seen.result > 0 and seen.result in self._after(position, zeroing)):
            return at_once
        stored = self._stored_distance(position, seen.result)
        return stored or self._by_moves(position, seen, at_once)

    def _by_moves(self, position: Position, seen: _Seen, at_once: SyzygyAnswer) -> SyzygyAnswer:
        """The plies by those one move later, for the side to move that a file does not have."""
        ways = []
        for move in seen.moves:
            after = _without_clocks(play(position, move))
            if -self._seen(after).result != seen.result:
                continue
            if _is_zeroing(position, move) or is_checkmate(after):
                ways.append(at_once)
            else:
                _, least, most = self.probe(after)
                ways.append(SyzygyAnswer(seen.result, least + 1, most + 1))
        choose: Callable[[Iterable[int]], int] = min if seen.result > 0 else max
        if not ways:  # mated
            return at_once
        return SyzygyAnswer(
            seen.result, choose(w.least for w in ways), choose(w.most for w in ways)
        )

    # ---- files ----

    def _file_result(self, position: Position) -> int:
        file, table, place, _ = self._place(position, FileKind.RESULTS)
        return file.value(table, place) - WIN

    def _stored_distance(self, position: Position, result: int) -> SyzygyAnswer | None:
        """The plies that a file has; None if it has the other side to move."""
        file, table, place, to_move = self._place(position, FileKind.DISTANCES)
        if not file.is_symmetric and to_move != table.coding.flags & BLACK_TO_MOVE:
            return None
        plies = distance_of(table, file.value(table, place), result)
        if plies is None:
            raise file.damaged("a distance that its map does not have")
        return plies

    def _place(self, position: Position, kind: FileKind) -> tuple[SyzygyFile, SubTable, int, int]:
        """The file, its sub-table, the position's number in it, and the file's side to move."""
        material, swapped = material_of(position)
        if position.castling:
            raise MissingTableError(f"no Syzygy file of {material} covers castling rights")
        file = self.file(material, kind)
        if file.is_symmetric:
            swapped = position.turn is Colour.BLACK
        to_move = int((position.turn is Colour.BLACK) != swapped)
        standing = _standing(position, swapped)
        tables = file.tables[0]
        if material.has_pawns:
            tables = file.tables[_kernels.syzygy_leading_file(standing[tables[0].men[0]])]
        table = tables[to_move if len(tables) > 1 else 0]
        squares = [standing[man].pop() for man in table.men]
        (place,) = table.numbering.numbers(np.array([squares], np.uint8))
        return file, table, int(place), to_move

    def file(self, material: Material, kind: FileKind) -> SyzygyFile:
        """An opened file; MissingTableError if there is none."""
        name = file_name(material, kind)
        with self._lock:
            if name not in self._files:
                try:
                    self._files[name] = SyzygyFile(self._paths[name])
                except (KeyError, FileNotFoundError):
                    raise self._missing(name) from None
            return self._files[name]

    def _missing(self, name: str) -> MissingTableError:
        where = ", ".join(map(printable, self.directories)) or "no directory"
        return MissingTableError(f"no {name} in {where}; fetch it, or build the table")


def _standing(position: Position, swapped: bool) -> dict[int, list[int]]:
    """The squares of each kind of man as in files; ranks flip where colours are swapped."""
    found: dict[int, list[int]] = {}
    for square, letter in enumerate(position.board):
        if letter != EMPTY:
            side = BLACK if letter.islower() != swapped else 0
            man = LETTERS.index(letter.upper()) + side
            found.setdefault(man, []).append(square ^ 56 if swapped else square)
    return found


def _without_clocks(position: Position) -> Position:
    if position.half_moves == 0 and position.full_move == 1:
        return position
    return replace(position, half_moves=0, full_move=1)


def _is_en_passant(position: Position, move: Move) -> bool:
    return move.target == position.en_passant and position.board[move.origin] in "Pp"


def _is_zeroing(position: Position, move: Move) -> bool:
    return position.board[move.origin] in "Pp" or is_capture(position, move)


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> Value:
    """Stores a value, and forgets all others where there are too many."""
    if len(kept) >= KEPT:
        kept.clear()
    kept[key] = value
    return value
