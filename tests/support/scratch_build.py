"""A build in a process of its own that holds so many bytes of its sets, none of them for 0; the
others lie in a directory.

    python scratch_build.py OUT SCRATCH MATERIAL BYTES WORKERS [--fill KIB | --kill EVENT]

With --fill so many KiB are put into the directory once the last material has a worker.  With --kill
the process dies on the spot when it is told of that event, while its worker goes on.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

from kingpair.coordinator.execute.build import build
from kingpair.coordinator.execute.request import BuildRequest
from kingpair.coordinator.journal.rows import Row
from kingpair.coordinator.machine.records import Assigned
from kingpair.coordinator.plan.build_spec import BuildSpec
from kingpair.workers.errors import KingpairError
from kingpair.workers.game.chess.material import Material

GRAIN = 1 << 10
"""So that all workers share even a material of four men."""


def main(
    out: str,
    scratch: str,
    name: str,
    held: str,
    workers: str,
    does: str = "",
    number: str = "0",
) -> int:
    spec, directory, events = BuildSpec((Material.parse(name),)), Path(scratch), count(1)

    def listen(row: Row) -> None:
        event = next(events)
        is_last = isinstance(row.record, Assigned) and row.record.domain.startswith(name)
        if does == "--fill" and is_last:
            (directory / "filler").write_bytes(bytes(int(number) << 10))
        if does == "--kill" and event == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    request = BuildRequest(
        spec,
        Path(out),
        threads=2,
        held=int(held),
        scratch=directory,
        workers=int(workers),
        grain=GRAIN,
    )
    try:
        build(request, listen)
    except KingpairError as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    return 0


def command(out: Path, scratch: Path, name: str, held: int = 0, workers: int = 1) -> list[str]:
    return [sys.executable, __file__, str(out), str(scratch), name, str(held), str(workers)]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
