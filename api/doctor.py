"""What `kingpair doctor` finds: a line for each fact, and what to do if all is not well with it."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from api.text import columns, count


class Finding(NamedTuple):
    """A fact; if all is not well with it, `advice` says what to do."""

    subject: str
    fact: str
    advice: str | None = None


def doctor_text(findings: Iterable[Finding]) -> Iterator[str]:
    told = list(findings)
    rows = [("ok" if f.advice is None else "do", f.subject, f.fact) for f in told]
    for line, finding in zip(columns(rows, "<<<"), told, strict=True):
        yield line
        if finding.advice is not None:
            yield f"    -> {finding.advice}"
    if todo := sum(f.advice is not None for f in told):
        yield f"{count(todo, 'thing')} to do"
    else:
        yield "all is well"


def doctor_json(findings: Iterable[Finding]) -> dict[str, Any]:
    told = list(findings)
    listed = [{**finding._asdict(), "ok": finding.advice is None} for finding in told]
    return {"ok": all(finding.advice is None for finding in told), "findings": listed}
