"""Facts about deploy/: it is well formed, it names what is there, and it says what is true.

Each kind of file is put before the checker that its users have.  Those that come with Python's
packages are in the test group; nginx, promtool and systemd are Debian's, kubectl is whoever's has
it.  What is not on the machine is left out, with the reason.
"""

import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from prometheus_client.parser import text_string_to_metric_families
from services import client_of, running, until

from api.settings import CONFIG, KNOWN, PREFIX
from api.tokens import Scope, Tokens

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
PAGES = [path for path in FILES if path.suffix == ".md"]
YAML = [path for path in FILES if path.suffix in (".yaml", ".yml")]
RULES = DEPLOY / "prometheus" / "rules.yml"
DASHBOARD = DEPLOY / "grafana" / "kingpair.json"
SHELL = [DEPLOY / "node", DEPLOY / "slurm" / "kingpair.sbatch", ROOT / ".ci" / "run"]
PACKAGES = {"nginx": "nginx-light", "promtool": "prometheus", "systemd-analyze": "systemd"}


def tool(name: str) -> str:
    """Where a checker is."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name, path="/usr/sbin:/usr/bin")
    if (found := found or shutil.which(name)) is None:
        pytest.skip(f"no {name} here: apt-get install {PACKAGES.get(name, name)}")
    return found


def checked(*command: str | Path, at: Path = DEPLOY) -> str:
    """What a checker prints that finds nothing wrong."""
    done = subprocess.run(
        command, cwd=at, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def text_of(*paths: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def resources(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text_of(path)) if each]


# Pages


def test_what_the_pages_name_is_there() -> None:
    named = {name.rstrip(".") for name in re.findall(r"\bdeploy/[\w./-]+", text_of(*PAGES))}
    linked = {
        (page.parent / target).relative_to(ROOT)
        for page in PAGES
        for target in re.findall(r"\]\(((?!http)[\w./-]+)\)", text_of(page))
    }
    assert len(named) > 5
    assert [str(name) for name in {*named, *linked} if not (ROOT / name).exists()] == []


def test_the_page_tells_of_every_file() -> None:
    page = text_of(DEPLOY / "README.md")
    relative = [path.relative_to(DEPLOY) for path in FILES if path != DEPLOY / "README.md"]
    assert [
        str(path)
        for path in relative
        if not any(str(part) in page for part in (path, *path.parents) if str(part) != ".")
    ] == []


def test_every_variable_is_a_setting() -> None:
    # But for what CMake is told.
    named = set(
        re.findall(
            rf"(?<!define\.)\b{PREFIX}[A-Z_]+\b",
            text_of(*(path for path in FILES if path.suffix != ".png")),
        )
    )
    assert named
    assert named - {f"{PREFIX}{name.upper()}" for name in KNOWN} - {CONFIG} == set()


def test_every_key_of_a_settings_file_is_a_setting() -> None:
    blocks = re.findall(r"^```toml\n(.*?)^```$", text_of(*PAGES), re.MULTILINE | re.DOTALL)
    assert blocks
    assert {key for block in blocks for key in tomllib.loads(block)} - KNOWN.keys() == set()


def test_images_are_named_once() -> None:
    dockerfile = text_of(DEPLOY / "Dockerfile")
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.M)) == {"python:${PYTHON}"}
    assert dockerfile.count("ARG PYTHON") == 1
    [compose] = resources(DEPLOY / "compose.yaml")
    assert len({each["image"] for each in compose["services"].values()}) == 1
    # The version stands in the kustomization.
    assert {each["image"] for pod in pods() for each in pod["containers"]} == {"kingpair"}


def test_ray_is_the_one_that_is_pinned() -> None:
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    [pinned] = project["optional-dependencies"]["cluster"]
    [cluster] = resources(DEPLOY / "kubernetes" / "cluster.yaml")
    assert cluster["spec"]["rayVersion"] in SpecifierSet(pinned.removeprefix("ray"))


# Programs and images


@pytest.mark.parametrize("script", SHELL, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    checked(tool("shellcheck"), script)


def test_hadolint_has_nothing_to_say() -> None:
    checked(tool("hadolint"), "Dockerfile")


def test_what_the_image_is_made_of_is_sent_to_its_builder() -> None:
    kept = {line[1:] for line in text_of(ROOT / ".dockerignore").split() if line.startswith("!")}
    lines = re.findall(
        r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", text_of(DEPLOY / "Dockerfile"), re.M
    )
    copied = {name for line in lines for name in line.split()}
    assert copied == kept
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_compose_is_what_compose_reads() -> None:
    checked(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")


def test_no_container_can_change_its_system() -> None:
    [compose] = resources(DEPLOY / "compose.yaml")
    for container in compose["services"].values():
        assert container["read_only"]
        assert container["cap_drop"] == ["ALL"]
        assert container["security_opt"] == ["no-new-privileges:true"]
        assert {"mem_limit", "cpus", "pids_limit", "shm_size"} <= container.keys()
    assert compose["networks"]["cluster"]["internal"]
    ports = [port for each in compose["services"].values() for port in each.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_yamllint_has_nothing_to_say() -> None:
    style = {"document-start": "disable", "line-length": {"max": 110}}
    rules = json.dumps({"extends": "default", "rules": style})
    checked(tool("yamllint"), "--strict", "--config-data", rules, *YAML)


# Kubernetes


def of_kubernetes() -> Iterator[dict[str, Any]]:
    """All that is applied; of what KubeRay runs, its pods."""
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        for resource in resources(path):
            if resource["kind"] == "RayCluster":
                spec = resource["spec"]
                for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
                    name = {"name": group.get("groupName", "head")}
                    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": name}
                    yield {**pod, "spec": group["template"]["spec"]}
            elif resource["kind"] != "Kustomization":
                yield resource


def test_the_manifests_are_what_kubernetes_takes(tmp_path: Path) -> None:
    file = tmp_path / "resources.yaml"
    file.write_text(yaml.safe_dump_all(of_kubernetes()), encoding="utf-8")
    checked(tool("kubernetes-validate"), "--strict", file)


def pods() -> list[dict[str, Any]]:
    specs = [resource.get("spec", {}) for resource in of_kubernetes()]
    inner = [spec["template"]["spec"] if "template" in spec else spec for spec in specs]
    return [spec for spec in inner if "containers" in spec]


def test_the_pods_keep_to_the_strictest_standard() -> None:
    assert len(pods()) == 3
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_no_service_of_the_namespace_is_taken_for_a_setting() -> None:
    # Kubernetes puts NAME_PORT=tcp://... of each Service into every pod that does not refuse it.
    services = [each for each in of_kubernetes() if each["kind"] == "Service"]
    assert [each["metadata"]["name"] for each in services] == ["kingpair"]
    assert [pod for pod in pods() if pod.get("enableServiceLinks") is not False] == []


def test_a_cluster_grows_as_the_page_says() -> None:
    [patch] = re.findall(r"patch raycluster kingpair --type json -p '(.*?)'", text_of(*PAGES))
    local = ("patch", "--local", "--filename", "kubernetes/cluster.yaml", "--output", "yaml")
    patched = checked(tool("kubectl"), *local, "--type", "json", "--patch", patch)
    assert yaml.safe_load(patched)["spec"]["workerGroupSpecs"][0]["replicas"] == 4


def test_no_network_is_open_by_default() -> None:
    closed, *_ = resources(DEPLOY / "kubernetes" / "network.yaml")
    assert closed["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_the_parts_make_a_whole() -> None:
    made = list(yaml.safe_load_all(checked(tool("kubectl"), "kustomize", "kubernetes")))
    assert {each["kind"] for each in made} >= {"RayCluster", "Deployment", "NetworkPolicy"}
    assert all(each["metadata"].get("namespace", "kingpair") == "kingpair" for each in made)
    images = set(re.findall(r"image: (\S+)", yaml.safe_dump_all(made)))
    [kustomization] = resources(DEPLOY / "kubernetes" / "kustomization.yaml")
    [image] = kustomization["images"]
    assert images == {f"{image['newName']}:{image['newTag']}"}


# Ray


@pytest.mark.slow
def test_ray_takes_the_file_of_ray_up() -> None:
    program = (
        "import sys, yaml\n"
        "from ray.autoscaler._private.util import prepare_config, validate_config\n"
        "config = prepare_config(yaml.safe_load(open(sys.argv[1])))\n"
        "validate_config(config)\n"
        "[node] = config['available_node_types'].values()\n"
        "assert node['min_workers'] == len(config['provider']['worker_ips'])\n"
    )
    checked(sys.executable, "-c", program, DEPLOY / "ray" / "kingpair.yaml")


# systemd


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit as it stands, but for a program that is there."""
    text = text_of(DEPLOY / "systemd" / "kingpair.service")
    assert "ExecStart=/opt/kingpair/bin/kingpair serve\n" in text
    copy = tmp_path / "kingpair.service"
    copy.write_text(text.replace("/opt/kingpair/bin/kingpair", sys.executable), encoding="utf-8")
    return copy


