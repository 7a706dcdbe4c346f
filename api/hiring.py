"""Who does a build's work: threads of this process unless a cluster is asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from workers.errors import CannotBuild

if TYPE_CHECKING:
    from coordinator.crew import Hire


@contextmanager
def hiring(cluster: str | None, cores: int, workers: int | None) -> "Iterator[Hire | None]":
    """What hires a crew, for as long as the cluster is connected to; none for threads."""
    if cluster is None:
        if workers is not None:
            raise typer.BadParameter("needs --cluster; use --threads here", param_hint="--workers")
        yield None
        return
    try:
        from api.ray_crew import Limits, RayCrew, connected
    except ModuleNotFoundError as error:
        raise CannotBuild(
            f"--cluster needs {error.name}; install kingpair[cluster], on every node"
        ) from error
    with connected(cluster, cores):
        yield lambda site, tables: RayCrew(site, workers, Limits())
