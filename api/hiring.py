"""Who does a build's work: threads of this process unless a cluster is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from workers.errors import CannotBuild

if TYPE_CHECKING:
    from coordinator.crew import Hire
    from coordinator.domains import Node


def seen(cluster: str, cores: int) -> "tuple[Node, ...]":
    """The nodes of a cluster; CannotBuild if there are none."""
    from coordinator.crew import Site
    from workers.workshop import Library

    with hiring(cluster, cores, None) as hire:
        assert hire is not None
        with hire(Site("", False), Library(Path())) as crew:
            if not crew.nodes:
                raise CannotBuild(f"the cluster {cluster} has no node with a core to spare")
            return crew.nodes


@contextmanager
def hiring(cluster: str | None, cores: int, workers: int | None) -> "Iterator[Hire | None]":
    """What hires a crew, for as long as the cluster is connected to; none for threads."""
    if cluster is None:
        if workers is not None:
            raise typer.BadParameter("needs --cluster; use --threads here", param_hint="--workers")
        yield None
        return
    try:
        from api.ray_cluster import connected
        from api.ray_crew import Limits, RayCrew
    except ModuleNotFoundError as error:
        raise CannotBuild(
            f"--cluster needs {error.name}; install kingpair[cluster], on every node"
        ) from error
    with connected(cluster, cores):
        yield lambda site, library: RayCrew(site, workers, Limits())
