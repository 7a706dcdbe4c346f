"""Facts about the service and its description: what OpenAPI says of it is what it does."""

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from api.service.application import create
from api.settings import Settings

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
]


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[*HealthCheck], derandomize=True)
@given(data=st.data())
def test_nothing_that_the_description_allows_is_a_fault(data: st.DataObject, tables: Path) -> None:
    schema = _described(tables)
    operation = data.draw(st.sampled_from(schema))
    case: Any = data.draw(operation.as_strategy())
    case.call_and_validate(checks=CHECKS)


_SCHEMAS: dict[Path, list[Any]] = {}


def _described(tables: Path) -> list[Any]:
    if tables not in _SCHEMAS:
        schema = schemathesis.openapi.from_asgi("/openapi.json", create(Settings(tables=tables)))
        _SCHEMAS[tables] = [
            result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)
        ]
    return _SCHEMAS[tables]