def test_systemd_understands_the_unit(unit: Path) -> None:
    assert checked(tool("systemd-analyze"), "verify", "--man=no", unit) == ""


def test_the_unit_is_shut_in(unit: Path) -> None:
    analyze = tool("systemd-analyze")
    checked(analyze, "security", "--offline=true", "--threshold=15", "--no-pager", unit)


# Prometheus and Grafana


def queries() -> list[str]:
    """All that the rules and the dashboard ask Prometheus for, without Grafana's variables."""
    [rules] = resources(RULES)
    asked = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    panels = json.loads(text_of(DASHBOARD))["panels"]
    drawn = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    assert drawn
    return asked + [q.replace("$__rate_interval", "5m").replace("$instance", ".*") for q in drawn]


def test_every_metric_that_is_watched_is_there(tables: Path) -> None:
    with client_of(tables) as client:
        families = text_string_to_metric_families(client.get("/metrics").text)
        there = {f"{f.name}{suffix}" for f in families for suffix in SUFFIXES[f.type]}
    every = [rule for group in resources(RULES)[0]["groups"] for rule in group["rules"]]
    recorded = {rule["record"] for rule in every if "record" in rule}
    watched = set(re.findall(r"\bkingpair[\w:]+", "\n".join(queries())))
    assert watched - recorded - there == set()


