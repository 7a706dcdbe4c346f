"""What was typed becomes the types of the layers below, or an error that says what would work."""

import os
import re
from collections.abc import Iterable

import typer

from workers.errors import BadMaterial
from workers.material import MEN_MAX, Material, every

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?)b?|b?)", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def materials_of(names: Iterable[str], men: int | None) -> tuple[Material, ...]:
    """The materials named, and all pawnless ones of up to so many men."""
    wanted = [Material.parse(part) for name in names for part in name.split(",")]
    if men is not None:
        wanted += [m for n in range(3, men + 1) for m in every(n)]
    if not wanted:
        raise BadMaterial(f"name a material, such as KQvKR, or use --men 3 to {MEN_MAX}")
    return tuple(dict.fromkeys(wanted))


def fen_of(words: Iterable[str]) -> str:
    """A FEN in one word or several, with spaces or, as in addresses of pages, underscores."""
    return " ".join(words).replace("_", " ").strip()


def size_of(text: str) -> int:
    """Bytes of `12GiB`, `12 GB`, `12G`, `500MiB` or `1000000`; without the i, powers of 1000."""
    if matched := _SIZE.fullmatch(text.strip()):
        number, unit, binary = matched.groups()
        power = _POWERS[unit.lower()] if unit else 0
        if size := int(float(number) * (1024 if binary else 1000) ** power):
            return size
    message = f"{text!r} is no amount of memory; use one such as 12GiB or 800MiB"
    raise typer.BadParameter(message, param_hint="--memory")


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def use_level(name: str | None) -> str | None:
    """Run the kernels at another instruction-set level than the best that the machine has."""
    if name is not None:
        from workers import _kernels

        if name not in _kernels.levels():
            has = ", ".join(_kernels.levels())
            message = f"no instruction set {name!r}; this machine has {has}"
            raise typer.BadParameter(message, param_hint="--level, KINGPAIR_LEVEL")
        _kernels.use_level(name)
    return name
