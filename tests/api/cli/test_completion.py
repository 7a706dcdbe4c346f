"""Facts about shell completion: which words are offered where."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from terminal import kingpair, said

from kingpair.api.cli.failures import ExitCode

BASH = """
source {script}
COMP_WORDS=({words} "")
COMP_WORDS[-1]={last!r}
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_kingpair
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source {script}; complete -C {line!r}"
ZSH = """
compdef() {{ }}
compadd() {{ print -l -- "${{@[2,-1]}}" }}
_files() {{ print -l -- *(/) }}
source {script}
words=({words} "")
CURRENT=${{#words}}
_kingpair
"""
"""Outside a terminal zsh has no completion system, so these stand for the three words of it."""
Complete = Callable[[str], list[str]]
"""The words that a shell offers for the last word of a line."""


def in_bash(script: Path, line: str) -> str:
    words, _, last = line.rpartition(" ")
    return BASH.format(script=script, words=words, last=last)


def in_fish(script: Path, line: str) -> str:
    return FISH.format(script=script, line=line)


def in_zsh(script: Path, line: str) -> str:
    return ZSH.format(script=script, words=line.rpartition(" ")[0])


@pytest.fixture(params=["bash", "zsh", "fish"])
def complete(request: pytest.FixtureRequest, tmp_path: Path) -> Complete:
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"completion was not tried in {shell}: apt-get install {shell}")
    script = tmp_path / "script"
    script.write_text(said("completion", shell), encoding="utf-8")
    ask = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}[shell]

    def offered(line: str) -> list[str]:
        command = [shell, "-c", ask(script, line)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert done.stderr == ""
        words = sorted(each.partition("\t")[0] for each in done.stdout.split("\n") if each)
        # zsh itself leaves out what does not begin with the word.
        return [word for word in words if word.startswith(line.rpartition(" ")[2])]

    return offered


def test_commands_are_offered_by_what_they_begin_with(complete: Complete) -> None:
    assert complete("kingpair s") == ["sample", "serve", "stats"]
    assert complete("kingpair token r") == ["revoke"]


def test_materials_are_offered_where_a_material_is_expected(complete: Complete) -> None:
    offered = complete("kingpair build KQvK")
    assert set(offered) == {"KQvK", "KQvKQ", "KQvKR", "KQvKB", "KQvKN", "KQvKP"}
    assert "KRBvKBN" in complete("kingpair report KRB")
    assert "KPPvKP" in complete("kingpair build KPPv")
    assert "--pawnless" in complete("kingpair build --p")
    assert complete("kingpair tables KQ") == []


def test_options_are_offered_with_their_values(complete: Complete) -> None:
    assert "--metric" in complete("kingpair build --m")
    assert complete("kingpair build --metric ") == ["dtc", "dtm", "dtz"]
    assert complete("kingpair build KQvK --cluster l") == ["local"]
    assert complete("kingpair sample KQvK --wdl ") == ["draw", "loss", "win"]
    assert complete("kingpair sample KQvK --to-move ") == ["black", "white"]


def test_directories_are_offered_where_tables_are(complete: Complete, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "my-file").touch()
    assert [word.rstrip("/") for word in complete("kingpair probe --tables m")] == ["mine"]


def test_another_shell_is_refused() -> None:
    refused = kingpair("completion", "tcsh")
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert "'tcsh' is none of bash, zsh, fish" in refused.stderr