SUFFIXES: dict[str, tuple[str, ...]] = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_count", "_sum"),
}


def test_the_rules_are_in_order() -> None:
    checked(tool("promtool"), "check", "config", "--syntax-only", "prometheus/prometheus.yml")
    checked(tool("promtool"), "check", "rules", "--lint-fatal", RULES)


def test_the_alerts_go_off_when_they_should() -> None:
    checked(tool("promtool"), "test", "rules", DEPLOY / "prometheus" / "rules_test.yml")


def test_every_alert_is_tried_and_explained() -> None:
    alerts = set(re.findall(r"alert: (\w+)", text_of(RULES)))
    tried = set(re.findall(r"alertname: (\w+)", text_of(DEPLOY / "prometheus" / "rules_test.yml")))
    explained = set(re.findall(r"`(Kingpair\w+)`", text_of(DEPLOY / "docs" / "operate.md")))
    assert alerts == tried == explained


def test_prometheus_understands_what_the_dashboard_asks(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{n}", "expr": query} for n, query in enumerate(queries())]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    checked(tool("promtool"), "check", "rules", file)


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    panels = json.loads(text_of(DASHBOARD))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


# nginx


CONF = DEPLOY / "nginx" / "kingpair.conf"
NAME = "tables.example.org"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Front(NamedTuple):
    """Where nginx listens, and the certificate that it shows."""

    plain: int
    secure: int
    certificate: Path

    @contextmanager
    def ask(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[HTTPResponse]:
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        with closing(HTTPSConnection("127.0.0.1", self.secure, timeout=20)) as link:
            connected = socket.create_connection(("127.0.0.1", self.secure), 20)
            link.sock = trusted.wrap_socket(connected, server_hostname=NAME)
            link.request("GET", path, headers={"Host": NAME, **(headers or {})})
            with link.getresponse() as answer:
                yield answer

    def status(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        with self.ask(path, headers) as answer:
            answer.read()
            return answer.status


def written(place: Path, upstream: int) -> Front:
    """The file as it stands, with a certificate, and on ports that anybody may have."""
    front = Front(free_port(), free_port(), place / "fullchain.pem")
    key = place / "privkey.pem"
    subject = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    checked(tool("openssl"), *new, *subject, "-keyout", key, "-out", front.certificate)
    text = re.sub(r".*listen \[::\].*\n", "", text_of(CONF))
    for before, after in (
        ("server 127.0.0.1:8000", f"server 127.0.0.1:{upstream}"),
        ("listen 80", f"listen 127.0.0.1:{front.plain}"),
        ("listen 443", f"listen 127.0.0.1:{front.secure}"),
        ("/etc/ssl/kingpair", str(place)),
    ):
        assert before in text
        text = text.replace(before, after)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in kinds)
    (place / "kingpair.conf").write_text(text, encoding="utf-8")
    (place / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {place}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {places} include {place}/kingpair.conf; }}\n",
        encoding="utf-8",
    )
    return front


