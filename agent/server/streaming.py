"""A run as a server-sent event stream over HTTP.

In: a run that goes on here, or the record of one that does not. Out: a response with a heartbeat, which leaves the run
when its client goes away, gives up a client that takes nothing for half a minute, and says goodbye when the server is
stopped. Compression and caching by proxies are ruled out by its headers.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator
from typing import Any, cast

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.server.live import LiveRun, LiveRuns
from agent.server.live.reading import live_events, stored_events
from agent.store import Store
from agent.store.records import RunRecord

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10
WRITE_SECONDS = 30.0
"""For which a client may take nothing of what is sent to it."""
GOODBYE_SECONDS = 5.0
"""In which running runs are ended and their readers told, when the server is stopped."""


class RunStream(EventSourceResponse):
    """The events of one run. Headers: `X-Run-ID` and, where there is one, `X-Thread-ID`."""

    def __init__(self, events: AsyncGenerator[bytes, None], record: RunRecord, runs: LiveRuns, run: LiveRun | None):
        headers = {"X-Run-ID": record.run_id, "Cache-Control": "no-store"}
        if record.thread_id:
            headers["X-Thread-ID"] = record.thread_id
        super().__init__(
            events,
            headers=headers,
            ping=HEARTBEAT_SECONDS,
            ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
            sep="\n",
            send_timeout=WRITE_SECONDS,
            shutdown_event=cast(anyio.Event, _Goodbye(runs)),
            shutdown_grace_period=GOODBYE_SECONDS,
        )
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with _reading(self._run):
            try:
                await super().__call__(scope, receive, send)
            except SendTimeoutError:
                log.info("A client took nothing for %g seconds and was given up", WRITE_SECONDS)


def stream_live(run: LiveRun, store: Store, runs: LiveRuns, after: int = 0) -> RunStream:
    return RunStream(live_events(run, store, after), run.record, runs, run)


def stream_stored(record: RunRecord, store: Store, runs: LiveRuns, after: int = 0) -> RunStream:
    return RunStream(stored_events(record, store, after), record, runs, None)


class _Goodbye:
    """Stands in for the event that the library sets when the server is told to stop: the runs are told at once, and
    their last events still go out to their readers."""

    def __init__(self, runs: LiveRuns) -> None:
        self._runs = runs

    def set(self) -> None:
        self._runs.stop_all("interrupted")


@contextlib.contextmanager
def _reading(run: LiveRun | None) -> Any:
    """A reader counts from before the first byte, so that a client that leaves at once stops its run too."""
    if run is not None:
        run.enter()
    try:
        yield
    finally:
        if run is not None:
            run.leave()
