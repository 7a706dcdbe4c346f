"""The plan of a build as an event: waves of materials for a metric."""

from collections.abc import Sequence
from typing import Any

from kingpair.coordinator.journal.domain_record import structures_by_level
from kingpair.coordinator.machine.records import WavesPlanned
from kingpair.workers.table.key import TableKey


def plan_told(plan: WavesPlanned, metric: str) -> dict[str, Any]:
    """Returns the materials of a plan for a metric, and the structures of each level of those with
    pawns.
    """
    waves = [_of_metric(wave, metric) for wave in plan.waves]
    exists = _of_metric(plan.present, metric)
    found = {"waves": [wave for wave in waves if wave], "exists": exists, "metric": metric}
    return found | {
        "levels": {m: structures_by_level(m) for wave in waves for m in wave if "P" in m}
    }


def _of_metric(domains: Sequence[str], metric: str) -> list[str]:
    """The materials of the domains that are for a metric."""
    found = map(TableKey.parse, domains)
    return [str(subject.material) for subject in found if subject.metric == metric]
