"""A timeout for partial request headers, which uvicorn does not have.

In: a connection. Out: the same connection, closed when its headers are not complete within `HEADER_SECONDS` of their
first byte (or of the connection). `uvicorn_options` passes this class to uvicorn.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0


class HeaderTimeoutProtocol(H11Protocol):
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self.conn.trailing_data[0]:  # the next request of this connection has begun
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()
