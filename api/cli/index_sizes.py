"""The command `kingpair index`, which compares the size of our index with published ones."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import AsJson, AtWork, Materials, Men, say

if TYPE_CHECKING:
    from kingpair.workers.study.index_sizes import IndexSizes


def index(
    context: typer.Context,
    materials: Materials = None,
    men: Men = None,
    threads: AtWork = None,
    as_json: AsJson = False,
) -> None:
    """Compare the size of the index with published ones.

    For White and for Black to move: how many positions a material has, how many entries the index
    of our tables has for them, how many of these hold no position, and the entries of the indexes
    of Edwards, Thompson, Heinz, Nalimov and Syzygy.  No table is needed.

    \b
    Examples:
      kingpair index KQvKR
      kingpair index --men 5
      kingpair index KRPvKR --json
    """
    from kingpair.workers.sets.threads import Threads
    from kingpair.workers.study.index_sizes import index_sizes

    wanted = arguments.materials_of(materials or [], men)
    settings = arguments.settings(context, threads=threads)
    with Threads(settings.threads) as pool:
        found = [sizes for material in wanted for sizes in index_sizes(material, pool)]
    say(_text(found), [_json(sizes) for sizes in found], as_json)


def _text(found: "Sequence[IndexSizes]") -> Iterator[str]:
    from kingpair.api.text import columns, percent
    from kingpair.workers.table.format import COLUMNS

    head = ("material", "to move", "positions", "entries", "empty", "")
    others = ("edwards", "thompson", "heinz", "nalimov", "syzygy")
    rows = [(*head, *map(str.capitalize, others))]
    for sizes in found:
        empty = sizes.waste(sizes.ours)
        numbers = [sizes.positions, sizes.ours, empty]
        published = asdict(sizes.published)
        rows.append(
            (
                str(sizes.material),
                COLUMNS[sizes.mover],
                *(f"{number:,}" for number in numbers),
                percent(empty, sizes.ours),
                *(f"{published[name]:,}" for name in others),
            )
        )
    yield from columns(rows, "<<" + ">" * (len(rows[0]) - 2))


def _json(sizes: "IndexSizes") -> dict[str, Any]:
    from kingpair.workers.table.format import COLUMNS

    return {
        "material": str(sizes.material),
        "to_move": COLUMNS[sizes.mover],
        "positions": sizes.positions,
        "entries": sizes.ours,
        "empty": sizes.waste(sizes.ours),
        "published": {
            name: {"entries": entries, "empty": sizes.waste(entries)}
            for name, entries in asdict(sizes.published).items()
        },
    }
