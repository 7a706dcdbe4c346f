"""Turns typed words into the types of the layers below; errors say what would work."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import typer

from kingpair.api.settings import InForce, Settings, Size, read
from kingpair.workers.errors import BadMaterial, BadSettings
from kingpair.workers.game.chess.material import MEN_MAX, Material
from kingpair.workers.game.chess.waves import up_to


def materials_of(
    names: Iterable[str],
    men: int | None,
    pawnless: bool = False,
    men_max: int = MEN_MAX,
) -> tuple[Material, ...]:
    """Returns the materials named, and all of up to so many men, with pawns or without."""
    wanted = [Material.parse(part, men_max) for name in names for part in name.split(",")]
    if men is not None:
        wanted += up_to(men, pawnless=pawnless)
    elif pawnless:
        raise BadMaterial("--pawnless goes with --men, such as --men 5 --pawnless")
    if not wanted:
        raise BadMaterial(f"name a material, such as KQvKR, or use --men 3 to {MEN_MAX}")
    return tuple(dict.fromkeys(wanted))


def fen_of(words: Iterable[str]) -> str:
    """Returns a FEN given in one word or several, with spaces or, as in URLs, underscores."""
    return " ".join(words).replace("_", " ").strip()


def size_of(text: str) -> Size:
    try:
        return Size.parse(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


class Given(NamedTuple):
    """The options before the name of a command."""

    config: Path | None
    level: str | None


def in_force(context: typer.Context, **flags: object) -> InForce:
    """Reads the settings under these flags; a flag that is None was not given."""
    given: Given = context.obj
    found = read({"level": given.level} | _said(flags), given.config)
    _use_level(found)
    return found


def settings(context: typer.Context, **flags: object) -> Settings:
    return in_force(context, **flags).settings


def _said(flags: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in flags.items() if value is not None}


def _use_level(found: InForce) -> None:
    """Selects the instruction set of the kernels that the settings name."""
    if (level := found.settings.level) is not None:
        from kingpair.workers import _kernels

        if level not in _kernels.levels():
            has, origin = ", ".join(_kernels.levels()), found.origins["level"]
            raise BadSettings(f"no instruction set {level!r} ({origin}); this machine has {has}")
        _kernels.use_level(level)
