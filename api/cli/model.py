"""The command `kingpair model`, which predicts builds on other clusters.

`coordinator/plan/model.py` explains how.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kingpair.api.cli import arguments
from kingpair.api.cli.options import AsJson, OneMetric, say
from kingpair.workers.errors import CannotBuild
from kingpair.workers.game.metric import Metric
from kingpair.workers.index import KING_PAIRS

if TYPE_CHECKING:
    from kingpair.coordinator.machine.rehearsal import ClosureForecast
    from kingpair.coordinator.plan.cluster import Cluster, Constants
    from kingpair.coordinator.plan.model import Prediction
    from kingpair.workers.game.chess.material import Material

MEN_MAX = 8
NODES_MAX = KING_PAIRS

_RATE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt])(i?)(b|bit)(?:/s|ps)?", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_HEAD = (
    "material",
    "nodes",
    "used",
    "memory a node",
    "passes",
    "a pass",
    "slowest",
    "exchanged a pass",
    "in all",
    "time",
    "with smaller ones",
)

SOLVING = "opening", "passes"
PARTS = *SOLVING, "painting", "joining", "proof"
_HEAD_BY_PART = "material", "nodes", "used", *PARTS, "time"
_HEAD_OF_MANY = "materials", "nodes", "time", "shared perfectly", "ratio", "store alone"
Materials = Annotated[
    list[str] | None,
    typer.Argument(metavar="MATERIAL", help=f"Such as KRBvKBN; of up to {MEN_MAX} men."),
]
Men = Annotated[
    int | None,
    typer.Option(
        min=3, max=6, metavar="N", help="All materials without pawns of up to N men, together."
    ),
]
Nodes = Annotated[
    str, typer.Option(metavar="N,N,...", help=f"How many machines, 1 to {NODES_MAX}.")
]
Cores = Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Of each machine.")]
MemoryOfNode = Annotated[str, typer.Option(metavar="SIZE", help="Of each machine, such as 128GiB.")]
Network = Annotated[str, typer.Option(metavar="RATE", help="Of each machine, such as 10Gbit.")]
SharedStore = Annotated[
    str, typer.Option(metavar="RATE", help="Of the shared store, for all together.")
]
Disk = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        show_default="logs go to the store",
        help="Of each machine's disk for logs, if it has one (build --logs).",
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=10_000,
        metavar="N",
        show_default="the deepest known of so many men",
        help="Depth of the materials named.",
    ),
]
ConstantsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="JSON that kingpair bench --constants printed on such a machine."
    ),
]
ByPart = Annotated[
    bool, typer.Option("--by-part", help="The time of each part, and how well it is shared.")
]
Found = Sequence[tuple["Cluster", "ClosureForecast"]]


def model(
    materials: Materials = None,
    men: Men = None,
    nodes: Nodes = "1,2,4,8,16",
    cores: Cores = 32,
    memory: MemoryOfNode = "128GiB",
    network: Network = "10Gbit",
    store: SharedStore = "1GB/s",
    disk: Disk = None,
    metric: OneMetric = Metric.DTC,
    passes: Passes = None,
    constants: ConstantsFile = None,
    by_part: ByPart = False,
    as_json: AsJson = False,
) -> None:
    """Predict builds on clusters of other sizes.

    For each number of machines: how many of them work on the material, the memory that each needs
    (! if it has less), the time of a pass, the bytes exchanged, and the time of the material alone
    and with all that it rests on. With --men: the time of all of them side by side, beside that of
    perfect sharing, in which each node has its part of the work of one.

    \b
    Examples:
      kingpair model KRBvKBN
      kingpair model KQNvKRBN --nodes 16,64,462 --cores 32 --memory 256GiB --network 25Gbit
      kingpair model KRBvKBN --passes 98 --constants here.json --json
      kingpair model --men 6 --nodes 4,16,64 --disk 1GB/s
    """
    from kingpair.coordinator.plan.cluster import Cluster

    named = arguments.materials_of(materials or (), men, men is not None, men_max=MEN_MAX)
    wanted = [named] if men is not None else [[material] for material in named]
    measured = _constants(constants)
    counts, room = _counts_of(nodes), arguments.size_of(memory)
    rates = _rate_of(network, "--network"), _rate_of(store, "--store"), _rate_of_disk(disk)
    clusters = [Cluster(count, cores, room, *rates) for count in counts]
    found = _predicted(wanted, clusters, metric, measured, passes)
    text = _text_of_many(found) if men is not None else _text(found, by_part)
    say(text, [_json(cluster, closure) for cluster, closure in found], as_json)


def _predicted(
    wanted: "Iterable[Sequence[Material]]",
    clusters: Sequence["Cluster"],
    metric: Metric,
    measured: "Constants",
    passes: int | None,
) -> Found:
    """Predicts the builds of some materials each, on every cluster."""
    from kingpair.coordinator.machine.rehearsal import predict_all
    from kingpair.coordinator.plan.estimate import waves

    return [
        (cluster, predict_all(waves(together), metric, cluster, measured, passes))
        for together in wanted
        for cluster in clusters
    ]


def _rate_of(text: str, option: str) -> float:
    """Bytes a second of `10Gbit`, `1.2 GB/s` or `800MiB/s`."""
    if (matched := _RATE.fullmatch(text.strip())) and float(matched[1]):
        number, unit, binary, kind = matched.groups()
        size: float = float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()]
        return size / 8 if kind.lower() == "bit" else size
    message = f"{text!r} is no bandwidth; use one such as 10Gbit or 500MB/s"
    raise typer.BadParameter(message, param_hint=option)


def _rate_of_disk(text: str | None) -> float:
    """0 if logs go to the store."""
    return 0.0 if text is None else _rate_of(text, "--disk")


def _counts_of(text: str) -> tuple[int, ...]:
    """The numbers of nodes in `16` or `1,2,4`."""
    words = [word.strip() for word in text.split(",")]
    if all(word.isascii() and word.isdigit() and 1 <= int(word) <= NODES_MAX for word in words):
        return tuple(map(int, words))
    message = f"{text!r}: use numbers from 1 to {NODES_MAX}, such as 16 or 1,2,4"
    raise typer.BadParameter(message, param_hint="--nodes")


def _constants(path: Path | None) -> "Constants":
    from kingpair.coordinator.plan.cluster import Constants

    if path is None:
        return Constants()
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        return Constants(**{name: float(stated[name]) for name in Constants._fields})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotBuild(
            f"{path} holds no constants; print some with kingpair bench --constants"
        ) from error


def _text(found: "Found", by_part: bool) -> Iterator[str]:
    from kingpair.api.text import columns

    row = _row_by_part if by_part else _row
    head = _HEAD_BY_PART if by_part else _HEAD
    rows = [row(cluster, closure) for cluster, closure in found]
    yield from columns([head, *rows], "<" + ">" * (len(head) - 1))


def _text_of_many(found: "Found") -> Iterator[str]:
    from kingpair.api.text import columns

    rows = [_row_of_many(cluster, closure) for cluster, closure in found]
    yield from columns([_HEAD_OF_MANY, *rows], ">" * len(_HEAD_OF_MANY))


def _row_of_many(cluster: "Cluster", closure: "ClosureForecast") -> tuple[str, ...]:
    from kingpair.api.text import duration

    return (
        str(len(closure.domains)),
        str(cluster.nodes),
        duration(closure.seconds),
        duration(closure.shared),
        f"{closure.ratio:.2f}",
        duration(closure.stored / cluster.store),
    )


def _row_by_part(cluster: "Cluster", closure: "ClosureForecast") -> tuple[str, ...]:
    """The seconds of each part, and the seconds of one worker over those of all nodes."""
    from kingpair.api.text import duration

    domain = closure.domains[-1]
    solving, painting = domain.workers, domain.painters
    shared = [
        f"{duration(domain.part(name))}  {closure.one_node.part(name) / share:4.0%}"
        if (share := (solving if name in SOLVING else painting) * domain.part(name))
        else "0 s   100%"
        for name in PARTS
    ]
    whole = closure.one_node.seconds / (painting * domain.seconds)
    last = f"{duration(domain.seconds)}  {whole:4.0%}"
    used = f"{solving}, {painting}" if painting > solving else str(solving)
    return str(domain.material), str(cluster.nodes), used, *shared, last


def _row(cluster: "Cluster", closure: "ClosureForecast") -> tuple[str, ...]:
    from kingpair.api.text import duration
    from kingpair.coordinator.plan.amounts import amount as size

    domain = closure.domains[-1]
    count = len(domain.passes)
    return (
        str(domain.material),
        str(cluster.nodes),
        str(domain.workers),
        size(domain.memory) + ("  " if domain.fits else " !"),
        str(count),
        duration(domain.solving / count),
        duration(max(p.seconds for p in domain.passes)),
        size(int(domain.exchanged / count)),
        size(int(domain.exchanged)),
        duration(domain.seconds),
        duration(closure.seconds),
    )


def _json(cluster: "Cluster", closure: "ClosureForecast") -> dict[str, Any]:
    return {
        "cluster": cluster._asdict(),
        "seconds": closure.seconds,
        "shared": closure.shared,
        "stored": closure.stored,
        "memory": closure.memory,
        "disk": closure.disk,
        "exchanged": closure.exchanged,
        "fits": closure.fits,
        "materials": [_domain_json(domain) for domain in closure.domains],
    }


def _domain_json(domain: "Prediction") -> dict[str, Any]:
    seconds = {
        "opening": domain.opening,
        "solving": domain.solving,
        "painting": domain.painting,
        "proof": domain.proof,
        "all": domain.seconds,
    }
    return {
        "material": str(domain.material),
        "metric": domain.metric.value,
        "workers": domain.workers,
        "memory": domain.memory,
        "fits": domain.fits,
        "sets": domain.mode,
        "seconds": seconds,
        "exchanged": domain.exchanged,
        "table": domain.table,
        "log": domain.log,
        "passes": [p._asdict() for p in domain.passes],
    }
