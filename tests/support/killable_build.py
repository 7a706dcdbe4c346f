"""A build in a process of its own, which can be killed: by us, or by the kernel in mid-write.

    python killable_build.py OUT LIMIT HELD PARTS METRIC,... MATERIAL ...

It prints a line for each event, and is never more than one event ahead of its parent, which answers
each with a line.  With a LIMIT other than 0 the process dies on the spot, as if by kill -9, when a
file of its own would grow beyond so many bytes: what was written stays as it is.  With HELD it
divides levels of pawns so that no more than so many bytes of sets are in memory, if they can be.
With PARTS two workers share each material and keep tables in parts.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Became, WavesPlanned
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import KingpairError
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric


def main(out: str, limit: str, held: str, parts: str, metrics: str, *names: str) -> int:
    if int(limit):
        # Python would otherwise turn the signal into an error that it can handle.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        materials = tuple(map(Material.parse, names))
        asked = tuple(map(Metric, metrics.split(",")))
        spec, most = BuildSpec(materials, asked), int(held) if held else None
        request = BuildRequest(spec, Path(out), threads=2, held=most)
        if parts:
            request = replace(request, spec=replace(spec, spread=2), parts_from=1)
        build(request, tell)
    except KingpairError as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    return 0


def tell(row: Row) -> None:
    if isinstance(row.record, Became):
        return
    domain = getattr(row.record, "domain", None)
    print(type(row.record).__name__, *filter(None, [domain]), flush=True)
    if not isinstance(row.record, WavesPlanned):
        sys.stdin.readline()


def command(
    out: Path,
    names: Iterable[str],
    limit: int = 0,
    metrics: str = "dtc",
    held: int | None = None,
    parts: bool = False,
) -> list[str]:
    most, how = "" if held is None else str(held), "parts" if parts else ""
    return [sys.executable, __file__, str(out), str(limit), most, how, metrics, *names]


def environment() -> dict[str, str]:
    """The child imports what we import."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def killed(
    out: Path,
    names: Iterable[str],
    at: Callable[[int, str], bool],
    metrics: str = "dtc",
    held: int | None = None,
    parts: bool = False,
) -> bool:
    """Build, and kill at the first event (its number, its line) for which `at` holds."""
    with subprocess.Popen(
        command(out, names, metrics=metrics, held=held, parts=parts),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for number, line in enumerate(child.stdout, 1):
            if at(number, line.strip()):
                child.kill()
                break
            # It may be gone already, after its last event.
            with suppress(BrokenPipeError):
                os.write(child.stdin.fileno(), b"\n")
    return child.returncode == -signal.SIGKILL


def killed_at_size(out: Path, names: Iterable[str], limit: int) -> bool:
    """Build until the first file reaches a size."""
    done = subprocess.run(
        command(out, names, limit),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
    )
    return done.returncode == -signal.SIGXFSZ


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
