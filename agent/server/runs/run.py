"""One active run, which works in the background independently of its readers.

In: a record, and the work as an iterator of events. Out: numbered events in a log, the same in the store, and a
finished record. `done` reaches readers only after the store has the outcome, so that what a client saw finished
survives the server. When the last reader leaves, the run is stopped: at once, or after a grace period if it is
resumable.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from agent.events import AnswerEvent, DoneEvent, DoneInfo, ErrorEvent, ErrorInfo, Event, QueryResultEvent, TokenEvent
from agent.server.replies import as_json, few_rows
from agent.server.telemetry import RunTelemetry
from agent.state import QueryResult
from agent.store import StateUnavailable, Store
from agent.store.records import RunRecord, RunStatus, StoredEvent

log = logging.getLogger(__name__)

Work = Callable[[], AsyncGenerator[Event, None]]
"""Starts what is to be done; its events end with `done`."""

Stop = Literal["cancelled", "interrupted", "left"]

FLUSH_SECONDS = 2.0
"""Interval between two writes of a run's new events."""
AWAY_SECONDS = 20.0
"""An outcome waits this long for a state database that is being restarted."""
AGAIN_SECONDS = 0.5
SOON_SECONDS = 0.2
"""The same while another process reads them."""
TOKEN_SECONDS = 0.04
"""Pieces of an answer that come within this time are sent as one event."""

MAX_BYTES = 2 * 1024 * 1024
"""Characters of JSON kept in memory for one run."""

_SAID: dict[Stop, tuple[str, str]] = {
    "cancelled": ("cancelled", "The run was cancelled."),
    "left": ("cancelled", "The run was stopped because its last reader disconnected."),
    "interrupted": ("interrupted", "The server was stopped before this run had ended; it can be run again."),
}


class EventLog:
    """The events of one run, numbered from 1, for any number of readers: one buffer per run and none per reader, so a
    slow one costs only a number. What is no longer in the buffer is read from the store. Belongs to one event loop."""

    def __init__(self) -> None:
        self.last = 0
        """Number of the newest event; 0 before the first."""
        self.ended = False
        self._bytes = 0
        self._events: deque[StoredEvent] = deque()
        self._news = asyncio.Event()

    def add(self, data: str) -> StoredEvent:
        """Append an event; the oldest make room where there are too many."""
        self.last += 1
        event = StoredEvent(number=self.last, data=data)
        self._events.append(event)
        self._bytes += len(data)
        while self._bytes > MAX_BYTES and len(self._events) > 1:
            self._bytes -= len(self._events.popleft().data)
        self._tell()
        return event

    def end(self) -> None:
        """Mark the log as complete."""
        self.ended = True
        self._tell()

    def holds_after(self, number: int) -> bool:
        """Whether every event after this number is still in memory."""
        return not self._events or number >= self._events[0].number - 1

    def after(self, number: int) -> list[StoredEvent]:
        """The events in memory with a higher number, oldest first."""
        missing = self.last - number
        if missing <= 0:
            return []
        if missing >= len(self._events):
            return list(self._events)
        return [self._events[i] for i in range(-missing, 0)]

    async def beyond(self, number: int) -> None:
        """Return once there is an event with a higher number, or the end."""
        while self.last <= number and not self.ended:
            await self._news.wait()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


@dataclass(slots=True)
class Outcome:
    """Grows with the run. `status` stays `running` until something has ended it."""

    status: RunStatus = "running"
    score: float | None = None
    sql: str = ""
    model: str = ""
    answer: dict[str, Any] | None = None
    """The finished answer with few rows a result."""

    def heard(self, event: Event) -> Event:
        """Process an event; returns it in the form to be sent."""
        if isinstance(event, QueryResultEvent):
            return QueryResultEvent(data=_with_few_rows(event.data))
        if isinstance(event, AnswerEvent):
            attempts = [_with_few_rows(attempt) for attempt in event.data.attempts]
            answer = event.data.model_copy(update={"rows": few_rows(event.data.rows), "attempts": attempts})
            self.answer = answer.model_dump()
            self.status, self.score, self.sql, self.model = answer.status, answer.score, answer.sql, answer.model
            return AnswerEvent(data=answer)
        if isinstance(event, ErrorEvent) and self.status == "running":
            self.status = "error"
            self.answer = self.answer or {
                "status": "error",
                "answer": event.data.message,
                "reason": event.data.message,
                "error_kind": event.data.kind,
            }
        return event


def _with_few_rows(result: QueryResult) -> QueryResult:
    return result.model_copy(update={"data": few_rows(result.data)})


