"""The base of all schemas, and how a route documents its answer."""

from typing import Any

from pydantic import BaseModel, ConfigDict

Responses = dict[int | str, dict[str, Any]]


class Model(BaseModel):
    """An object with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


def answers(
    model: type[BaseModel], description: str = "The answer", status: int = 200
) -> Responses:
    return {status: {"model": model, "description": description}}
