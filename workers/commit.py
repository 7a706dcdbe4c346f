"""The commit that the running code was built from.

In a checkout git names it; elsewhere CMake has written it into a file beside this one.
"""

import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
UNKNOWN = "unknown"


@cache
def commit(here: Path = HERE) -> str:
    """Returns the abbreviated commit, with `-dirty` if the checkout has other changes."""
    if (here.parent / ".git").exists():
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        try:
            done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return UNKNOWN
        return done.stdout.strip()
    kept = here / "commit.txt"
    return kept.read_text(encoding="ascii").strip() if kept.is_file() else UNKNOWN
