"""What one run works with: its database, its model, its settings, its clock and its listener.

LangGraph hands one `RunContext` to every node of a run. Unlike the state it holds live objects, so it is never
checkpointed; whoever resumes a run makes a new one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.config import Settings
from agent.events import Event, NodeEvent
from agent.models.protocol import Model, Usage
from eval.databases.base import Database, Limits
from eval.schema import Schema


def _ignore(_: Event) -> None:
    """Nobody listens."""


@dataclass(slots=True)
class RunContext:
    database: Database
    model: Model
    settings: Settings
    emit: Callable[[Event], None] = _ignore
    """Receives each event as it happens; must return at once."""
    usage: Usage = field(default_factory=Usage)
    """What the run's model calls consumed so far."""
    deadline: float = 0.0
    """`time.monotonic()` value at which the whole run must have ended."""
    execute: bool = True
    """False: a statement is checked in every way that needs no database, and not sent."""
    _schema: asyncio.Future[Schema] | None = None
    _running: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not self.deadline:
            self.deadline = time.monotonic() + self.settings.run_seconds

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def limits(self) -> Limits:
        """Bounds for one statement: the deadline of a query, or what is left of the run's budget."""
        seconds = max(0.05, min(self.settings.query_seconds, self.seconds_left))
        return Limits(seconds=seconds, rows=self.settings.max_rows)

    def spend(self, usage: Usage) -> None:
        self.usage = self.usage + usage

    def announce(self, node: str, task_id: str | None = None, attempt: int | None = None) -> None:
        """Say that a node has started, once; the runner announces the first node before the graph is loaded."""
        if node not in self._running:
            self._running.add(node)
            self.emit(NodeEvent(node=node, status="running", task_id=task_id, attempt=attempt))

    def finished(self, node: str, elapsed_ms: float, task_id: str | None = None, attempt: int | None = None) -> None:
        self._running.discard(node)
        self.emit(NodeEvent(node=node, status="done", elapsed_ms=elapsed_ms, task_id=task_id, attempt=attempt))

    def load_schema(self) -> asyncio.Future[Schema]:
        """Start reading the structure off the event loop, unless that has begun already."""
        if self._schema is None:
            ttl = self.settings.schema_cache_ttl
            self._schema = asyncio.ensure_future(asyncio.to_thread(self.database.schema, ttl=ttl))
        return self._schema

    async def schema(self) -> Schema:
        """The database's structure, read once a run. Raises DatabaseError."""
        return await asyncio.shield(self.load_schema())

    async def fresh_schema(self) -> Schema:
        """Read the structure again, past the cache. Raises DatabaseError."""
        self._schema = asyncio.ensure_future(asyncio.to_thread(self.database.schema, ttl=0.0))
        return await self.schema()
