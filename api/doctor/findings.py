"""The findings of `kingpair doctor`: a line for each fact, with advice if something is wrong."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kingpair.api.text import columns, count


class Finding(NamedTuple):
    """A fact; if something is wrong with it, `advice` says what to do."""

    subject: str
    fact: str
    advice: str | None = None


def doctor_text(findings: Sequence[Finding]) -> Iterator[str]:
    rows = [("ok" if f.advice is None else "do", f.subject, f.fact) for f in findings]
    for line, finding in zip(columns(rows, "<<<"), findings, strict=True):
        yield line
        if finding.advice is not None:
            yield f"    -> {finding.advice}"
    if todo := sum(f.advice is not None for f in findings):
        yield f"{count(todo, 'thing')} to do"
    else:
        yield "all is well"


def doctor_json(findings: Sequence[Finding]) -> dict[str, Any]:
    listed = [{**finding._asdict(), "ok": finding.advice is None} for finding in findings]
    return {"ok": all(entry["ok"] for entry in listed), "findings": listed}
