"""The plan of a build as an event: waves of materials for a metric."""

from collections.abc import Sequence
from typing import Any

from kingpair.coordinator.journal.domain_record import structures_by_level
from kingpair.coordinator.machine.records import WavesPlanned
from kingpair.workers.game.chess.material import Material
from kingpair.workers.game.metric import Metric
from kingpair.workers.table.key import TableKey


def plan_told(plan: WavesPlanned, metric: Metric) -> dict[str, Any]:
    """Returns the materials of a plan for a metric, and the structures of each level of those with
    pawns.
    """
    waves, exists = planned_materials(plan, metric)
    levels = {
        str(material): structures_by_level(material)
        for wave in waves
        for material in wave
        if material.has_pawns
    }
    return {
        "waves": [list(map(str, wave)) for wave in waves],
        "exists": list(map(str, exists)),
        "metric": str(metric),
        "levels": levels,
    }


def planned_materials(
    plan: WavesPlanned, metric: Metric
) -> tuple[list[list[Material]], list[Material]]:
    """The materials that are for a metric: those to be built by wave, and those that are there."""
    waves = [_of_metric(wave, metric) for wave in plan.waves]
    return [wave for wave in waves if wave], _of_metric(plan.present, metric)


def _of_metric(domains: Sequence[str], metric: Metric) -> list[Material]:
    keys = map(TableKey.parse, domains)
    return [key.material for key in keys if key.metric is metric]
