"""A run as a stream of server-sent events.

In: a run that is running here, or the record of one that is not. Out: a response with a heartbeat. The stream leaves
the run when its client disconnects, disconnects a client that reads nothing for half a minute, and ends cleanly when
the server shuts down. Its headers prevent compression and caching by proxies.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any, cast

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.server.runs.follow import live_events, stored_events
from agent.server.runs.registry import LiveRuns
from agent.server.runs.run import LiveRun
from agent.store import Store
from agent.store.records import RunRecord

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10
WRITE_SECONDS = 30.0
"""A client that reads nothing for this long is disconnected."""
LAST_WORD_SECONDS = 3.0
"""At shutdown, streams have this long after the drain, in which the readers of runs that were stopped are told."""


class EventStream(EventSourceResponse):
    """Server-sent events with a heartbeat, which no proxy keeps or compresses."""

    def __init__(self, events: AsyncGenerator[Any, None], headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(
            events,
            headers={"Cache-Control": "no-store, no-transform", **(headers or {})},
            ping=HEARTBEAT_SECONDS,
            ping_message_factory=lambda: ServerSentEvent(comment="ping", sep="\n"),
            sep="\n",
            send_timeout=WRITE_SECONDS,
            **more,
        )


class RunStream(EventStream):
    """The events of one run. Headers: `X-Run-ID` and, where there is one, `X-Thread-ID`."""

    def __init__(self, events: AsyncGenerator[bytes, None], record: RunRecord, runs: LiveRuns, run: LiveRun | None):
        headers = {"X-Run-ID": record.run_id} | ({"X-Thread-ID": record.thread_id} if record.thread_id else {})
        # The library sets this event when the server shuts down. Runs may finish for a while; the last events of those
        # that are stopped still reach their readers.
        notice, grace = cast(anyio.Event, SimpleNamespace(set=runs.drain)), runs.drain_seconds + LAST_WORD_SECONDS
        super().__init__(events, headers, shutdown_event=notice, shutdown_grace_period=grace)
        self._run = run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A reader counts from before the first byte, so that a client that leaves at once stops its run too."""
        if self._run is not None:
            self._run.enter()
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("A client read nothing for %g seconds and was disconnected", WRITE_SECONDS)
        finally:
            if self._run is not None:
                self._run.leave()


def run_stream(
    record: RunRecord, store: Store, runs: LiveRuns, run: LiveRun | None, after: int = 0, *, named: bool = False
) -> RunStream:
    """The events of a run after this number: as they happen where it runs here, else as the store has them."""
    if run is not None:
        return RunStream(live_events(run, store, after, runs.__len__, named=named), record, runs, run)
    return RunStream(stored_events(record, store, after, named=named), record, runs, None)
