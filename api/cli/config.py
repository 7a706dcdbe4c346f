"""Prints the settings, and where each was set, for people and for programs."""

from collections.abc import Iterator
from typing import Any

from kingpair.api.settings import KNOWN, InForce, Size
from kingpair.api.text import columns
from kingpair.coordinator.plan.amounts import amount


def config_text(found: InForce) -> Iterator[str]:
    head = ("setting", "value", "said by", "is")
    yield from columns([head, *(_row(found, name) for name in KNOWN)], "<<<<")


def _row(found: InForce, name: str) -> tuple[str, ...]:
    return name, _shown(found.said(name)), found.origins[name], KNOWN[name].metadata["help"]


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case Size():
            return amount(value)
        case tuple():
            return ", ".join(value) or "-"
    return str(value)


def config_json(found: InForce) -> dict[str, Any]:
    return {
        name: {
            "value": found.said(name),
            "said_by": found.origins[name],
            "is": KNOWN[name].metadata["help"],
        }
        for name in KNOWN
    }
