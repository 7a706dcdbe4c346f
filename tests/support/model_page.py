"""The outputs of `kingpair model` that the documentation shows.

python model_page.py        runs the commands again, and writes what they print into the page
"""

import re
from pathlib import Path

from terminal import said

DOCUMENT = Path(__file__).parents[2] / "deploy" / "docs" / "cluster.md"
SHOWN = re.compile(r"(```sh\nkingpair (model [^\n]*)\n```\n\n```text\n)(.*?)```", re.DOTALL)


def refreshed(text: str) -> str:
    """Returns a page with what its commands print now."""
    return SHOWN.sub(lambda found: f"{found[1]}{said(*found[2].split())}```", text)


if __name__ == "__main__":
    DOCUMENT.write_text(refreshed(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
