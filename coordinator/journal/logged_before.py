"""The record of a domain as a build begins it: with the passes that an earlier build has logged."""

from kingpair.coordinator.journal.domain_record import DomainRecord, PassRecord
from kingpair.coordinator.machine.records import WavesPlanned
from kingpair.coordinator.plan.domains import Logged
from kingpair.workers.index.slices import LevelSlice
from kingpair.workers.table.key import DomainKey, TableKey


def begun(name: str, plan: WavesPlanned) -> DomainRecord:
    """A domain, with the passes that an earlier build has logged."""
    domain = DomainRecord.of(TableKey.parse(name))
    of_levels = {level.level: level for level in (*domain.levels, domain)}
    for logged in filter(_has_begun, plan.logged):
        table, slice_ = DomainKey.parse(logged.domain)
        if str(table) == name:
            _take_logged(of_levels[slice_ and slice_.level], slice_, logged)
    domain.decided += sum(level.decided for level in domain.levels)
    return domain


def _has_begun(logged: Logged) -> bool:
    return bool(logged.parts) or any(passes for _, passes in logged.passes)


def _take_logged(domain: DomainRecord, slice_: LevelSlice | None, logged: Logged) -> None:
    if logged.parts:
        domain.note_solved(slice_)
    for winner, passes in logged.passes:
        for p in passes:
            domain.decided += p.won + p.lost
            counts = winner, p.depth, p.won, p.lost
            pass_ = PassRecord(0, *counts, 0, 0.0, 0.0, domain.decided, p.over, slice=slice_)
            domain.passes.append(pass_)
