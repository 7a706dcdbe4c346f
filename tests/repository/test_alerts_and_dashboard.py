"""Facts about the rules of Prometheus and the dashboard of Grafana in deploy/."""

import json
import re
from pathlib import Path

import yaml
from deploy_files import (
    DASHBOARD,
    DEPLOY,
    RULES,
    checked,
    resources,
    text_of,
    tool,
)
from prometheus_client.parser import text_string_to_metric_families
from services import client_of


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
