"""The events of one run, numbered from 1, for any number of readers.

In: events as JSON text, in the order in which they happen. Out: those after a number that a reader names. There is one
buffer per run and none per reader, so a slow reader costs only a number. Events no longer in the buffer are read from
the store.
"""

from __future__ import annotations

import asyncio
from collections import deque

from agent.store.records import StoredEvent

MAX_BYTES = 2 * 1024 * 1024
"""Characters of JSON kept in memory for one run."""


class EventLog:
    """Belongs to one event loop."""

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
