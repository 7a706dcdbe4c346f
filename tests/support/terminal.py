"""The command as the tests run it: in this process, or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from kingpair.api.cli.main import app


def kingpair(*words: object, **settings: str) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env=settings)


def said(*words: object) -> str:
    """Runs the command, which must succeed without a word on stderr, and returns its output."""
    result = kingpair(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def told(*words: object) -> Any:
    return json.loads(said(*words, "--json"))


def in_process_of_its_own(*words: object, **streams: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "kingpair", *map(str, words)]
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(command, text=True, env=os.environ | {"PYTHONPATH": root}, **streams)
