"""What was typed becomes the types of the layers below, or an error that says what would work."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import typer

from api.settings import InForce, Settings, Size, read
from workers.errors import BadMaterial, BadSettings
from workers.material import MEN_MAX, Material, every


def materials_of(
    names: Iterable[str], men: int | None, men_max: int = MEN_MAX
) -> tuple[Material, ...]:
    """The materials named, and all pawnless ones of up to so many men."""
    wanted = [Material.parse(part, men_max) for name in names for part in name.split(",")]
    if men is not None:
        wanted += [m for n in range(3, men + 1) for m in every(n)]
    if not wanted:
        raise BadMaterial(f"name a material, such as KQvKR, or use --men 3 to {MEN_MAX}")
    return tuple(dict.fromkeys(wanted))


def fen_of(words: Iterable[str]) -> str:
    """A FEN in one word or several, with spaces or, as in addresses of pages, underscores."""
    return " ".join(words).replace("_", " ").strip()


def size_of(text: str) -> Size:
    try:
        return Size.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


class Given(NamedTuple):
    """What was said before the name of a command."""

    config: Path | None
    level: str | None


def in_force(context: typer.Context, **flags: object) -> InForce:
    """The settings under these flags, of which None was not given."""
    given: Given = context.obj
    found = read({"level": given.level} | _said(flags), given.config)
    _use_level(found)
    return found


def settings(context: typer.Context, **flags: object) -> Settings:
    return in_force(context, **flags).settings


def _said(flags: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in flags.items() if value is not None}


def _use_level(found: InForce) -> None:
    """Run the kernels at another instruction-set level than the best that the machine has."""
    if (level := found.settings.level) is not None:
        from workers import _kernels

        if level not in _kernels.levels():
            has, origin = ", ".join(_kernels.levels()), found.origins["level"]
            raise BadSettings(f"no instruction set {level!r} ({origin}); this machine has {has}")
        _kernels.use_level(level)
