"""Facts about a client that is generated from our description: it reads back every answer."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.request import urlopen

import pytest
from building import CLOSURE, copied
from services import running, until

pytestmark = pytest.mark.slow
GENERATOR = Path(sys.executable).with_name("openapi-python-client")
NAME = "kingpair_client"
LONGEST = "8/8/8/8/Q7/5k2/8/K3r3 w - - 0 1"
BINARY = ("application/vnd.apache.parquet", "application/vnd.apache.arrow.file")
OF_A_TABLE: dict[str, Any] = {"material": "KQvKR"}
ASKED: dict[str, dict[str, Any]] = {
    "access.session_api_v1_session_get": {},
    "builds.every_api_v1_builds_get": {},
    "builds.one_api_v1_builds_id_get": {"id": "b1"},
    "builds.owners_api_v1_builds_id_owners_get": {"id": "b1", "material": "KQvK"},
    "builds.passes_api_v1_builds_id_passes_get": {"id": "b1", "material": "KQvK"},
    "builds.partitions_api_v1_partitions_get": {},
    "lichesss_interface.mainline_standard_mainline_get": {"fen": LONGEST},
    "lichesss_interface.standard_standard_get": {"fen": LONGEST},
    "operations.readyz_readyz_get": {},
    "operations.version_version_get": {},
    "positions.line_api_v1_line_get": {"fen": LONGEST},
    "positions.probe_api_v1_probe_get": {"fen": LONGEST},
    "tables.every_api_v1_tables_get": {},
    "tables.longest_api_v1_tables_material_longest_get": OF_A_TABLE,
    "tables.one_api_v1_tables_material_get": OF_A_TABLE,
    "tables.passes_api_v1_tables_material_passes_get": OF_A_TABLE,
    "tables.sample_api_v1_tables_material_sample_get": OF_A_TABLE,
    "tables.statistics_api_v1_tables_material_statistics_get": OF_A_TABLE,
    "tables.zugzwangs_api_v1_tables_material_zugzwangs_get": OF_A_TABLE,
}
PLAIN = {
    "operations.healthz_healthz_get": {},
    "operations.metrics_metrics_get": {},
    "tables.sha256_api_v1_tables_material_sha256_get": OF_A_TABLE,
    "tables.statistics_parquet_api_v1_tables_material_statistics_parquet_get": OF_A_TABLE,
    "tables.file_api_v1_tables_material_file_get": OF_A_TABLE,
}
POSTED = {
    "builds.submit_api_v1_builds_post": ("Wish", {"materials": ["KQvK"], "force": True}),
    "builds.plan_api_v1_plan_post": ("Wish", {"materials": ["KQvKR"]}),
    "positions.probe_many_api_v1_probe_post": ("Batch", {"fens": [LONGEST]}),
}
CHANGING = {
    "access.begin_api_v1_session_post",  # needs a token, and there is none
    "access.end_api_v1_session_delete",
    "builds.cancel_api_v1_builds_id_cancel_post",
    "builds.retry_api_v1_builds_id_retry_post",
    "builds.delete_api_v1_builds_id_delete",
    "tables.delete_api_v1_tables_material_delete",
    "events.every_api_v1_events_get",  # has no end
    "events.of_one_api_v1_builds_id_events_get",
}


class Generated:
    """The client, and the service that it asks."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder / NAME
        self.client = import_module(NAME).Client(base_url=url.rstrip("/"))

    def route(self, name: str) -> ModuleType:
        return import_module(f"{NAME}.api.{name}")

    def model(self, name: str) -> Any:
        return getattr(import_module(f"{NAME}.models"), name)

    def ask(self, name: str, **arguments: Any) -> Any:
        """The answer as it was read, which must be what was sent."""
        call: Callable[..., Any] = self.route(name).sync_detailed
        answer = call(client=self.client, **arguments)
        assert answer.status_code in (200, 202), answer.content
        assert answer.parsed.to_dict() == json.loads(answer.content)
        return answer.parsed


@pytest.fixture(scope="module")
def generated(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generated]:
    folder = tmp_path_factory.mktemp("client")
    place = copied(tables, folder / "tables", *CLOSURE)
    with running("--tables", str(place), "--port", "0") as (_, url):
        with urlopen(f"{url}openapi.json", timeout=30) as answer:
            (folder / "openapi.json").write_bytes(answer.read())
        _generate(folder)
        sys.path.insert(0, str(folder))
        found = Generated(folder, url)
        try:
            yield found
        finally:
            found.client.get_httpx_client().close()
            sys.path.remove(str(folder))


def _generate(folder: Path) -> None:
    settings = {
        "content_type_overrides": dict.fromkeys(BINARY, "application/octet-stream"),
        "post_hooks": [],
    }
    (folder / "config.json").write_text(json.dumps(settings))
    words = ["generate", "--path", "openapi.json", "--config", "config.json"]
    words += ["--output-path", NAME, "--meta", "none", "--fail-on-warning"]
    command = [str(GENERATOR), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_route_of_the_client_is_tried(generated: Generated) -> None:
    found = {
        f"{path.parent.name}.{path.stem}"
        for path in (generated.folder / "api").glob("*/*.py")
        if path.stem != "__init__"
    }
    assert found == {*ASKED, *PLAIN, *POSTED, *CHANGING}


def test_every_answer_is_read_back(generated: Generated) -> None:
    for name, (model, body) in POSTED.items():
        generated.ask(name, body=generated.model(model).from_dict(body))
    until(lambda: generated.ask("builds.one_api_v1_builds_id_get", id="b1").ended)
    for name, arguments in ASKED.items():
        generated.ask(name, **arguments)


def test_an_answer_that_is_not_json_is_read(generated: Generated) -> None:
    for name, arguments in PLAIN.items():
        answer = generated.route(name).sync_detailed(client=generated.client, **arguments)
        assert answer.status_code == 200
        assert answer.parsed
