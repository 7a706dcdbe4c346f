"""Amounts of memory and disk as people read them, and the one from which on tables have parts."""

PARTS_FROM = 16 << 30
"""Bytes: seven men are kept in parts, and six men in one file, which any reader of Arrow opens."""


def amount(size: int) -> str:
    """Bytes in the largest unit of which there is one: `4.0 GiB`."""
    for unit, width in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << width:
            return f"{size / (1 << width):.1f} {unit}"
    return f"{size} bytes"