class LiveRun:
    """Made and ended by `LiveRuns`. Belongs to one event loop."""

    def __init__(
        self, record: RunRecord, work: Work, store: Store, *, resumable: bool, patience: float, call: str = ""
    ) -> None:
        self.record = record
        self.call = call
        """The name of the call that it answers, where a client may cancel that."""
        self.log = EventLog()
        self._work = work
        self._store = store
        self._resumable = resumable
        self._patience = patience
        self._readers = 0
        self._giving_up: asyncio.TimerHandle | None = None
        self._outcome = Outcome()
        self._elapsed: DoneEvent | None = None
        self._stop: Stop | None = None
        self._watch = RunTelemetry(record.run_id, record.owner, kind=record.kind)
        self._pending: list[str] = []
        self._pending_timer: asyncio.TimerHandle | None = None
        self._last_token = 0.0
        self._stored = 0
        self._unstored = 0
        self._wake = asyncio.Event()
        self._read_elsewhere_until = 0.0
        self._over = False
        self._working: asyncio.Task[None] | None = None
        self.task: asyncio.Task[None] | None = None
        """The whole run, from its start until the store has its outcome. Never cancelled from outside."""

    def start(self, opening: BaseModel) -> None:
        """Emit `opening` as the first event and start the work."""
        self.log.add(as_json(opening))
        self._working = asyncio.create_task(self._listen())
        self.task = asyncio.create_task(self._supervise())
        self._wait_for_reader()

    def stop(self, reason: Stop) -> None:
        """Stop everything that the run has started. Stopping twice, or after the end, does nothing."""
        if self._stop is None and self._working is not None and not self._working.done():
            self._stop = reason
            self._working.cancel()

    @property
    def stopping(self) -> bool:
        """Whether the run was told to stop, or has ended."""
        return self._stop is not None or self._working is None or self._working.done()

    # --- readers ---

    def enter(self) -> None:
        self._readers += 1
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def leave(self) -> None:
        self._readers -= 1
        if self._readers == 0 and not self.log.ended:
            if self._resumable:
                self._wait_for_reader()
            else:
                self.stop("left")

    def followed(self, seconds: float) -> None:
        """A reader in another process has shown that it is there: it waits at least this long for it, and writes events
        for it soon."""
        self._read_elsewhere_until = time.monotonic() + seconds
        self._wake.set()
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._wait_for_reader()

    def _wait_for_reader(self) -> None:
        patience = max(self._patience, self._read_elsewhere_until - time.monotonic())
        self._giving_up = asyncio.get_running_loop().call_later(patience, self.stop, "left")

    # --- the work ---

    async def _listen(self) -> None:
        with self._watch.current():
            async with contextlib.aclosing(self._work()) as events:
                async for event in events:
                    if isinstance(event, DoneEvent):
                        self._elapsed = event
                    else:
                        self._say(event)

    async def _supervise(self) -> None:
        assert self._working is not None
        started = time.monotonic()
        keeping = asyncio.create_task(self._keep())
        await asyncio.wait({self._working})
        outcome = self._outcome  # the reason for the end is emitted where the work has not done so
        self._send_pending()
        if self._working.cancelled():
            stop = self._stop or "interrupted"
            kind, message = _SAID[stop]
            outcome.status = "interrupted" if stop == "interrupted" else "cancelled"
            self._send(ErrorEvent(data=ErrorInfo(kind=kind, message=message)))
        elif (error := self._working.exception()) is not None:
            log.error("A run failed inside", exc_info=error)
            self._say(ErrorEvent(data=ErrorInfo(message=f"Something went wrong inside: {type(error).__name__}.")))
            outcome.status = "error"
        status = "error" if outcome.status == "running" else outcome.status
        if self._giving_up is not None:
            self._giving_up.cancel()
        self._over = True
        self._wake.set()
        await keeping
        done = self._elapsed or DoneEvent(data=DoneInfo(elapsed=round(time.monotonic() - started, 4)))
        await self._finish(status, done)
        self._watch.ended(status)
        self.log.add(as_json(done))
        self.log.end()

    def _say(self, event: Event) -> None:
        self._watch.observe(event)
        if not isinstance(event, TokenEvent):
            self._send_pending()
            self._send(self._outcome.heard(event))
            return
        now = time.monotonic()
        self._pending.append(event.data)
        if now - self._last_token >= TOKEN_SECONDS:
            self._send_pending()
        elif self._pending_timer is None:
            self._pending_timer = asyncio.get_running_loop().call_later(TOKEN_SECONDS, self._send_pending)

    def _send_pending(self) -> None:
        if self._pending_timer is not None:
            self._pending_timer.cancel()
            self._pending_timer = None
        if self._pending:
            self._last_token = time.monotonic()
            text, self._pending = "".join(self._pending), []
            self._send(TokenEvent(data=text))

    def _send(self, event: BaseModel) -> None:
        self._unstored += len(self.log.add(as_json(event)).data)
        if self._unstored > MAX_BYTES // 4:
            self._wake.set()

    # --- the store ---

    async def _keep(self) -> None:
        """Write new events periodically. A failing store loses the history, not the answer."""
        try:
            while not self._over:
                with contextlib.suppress(TimeoutError):
                    soon = time.monotonic() < self._read_elsewhere_until
                    async with asyncio.timeout(SOON_SECONDS if soon else FLUSH_SECONDS):
                        await self._wake.wait()
                self._wake.clear()
                if not self._over:
                    events = self.log.after(self._stored)
                    if events:
                        self._unstored = 0
                        await self._store.append_events(self.record.run_id, events)
                        self._stored = events[-1].number
        except StateUnavailable as error:
            log.warning("The events of a run are kept at its end: %s", error)
        except Exception:
            log.exception("The events of a run could not be kept")

    async def _finish(self, status: RunStatus, done: DoneEvent) -> None:
        until = time.monotonic() + AWAY_SECONDS
        again, outcome = False, self._outcome
        try:
            while True:
                try:
                    await self._store.finish_run(
                        self.record.run_id,
                        status=status,
                        seconds=done.data.elapsed,
                        score=outcome.score,
                        sql=outcome.sql,
                        model=outcome.model or self.record.model,
                        answer=None if outcome.answer is None else json.loads(as_json(outcome.answer)),
                        last=[*self.log.after(self._stored), StoredEvent(number=self.log.last + 1, data=as_json(done))],
                        again=again,
                    )
                    return
                except StateUnavailable:
                    if time.monotonic() > until:
                        raise
                    again = True
                    await asyncio.sleep(AGAIN_SECONDS)
        except Exception:
            log.exception("The outcome of a run could not be kept")
