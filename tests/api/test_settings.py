"""Facts about settings: which source goes before which, what is refused, what is never shown."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from terminal import kingpair, said, told

from kingpair.api import settings
from kingpair.api.cli.failures import ExitCode
from kingpair.api.settings import KNOWN, Settings, Size, Words, read
from kingpair.workers.errors import BadSettings


def written(at: Path, text: str) -> Path:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text, encoding="utf-8")
    return at


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "kingpair.toml", 'port = 1\nhost = "localhost"\nthreads = 1\n')


# Which goes before which


def test_nothing_said_is_the_defaults() -> None:
    found = read({}, None, {"HOME": "/nonexistent"})
    assert found.settings == Settings()
    assert set(found.origins.values()) == {"default"}


def test_flags_go_before_the_environment_and_that_before_the_file(file: Path) -> None:
    environ = {"KINGPAIR_PORT": "2", "KINGPAIR_HOST": "127.0.0.2"}
    found = read({"port": 3, "tables": None}, file, environ)
    assert (found.settings.port, found.settings.host, found.settings.threads) == (3, "127.0.0.2", 1)
    assert [found.origins[name] for name in ("port", "host", "threads", "tables")] == [
        "--port",
        "KINGPAIR_HOST",
        f"{file}: threads",
        "default",
    ]


def test_an_empty_variable_is_none(file: Path) -> None:
    assert read({}, file, {"KINGPAIR_PORT": ""}).settings.port == 1


def test_the_file_is_the_one_named_or_that_of_the_home(tmp_path: Path, file: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    written(tmp_path / "kingpair" / "kingpair.toml", "port = 7\n")
    assert read({}, None, home).settings.port == 7
    assert read({}, None, home | {"KINGPAIR_CONFIG": str(file)}).settings.port == 1
    assert read({}, file, home | {"KINGPAIR_CONFIG": "/nonexistent"}).settings.port == 1


def test_types_are_those_of_the_fields_whatever_they_are_written_as(tmp_path: Path) -> None:
    file = written(tmp_path / "kingpair.toml", 'tables = "~/tables"\nmemory = "12GiB"\n')
    environ = {"KINGPAIR_VERBOSE": "true", "KINGPAIR_CACHE": "1000", "KINGPAIR_LOOK_EVERY": "0.5"}
    found = read({}, file, environ).settings
    assert found.tables == Path.home() / "tables"
    assert (found.memory, found.cache, found.verbose, found.look_every) == (
        12 << 30,
        1000,
        True,
        0.5,
    )


@pytest.mark.parametrize(
    ("wanted", "size"),
    [("12GiB", 12 << 30), ("12 gib", 12 << 30), ("1.5G", 1_500_000_000), ("800MB", 800_000_000)],
)
def test_memory_is_written_as_people_do(wanted: str, size: int) -> None:
    assert Size.parse(wanted) == size


@pytest.mark.parametrize("given", ["a, b", "a,b,", ["a", "b"]])
def test_a_list_is_an_array_or_has_commas(given: object) -> None:
    assert Words.parse(given) == ("a", "b")


# What is refused

REFUSED: tuple[tuple[str, Mapping[str, str], str, str], ...] = (
    (
        "an unknown key",
        {},
        "prot = 3",
        "kingpair.toml: prot is no setting of kingpair; did you mean",
    ),
    ("a section", {}, "[service]\nport = 3", "service is no setting of kingpair"),
    ("an unknown variable", {"KINGPAIR_TABELS": "x"}, "", "did you mean KINGPAIR_TABLES?"),
    ("nothing like any", {"KINGPAIR_XYZZY": "x"}, "", "there are tables, threads"),
    (
        "a word for a number",
        {"KINGPAIR_PORT": "http"},
        "",
        "KINGPAIR_PORT = 'http': must be a whole number",
    ),
    ("too large", {}, "port = 70000", "port = 70000: must be at most 65535"),
    ("no threads", {"KINGPAIR_THREADS": "0"}, "", "must be at least 1"),
    ("no amount", {}, 'memory = "lots"', "use one such as 12GiB"),
    ("neither yes nor no", {}, 'verbose = "maybe"', "verbose = 'maybe': must be true or false"),
    ("no path", {}, "tables = 3", "tables = 3: must be a path"),
    ("no number", {}, 'look_every = "x"', "look_every = 'x': must be a number"),
    ("no TOML", {}, "port: 3", "is no TOML"),
)


@pytest.mark.parametrize(
    ("environ", "text", "why"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_an_impossible_setting_is_an_error_that_says_where_it_was_set(
    environ: Mapping[str, str], text: str, why: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "kingpair.toml", text)
    with pytest.raises(BadSettings) as caught:
        read({}, file, environ)
    assert why in str(caught.value)
    result = kingpair("--config", file, "config", **environ)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert (result.stdout, result.stderr) == (
        "",
        f"kingpair: {' '.join(str(caught.value).split())}\n",
    )


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    result = kingpair("--config", tmp_path / "nowhere.toml", "config")
    assert (result.exit_code, result.stderr.count("\n")) == (ExitCode.BAD_INPUT, 1)
    assert "nowhere.toml: No such file" in result.stderr


# What is shown


def test_config_says_each_setting_its_value_and_who_said_it(file: Path) -> None:
    lines = said("--config", file, "config", "--cache", "1GiB").splitlines()
    cells = {line.split()[0]: line.split() for line in lines[1:]}
    assert set(cells) == set(KNOWN)
    assert cells["cache"][1:4] == ["1.0", "GiB", "--cache"]
    assert cells["port"][1:4] == ["1", f"{file}:", "port"]
    assert cells["verbose"][1:3] == ["false", "default"]
    data = told("--config", file, "config")
    assert (data["port"]["value"], data["port"]["said_by"]) == (1, f"{file}: port")


def test_a_secret_is_never_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = dataclasses.make_dataclass(
        "Kept",
        [("token", str | None, settings.secret("a token"))],
        bases=(Settings,),
        frozen=True,
        kw_only=True,
    )
    known = {each.name: each for each in dataclasses.fields(kept)}
    monkeypatch.setattr(settings, "Settings", kept)
    monkeypatch.setattr(settings, "KNOWN", known)
    found = read({}, None, {"KINGPAIR_TOKEN": "open sesame"})
    assert vars(found.settings)["token"] == "open sesame"
    shown = [repr(found), json.dumps([found.said(name) for name in known])]
    with pytest.raises(BadSettings) as caught:
        read({}, written(tmp_path / "kingpair.toml", 'token = ["open sesame"]'), {})
    assert [text for text in [*shown, str(caught.value)] if "sesame" in text] == []
    assert "token" in str(caught.value)


def test_of_a_store_behind_a_uri_only_the_address_is_shown() -> None:
    result = kingpair("config", KINGPAIR_TABLES="s3://name:sesame@lab/tables?key=sesame")
    assert "s3://lab/tables " in result.stdout
    assert "sesame" not in result.stdout


def test_every_command_heeds_what_is_set(tables: Path) -> None:
    set_ = {"KINGPAIR_TABLES": str(tables)}
    for words in (("tables",), ("stats", "KQvKR"), ("probe", "8/8/8/8/Q7/5k2/8/K3r3_w")):
        assert kingpair(*words, **set_).exit_code == 0
    assert kingpair("longest", "KQvKR", **set_).exit_code == 0
    result = kingpair("build", "KQvK", **set_, KINGPAIR_MEMORY="1MiB", KINGPAIR_THREADS="2")
    assert (result.exit_code, result.stdout.startswith("nothing to build")) == (0, True)


def test_where_nothing_is_set_pydantic_is_not_waited_for() -> None:
    imported = "import sys, kingpair.api.settings as s"
    code = f"{imported}\ns.read({{'port': 3}})\nsys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
