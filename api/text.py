"""Text for people: numbers, amounts and aligned columns, on a terminal and in a pipe.

There are no colours and no frames, so that output can be searched, sorted and pasted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from math import ceil, floor

_IRREGULAR = {"man": "men", "pass": "passes", "ply": "plies"}
_REASONS = (
    (r"input should be less than or equal to (\S+)", r"must be at most \1"),
    (r"input should be greater than or equal to (\S+)", r"must be at least \1"),
    (r"input should be greater than (\S+)", r"must be more than \1"),
    (r"input should be less than (\S+)", r"must be less than \1"),
    (r"input should be a finite number.*", "must be a finite number"),
    (r"input should be a valid integer.*", "must be a whole number"),
    (r"input should be a valid number.*", "must be a number"),
    (r"input should be a valid boolean.*", "must be true or false"),
    (r"input should be a valid string.*", "must be text"),
    (r"input is not a valid path.*", "must be a path"),
    (r"input should be a valid list.*", "must be a list"),
    (r"input should be a valid dictionary.*", "must be an object"),
    (r"input should be (.*)", r"must be \1"),
    (r"(?:list|string) should have at (most|least) (\d+ \w+).*", r"must have at \1 \2"),
    (r"field required", "is missing; add it"),
    (r"extra inputs are not permitted", "is not known here; leave it out"),
    (r"json decode error", "is not JSON; send a JSON object"),
    (r"value error, (.*)", r"\1"),
)
"""Patterns of a validator's reasons, and the words that replace them."""


def count(number: int, noun: str) -> str:
    """`1 table`, `1,234 tables`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    return _IRREGULAR.get(noun, f"{noun}s")


def percent(part: int, whole: int) -> str:
    """Formats a share with one decimal; only nothing is 0.0 % and only everything 100 %."""
    if whole == 0:
        return "-"
    share = 100 * part / whole
    if part > 0 and share < 0.1:
        return "< 0.1 %"
    return f"{min(share, 99.9):.1f} %" if part < whole else "100 %"


def plain_reason(message: str) -> str:
    """A validator's reason for refusing a value, in words for people."""
    lowered = message[:1].lower() + message[1:]
    for pattern, words in _REASONS:
        if matched := re.search(pattern, lowered, re.IGNORECASE):
            return lowered[: matched.start()] + matched.expand(words) + lowered[matched.end() :]
    return lowered


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    return clock(seconds)


def clock(seconds: float) -> str:
    """`0:07`, `2:05`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span(low: float, high: float) -> str:
    """From so long to so long, rounded outwards so that it stays true; the page says the same."""
    if high <= 1:
        return "under 1 s"
    units = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    name = next((name for name, length in units.items() if high >= 1.7 * length), "s")
    least, most = _outwards(low / units[name], floor), _outwards(high / units[name], ceil)
    return f"{least:g} to {most:g} {name}" if 0 < least < most else f"up to {most:g} {name}"


def _outwards(value: float, rounded: Callable[[float], int]) -> float:
    return rounded(10 * value) / 10 if value < 10 else rounded(value)


def columns(rows: Iterable[Sequence[str]], align: str) -> Iterator[str]:
    """Yields the rows as lines, every column as wide as needed; `align` has < or > for each."""
    table = list(rows)
    widths = [max(map(len, cells)) for cells in zip_longest(*table, fillvalue="")]
    for row in table:
        cells = (
            f"{cell:{way}{width}}" for cell, way, width in zip(row, align, widths, strict=False)
        )
        yield "  ".join(cells).rstrip()
