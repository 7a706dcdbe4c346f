"""JSON's values as CBOR (RFC 8949), for clients that ask for it.

A head is three bits of kind and an argument in as few bytes as it fits: the number itself, the
length of a text in UTF-8, or how many items or pairs follow.
"""

import struct
from typing import Any

_NUMBER, _NEGATIVE, _TEXT, _LIST, _MAP = (kind << 5 for kind in (0, 1, 3, 4, 5))
_SIMPLE = {False: b"\xf4", True: b"\xf5", None: b"\xf6"}


def dumps(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return _SIMPLE[value]
    if isinstance(value, int):
        return _head(_NUMBER, value) if value >= 0 else _head(_NEGATIVE, -1 - value)
    if isinstance(value, str):
        text = value.encode()
        return _head(_TEXT, len(text)) + text
    if isinstance(value, list):
        return _head(_LIST, len(value)) + b"".join(map(dumps, value))
    assert isinstance(value, dict), f"no value of JSON: {value!r}"
    items = (dumps(key) + dumps(item) for key, item in value.items())
    return _head(_MAP, len(value)) + b"".join(items)


def _head(kind: int, argument: int) -> bytes:
    if argument < 24:
        return bytes([kind | argument])
    for code, (limit, form) in enumerate(((1 << 8, ">BB"), (1 << 16, ">BH"), (1 << 32, ">BI")), 24):
        if argument < limit:
            return struct.pack(form, kind | code, argument)
    return struct.pack(">BQ", kind | 27, argument)
