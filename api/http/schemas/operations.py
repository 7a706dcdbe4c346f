"""Answers for those who run the service."""

from typing import Literal

from pydantic import Field

from kingpair.api.http.schemas.model import Model


class ServiceProblem(Model):
    what: str
    reason: str


class Readiness(Model):
    status: Literal["ready", "degraded"]
    tables: int
    starting: str | None = Field(
        default=None, description="The step of starting Ray that builds wait for."
    )
    problems: list[ServiceProblem] = Field(
        default_factory=list, description="What is wrong though positions can be asked."
    )


class Version(Model):
    kingpair: str
    commit: str | None
    kernels: str
    ray: str | None
    python: str
    pyarrow: str
