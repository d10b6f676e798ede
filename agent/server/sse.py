"""A run as a stream of server-sent events, from any event on: from memory while it runs here, else from the store.

In: a run that is running here, or the record of one that is not; the number of the last event that the reader has. Out:
a response with a heartbeat, its events as bytes, several in one piece where they are there already; the last is always
`done`. The events of a run on another server are read from the store as they arrive there. The stream leaves the run
when its client disconnects, disconnects a client that reads nothing for half a minute, and ends cleanly when the server
shuts down. Its headers prevent compression and caching by proxies.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from agent.events import DoneEvent, DoneInfo, ErrorEvent, ErrorInfo
from agent.server.replies import as_json
from agent.server.runs.registry import FOLLOWED, LiveRuns
from agent.server.runs.run import LiveRun
from agent.store import Store
from agent.store.records import RunRecord, StoredEvent

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10
WRITE_SECONDS = 30.0
"""A client that reads nothing for this long is disconnected."""
LAST_WORD_SECONDS = 3.0
"""At shutdown, streams have this long after the drain, in which the readers of runs that were stopped are told."""
PIECE_BYTES = 64 * 1024
"""Approximate size of one write to the network."""
POLL_SECONDS = 0.3
FOLLOW_SECONDS = 2.0
"""Interval in which a reader shows the process of its run that it is there."""
GATHER_SECONDS = 0.025
"""After the first event, in which what comes together is gathered into one piece: each piece costs a packet, and nobody
sees a fortieth of a second. It grows with the number of runs that share the processor."""
MOST_GATHER_SECONDS = 0.1

_UNFINISHED = ("interrupted", "cancelled")
_MOST_SEEN = 1_000_000
"""A reader that claims more has not read a run of ours."""
_BEHIND = "You have read too slowly: events in between are no longer kept. Ask for the run itself."
_NAME = slice(len('{"event":"'), None)


async def live_events(
    run: LiveRun, store: Store, after: int, runs_at_once: Callable[[], int], *, named: bool
) -> AsyncGenerator[bytes, None]:
    """The events of a run in this process."""
    position = min(after, run.log.last)
    while True:
        if run.log.holds_after(position):
            events: Sequence[StoredEvent] = run.log.after(position)
        else:
            events = await store.events_after(run.record.run_id, position)
            if not events:
                done = as_json(DoneEvent(data=DoneInfo(elapsed=0.0)))
                last = [StoredEvent(number=position, data=text) for text in (_error_event("behind", _BEHIND), done)]
                for piece in _pieces(last, named):
                    yield piece
                return
        if events:
            for piece in _pieces(events, named):
                yield piece
            position = events[-1].number
        elif run.log.ended:
            return
        else:
            await run.log.beyond(position)
            if position:
                await asyncio.sleep(min(MOST_GATHER_SECONDS, GATHER_SECONDS * (1 + runs_at_once() / 8)))


async def stored_events(record: RunRecord, store: Store, after: int, *, named: bool) -> AsyncGenerator[bytes, None]:
    """The events of a run as the store has them; waits for more while its server is at work on it."""
    position, ended = after, False
    signalled = -FOLLOW_SECONDS
    while True:
        kept = await store.get(RunRecord, record.owner, record.run_id)
        going_on = kept is not None and kept.status == "running"
        events = await store.events_after(record.run_id, position)
        if events:
            for piece in _pieces(events, named):
                yield piece
            position, ended = events[-1].number, _is_done(events[-1])
        if ended or kept is None or not going_on:
            break
        if time.monotonic() - signalled >= FOLLOW_SECONDS:  # so that its process neither stops it nor writes it late
            signalled = time.monotonic()
            await store.signal(FOLLOWED, run_id=record.run_id)
        await asyncio.sleep(POLL_SECONDS)
    if not ended:
        await _write_ending(kept or record, store, position)
        rest = await store.events_after(record.run_id, position)
        for piece in _pieces(rest or _ending(kept or record, position, whole=position == 0), named):
            yield piece


async def has_seen_the_end(record: RunRecord, store: Store, after: int) -> bool:
    """Whether no event of this run comes after number `after`."""
    if record.status == "running":
        return False
    await _write_ending(record, store, after)
    return not await store.events_after(record.run_id, after)


async def _write_ending(record: RunRecord, store: Store, seen: int) -> None:
    """Store the ending of a run whose process could not, so that every reader sees the same one, once. `seen`: the last
    event that a reader has, which may never have been stored. Events that are no longer stored get no ending."""
    last = await store.last_event(record.run_id)
    unfinished = record.status in _UNFINISHED if last is None else not _is_done(last)
    if unfinished:
        number = max(last.number if last else 0, min(seen, _MOST_SEEN))
        await store.append_events(record.run_id, list(_ending(record, number, whole=False)))


def _ending(record: RunRecord, last: int, *, whole: bool) -> Iterator[StoredEvent]:
    """The last events of a run that its process did not write, after number `last`; `whole`: with its answer, for a run
    whose events are no longer stored."""
    number = last
    if whole and record.answer is not None:
        number += 1
        data = {"final_answer": record.answer.get("answer", ""), **record.answer}
        yield StoredEvent(number=number, data=as_json({"event": "answer", "data": data}))
    if record.status in _UNFINISHED:
        number += 1
        yield StoredEvent(number=number, data=_error_event(record.status, f"The run was {record.status}."))
    yield StoredEvent(number=number + 1, data=as_json(DoneEvent(data=DoneInfo(elapsed=record.seconds or 0.0))))


def _error_event(kind: str, message: str) -> str:
    return as_json(ErrorEvent(data=ErrorInfo(kind=kind, message=message)))


def _is_done(event: StoredEvent) -> bool:
    return event.data.startswith('{"event":"done"')


def _pieces(events: Iterable[StoredEvent], named: bool) -> Iterator[bytes]:
    gathered: list[bytes] = []
    size = 0
    for event in events:
        name = "event: " + event.data[_NAME].partition('"')[0] + "\n" if named else ""
        frame = f"id: {event.number}\n{name}data: {event.data}\n\n".encode()
        if gathered and size + len(frame) > PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
        gathered.append(frame)
        size += len(frame)
    if gathered:
        yield b"".join(gathered)


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
