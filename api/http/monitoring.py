"""The log and the metrics of the service.

A middleware times each request, counts it by route and status, and refuses bodies that are too
long.  It logs answers that are errors or slow, and all answers with `--verbose`.
"""

import logging
from collections import Counter as Counted
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kingpair.api.http.build_service import BuildService
from kingpair.coordinator.machine.state import State
from kingpair.workers.ask.probe import Tablebase

log = logging.getLogger("kingpair")
BODY_BYTES = 2 << 20
SLOW = 1.0
PASS_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5)


class Metrics:
    """The metrics of one service, as Prometheus reads them."""

    def __init__(self, tablebase: Tablebase, builds: BuildService) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "kingpair_requests", "Requests.", ("route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "kingpair_request_seconds",
            "From the request to the end of its answer.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._gauge("tables", "Tables that can be asked.", lambda: len(tablebase.paths))
        cache = tablebase.cache
        self._gauge("cache_hits", "Blocks found in memory.", lambda: cache.hits)
        self._gauge("cache_misses", "Blocks read, decoded or not.", lambda: cache.misses)
        self._gauge("cache_bytes", "Decoded blocks held in memory.", lambda: cache.held)

        self._of_builds(builds)

    def _of_builds(self, builds: BuildService) -> None:
        """A pass counts once, by the service that was there when it was committed."""
        registry = self.registry
        self.registry.register(_Builds(builds))
        self._pass_seconds = Histogram(
            "kingpair_pass_seconds",
            "From one committed pass to the next.",
            buckets=PASS_BUCKETS,
            registry=registry,
        )
        self._exchanged = Counter(
            "kingpair_exchanged_bytes", "From worker to worker.", registry=registry
        )
        self._gauge("event_readers", "Who watches builds.", lambda: builds.hub.count)
        builds.observe = self._observe_pass

    def _observe_pass(self, seconds: float, exchanged: int) -> None:
        self._pass_seconds.observe(seconds)
        self._exchanged.inc(exchanged)

    def _gauge(self, name: str, what: str, value: Any) -> None:
        Gauge(f"kingpair_{name}", what, registry=self.registry).set_function(value)

    def observe(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)


class _Builds(Collector):
    """Counts builds and the memory of workers when metrics are read."""

    def __init__(self, builds: BuildService) -> None:
        self._builds = builds

    def collect(self) -> Iterator[GaugeMetricFamily]:
        states = GaugeMetricFamily("kingpair_builds", "Builds.", labels=["state"])
        there = Counted(record.state for record in self._builds.records.not_deleted())
        for state in State:
            states.add_metric([str(state)], there[state])
        yield states
        memory = GaugeMetricFamily(
            "kingpair_worker_memory_bytes", "What workers hold.", labels=["worker", "node"]
        )
        for workers in self._builds.workers.values():
            for worker in workers:
                memory.add_metric([worker["id"], worker["node"]], worker["memory_bytes"])
        yield memory


class MonitoringMiddleware:
    """Times, counts and logs each request, and bounds its body."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, bounded(scope, receive), sending)
        except Exception:
            # The answer has been made already, inside.
            log.exception("a fault while answering %s", scope["path"])
        finally:
            self._done(scope, status, perf_counter() - began)

    def _done(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", None) or "none"
        self._metrics.observe(route, status, seconds)
        level = logging.INFO if status >= 500 or seconds > SLOW else logging.DEBUG
        if log.isEnabledFor(level):
            fields = {"method": scope["method"], "path": scope["path"], "status": status}
            log.log(level, "answered", extra={"fields": {**fields, "seconds": round(seconds, 6)}})


def bounded(scope: Scope, receive: Receive) -> Receive:
    """The body of a request, refused once it is too long."""
    if scope["method"] in ("GET", "HEAD"):
        return receive
    length = 0

    async def receiving() -> Message:
        nonlocal length
        message = await receive()
        length += len(message.get("body", b""))
        if length > BODY_BYTES:
            raise HTTPException(413, f"a body of more than {BODY_BYTES:,} bytes; send it in parts")
        return message

    return receiving
