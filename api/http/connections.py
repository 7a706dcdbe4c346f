"""Limits on connections: how long one may be silent, how much it may send, how many there are.

    a request        complete within REQUEST_SECONDS, its head within HEAD_BYTES
    an answer        taken within TAKE_SECONDS, else the kernel ends the connection
    connections      when there are as many as files may be open, the longest silent one is closed

uvicorn by itself waits for ever for the first byte of a connection, and other clients then wait for
a connection to be free.  Of several requests on one connection it tells only the last that the
client has left: an event stream among the others would go on, and keep its place in the hub.
"""

import asyncio
import resource
import socket
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

REQUEST_SECONDS = 20.0
TAKE_SECONDS = 60
HEAD_BYTES = 64 << 10
_OTHER_FILES = 128  # tables, the journal, what the interpreter has open


class LimitedConnection(HttpToolsProtocol):
    """A connection that is closed if a request takes too long or its head is too long."""

    silent: "OrderedDict[LimitedConnection, None]"
    most: int
    _deadline: asyncio.TimerHandle | None = None
    _head = 0
    _has_head = False
    _unanswered: tuple[RequestResponseCycle, ...] = ()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self.most and self.silent:
            oldest, _ = self.silent.popitem(last=False)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        for each in self._unanswered:
            if not each.response_complete:
                each.disconnected = True
                each.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deadline is not None:
            self._head += len(data)
        super().data_received(data)
        if self._head > HEAD_BYTES and self.parser is not None and not self._has_head:
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head = False
        if self._deadline is None:
            self._wait()

    def on_headers_complete(self) -> None:
        self._has_head = True
        super().on_headers_complete()
        earlier = (each for each in self._unanswered if not each.response_complete)
        self._unanswered = (*earlier, self.cycle)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        self._head = 0
        super().on_message_complete()

    def _wait(self) -> None:
        self.silent[self] = None
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        self.silent.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()


def limited_connections() -> type[LimitedConnection]:
    """Returns the protocol of one server, with at most as many connections as open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 1 << 16 if hard == resource.RLIM_INFINITY else min(hard, 1 << 16)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    found: dict[str, Any] = {"silent": OrderedDict(), "most": max(16, most - _OTHER_FILES)}
    return type("LimitedConnection", (LimitedConnection,), found)


def limit_send_time(opened: socket.socket) -> None:
    """Limits how long the other side may take no data; accepted connections inherit the limit."""
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, TAKE_SECONDS * 1000)