@contextmanager
def front_of(place: Path, upstream: int) -> Iterator[Front]:
    """nginx at work before what listens on a port."""
    front = written(place, upstream)
    command = [tool("nginx"), "-p", str(place), "-c", str(place / "nginx.conf")]
    with subprocess.Popen(command) as process:
        try:
            until(lambda: listens(front.secure), 20)
            yield front
        finally:
            process.terminate()


def listens(port: int) -> bool:
    with socket.socket() as link:
        return link.connect_ex(("127.0.0.1", port)) == 0


def test_nginx_understands_the_front(tmp_path: Path) -> None:
    written(tmp_path, 8000)
    checked(tool("nginx"), "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf")


@pytest.mark.slow
def test_the_front_passes_on_what_is_asked_and_who_asks(tables: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tables, tmp_path / "tables")
    secret = Tokens(copy).create("reader", Scope.PROBE)
    told = ("--tables", str(copy), "--port", "0", "--name", NAME)
    with running(*told) as (_, url), front_of(tmp_path, int(url.split(":")[2][:-1])) as front:
        assert front.status("/healthz") == 200
        assert front.status("/api/v1/tables") == 401
        shown = {"Authorization": f"Bearer {secret}"}
        assert front.status("/api/v1/tables", shown) == 200
        assert front.status("/api/v1/tables", {"Cookie": f"kingpair={secret}"}) == 200
        assert front.status("/healthz", {"Host": "elsewhere.example.org"}) == 421
        with front.ask("/api/v1/tables/KQvKR/file", shown) as answer:
            assert answer.read() == (copy / "KQvKR.dtc.arrow").read_bytes()
        with closing(HTTPConnection("127.0.0.1", front.plain, timeout=20)) as plain:
            plain.request("GET", "/docs", headers={"Host": NAME})
            with plain.getresponse() as answer:
                assert answer.headers["Location"] == f"https://{NAME}/docs"


@pytest.mark.slow
def test_the_front_passes_on_each_event_as_it_comes(tmp_path: Path) -> None:
    seen = threading.Event()

    class Stream(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"data: first\n\n")
            # The second only once the first has arrived: where it is held back, neither comes.
            self.wfile.write(b"data: second\n\n" if seen.wait(20) else b"data: nobody\n\n")

    with ThreadingHTTPServer(("127.0.0.1", 0), Stream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with front_of(tmp_path, server.server_port) as front:
            for path in ("/api/v1/events", "/api/v1/builds/b17/events"):
                seen.clear()
                with front.ask(path) as answer:
                    assert answer.readline() == b"data: first\n"
                    seen.set()
                    assert answer.read() == b"\ndata: second\n\n"
        server.shutdown()
