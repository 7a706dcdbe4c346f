"""The range of bytes that a request asks for (RFC 9110, section 14).

Only a single range is served.  A request for several ranges, or with an unreadable header, gets the
whole file, as the standard allows.
"""

import re
from typing import NamedTuple


class Span(NamedTuple):
    """Bytes from `first` up to `end`."""

    first: int
    end: int


class Unsatisfiable(ValueError):
    """A range that begins behind the end."""


def span_of(header: str | None, size: int) -> Span | None:
    """The bytes that a Range header names; None for all of them."""
    matched = re.fullmatch(r"bytes=\s*(\d{0,19})-(\d{0,19})\s*", header or "", re.ASCII)
    if matched is None or matched[1] == matched[2] == "":
        return None
    if not matched[1]:
        first, end = max(0, size - int(matched[2])), size
    else:
        first, end = int(matched[1]), size if not matched[2] else min(size, int(matched[2]) + 1)
        if matched[2] and int(matched[2]) < first:
            return None
    if first >= size or first >= end:
        raise Unsatisfiable(f"bytes {header} of a file of {size}")
    return Span(first, end)


def matches(header: str | None, tag: str) -> bool:
    """Whether an If-None-Match header names the tag."""
    tags = {each.strip().removeprefix("W/") for each in (header or "").split(",")}
    return tag in tags or "*" in tags
