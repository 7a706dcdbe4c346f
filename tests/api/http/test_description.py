"""Facts about the service and its description: what OpenAPI says of it is what it does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from building import CLOSURE, copied
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.result import Ok
from services import running

from kingpair.api.tokens import Scope, Tokens

ENDLESS = ("/api/v1/events", "/api/v1/builds/{id}/events")
"""Streams; `test_service_events` tries what they are asked with."""
OTHERS = {
    # Chance seldom finds a position or a material: what it finds instead is refused, and that is
    # right.  Negative ones must be refused, and are.
    "positive_data_acceptance",
    # By the clock, of a machine that has other work.
    "max_response_time",
}


@pytest.fixture(scope="module")
def place(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tables, tmp_path_factory.mktemp("described") / "tables", *CLOSURE)


@pytest.fixture(scope="module")
def operations(place: Path) -> Iterator[list[Any]]:
    # No build fits into a byte: whatever is submitted fails in its planning.
    with running("--tables", str(place), "--port", "0", "--memory", "1") as (_, url):
        yield _described(url)


@pytest.fixture(scope="module")
def guarded(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    state = tmp_path_factory.mktemp("guarded")
    Tokens(state).create("someone", Scope.ADMIN)
    words = ("--tables", str(place), "--state", str(state), "--port", "0", "--memory", "1")
    with running(*words) as (_, url):
        yield _described(url)


def _described(url: str) -> list[Any]:
    schema = schemathesis.openapi.from_url(f"{url}openapi.json")
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    return [operation for operation in found if operation.path not in ENDLESS]


def _checks() -> list[Any]:
    load_all_checks()
    return [check for check in CHECKS.get_all() if check.__name__ not in OTHERS]


LOOSE: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [*HealthCheck],
    "derandomize": True,
}


@pytest.mark.slow
@settings(max_examples=600, **LOOSE)
@given(data=st.data())
def test_no_request_that_the_description_allows_is_a_fault(
    data: st.DataObject, operations: list[Any]
) -> None:
    operation = data.draw(st.sampled_from(operations))
    case: Any = data.draw(operation.as_strategy())
    case.call_and_validate(checks=_checks())


@pytest.mark.slow
@settings(max_examples=300, **LOOSE)
@given(data=st.data())
def test_a_request_that_the_description_forbids_is_refused(
    data: st.DataObject, operations: list[Any]
) -> None:
    taking = [op for op in operations if op.body or op.query or op.path_parameters]
    operation = data.draw(st.sampled_from(taking))
    case: Any = data.draw(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    case.call_and_validate(checks=_checks())


@pytest.mark.slow
@settings(max_examples=200, **LOOSE)
@given(data=st.data())
def test_no_request_without_a_token_is_admitted(data: st.DataObject, guarded: list[Any]) -> None:
    operation = data.draw(st.sampled_from(guarded))
    case: Any = data.draw(operation.as_strategy())
    case.call_and_validate(checks=_checks())
