"""Text for people: numbers, amounts and aligned columns, on a terminal and through a pipe.

No colours and no frames, so that what is seen can also be searched, sorted and pasted.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

_IRREGULAR = {"man": "men", "pass": "passes"}


def count(number: int, noun: str) -> str:
    """`1 table`, `1,234 tables`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    return _IRREGULAR.get(noun, f"{noun}s")


def percent(part: int, whole: int) -> str:
    """One decimal, and never 0.0 or 100.0 for what is not nothing or all."""
    if whole == 0:
        return "-"
    share = 100 * part / whole
    if part > 0 and share < 0.1:
        return "< 0.1 %"
    return f"{min(share, 99.9):.1f} %" if part < whole else "100 %"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    return clock(seconds)


def clock(seconds: float) -> str:
    """`0:07`, `2:05`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def columns(rows: Iterable[Sequence[str]], align: str) -> Iterator[str]:
    """The rows as lines, every column as wide as it needs; `align` has < or > for each."""
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip_longest(*table, fillvalue="")]
    for row in table:
        cells = (
            f"{cell:{way}{width}}" for cell, way, width in zip(row, align, widths, strict=False)
        )
        yield "  ".join(cells).rstrip()
