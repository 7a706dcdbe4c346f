"""The command as the tests run it: in this process, or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from api.cli import app


def kingpair(*words: object, **settings: str) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env=settings)


def said(*words: object) -> str:
    """What the command prints when all is well."""
    result = kingpair(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def told(*words: object) -> Any:
    return json.loads(said(*words, "--json"))


def in_process_of_its_own(*words: object, **streams: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "api.cli", *map(str, words)]
    root = str(Path(__file__).parent.parent)
    return subprocess.Popen(command, text=True, env=os.environ | {"PYTHONPATH": root}, **streams)
