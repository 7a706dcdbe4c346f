"""The command that predicts builds on machines that are not here (coordinator/model.py)."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api import arguments
from api.options import AsJson, OneMetric, say
from workers.errors import CannotBuild
from workers.metric import Metric

if TYPE_CHECKING:
    from coordinator.model import Closure, Cluster, Constants, Prediction

MEN_MAX = 8
NODES_MAX = 462  # one for each pair of kings

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


def model(
    materials: Annotated[
        list[str],
        typer.Argument(metavar="MATERIAL", help=f"Such as KRBvKBN; of up to {MEN_MAX} men."),
    ],
    nodes: Annotated[
        str, typer.Option(metavar="N,N,...", help=f"How many machines, 1 to {NODES_MAX}.")
    ] = "1,2,4,8,16",
    cores: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Of each machine.")] = 32,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Of each machine, such as 128GiB.")
    ] = "128GiB",
    network: Annotated[
        str, typer.Option(metavar="RATE", help="Of each machine, such as 10Gbit.")
    ] = "10Gbit",
    store: Annotated[
        str, typer.Option(metavar="RATE", help="Of the shared store, for all together.")
    ] = "1GB/s",
    metric: OneMetric = Metric.DTC,
    passes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            metavar="N",
            show_default="the deepest known of so many men",
            help="How deep the materials named are.",
        ),
    ] = None,
    constants: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What kingpair bench --constants has printed on such a machine.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict builds on clusters of other sizes.

    For each number of machines: how many of them the material is given to, the memory that one of
    them needs (!, if it has less), the time of a pass, the bytes exchanged, the time of the
    material alone and with all that it rests on.

    \b
    Examples:
      kingpair model KRBvKBN
      kingpair model KQNvKRBN --nodes 16,64,462 --cores 32 --memory 256GiB --network 25Gbit
      kingpair model KRBvKBN --passes 98 --constants here.json --json
    """
    from coordinator.model import Cluster, predict_all
    from coordinator.plan import waves

    wanted = arguments.materials_of(materials, None, MEN_MAX)
    measured = _constants(constants)
    counts, room = _counts_of(nodes), arguments.size_of(memory)
    rates = _rate_of(network, "--network"), _rate_of(store, "--store")
    clusters = [Cluster(count, cores, room, *rates) for count in counts]
    found = [
        (cluster, predict_all(waves([material]), metric, cluster, measured, passes))
        for material in wanted
        for cluster in clusters
    ]
    say(_text(found), [_json(cluster, closure) for cluster, closure in found], as_json)


def _rate_of(text: str, option: str) -> float:
    """Bytes a second of `10Gbit`, `1.2 GB/s` or `800MiB/s`."""
    if (matched := _RATE.fullmatch(text.strip())) and float(matched[1]):
        number, unit, binary, kind = matched.groups()
        size: float = float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()]
        return size / 8 if kind.lower() == "bit" else size
    message = f"{text!r} is no bandwidth; use one such as 10Gbit or 500MB/s"
    raise typer.BadParameter(message, param_hint=option)


def _counts_of(text: str) -> tuple[int, ...]:
    """The numbers of nodes in `16` or `1,2,4`."""
    words = [word.strip() for word in text.split(",")]
    if all(word.isascii() and word.isdigit() and 1 <= int(word) <= NODES_MAX for word in words):
        return tuple(map(int, words))
    message = f"{text!r}: use numbers from 1 to {NODES_MAX}, such as 16 or 1,2,4"
    raise typer.BadParameter(message, param_hint="--nodes")


def _constants(path: Path | None) -> "Constants":
    from coordinator.model import Constants

    if path is None:
        return Constants()
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
        return Constants(**{name: float(stated[name]) for name in Constants._fields})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CannotBuild(
            f"{path} holds no constants; print some with kingpair bench --constants"
        ) from error


def _text(found: "Sequence[tuple[Cluster, Closure]]") -> Iterator[str]:
    from api.text import columns

    rows = [_row(cluster, closure) for cluster, closure in found]
    yield from columns([_HEAD, *rows], "<" + ">" * (len(_HEAD) - 1))


def _row(cluster: "Cluster", closure: "Closure") -> tuple[str, ...]:
    from api.text import duration
    from coordinator.plan import gib as size

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


def _json(cluster: "Cluster", closure: "Closure") -> dict[str, Any]:
    return {
        "cluster": cluster._asdict(),
        "seconds": closure.seconds,
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
        "seconds": seconds,
        "exchanged": domain.exchanged,
        "table": domain.table,
        "log": domain.log,
        "passes": [p._asdict() for p in domain.passes],
    }


COMMANDS: tuple[Callable[..., None], ...] = (model,)
