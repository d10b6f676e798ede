"""What one run works with: its database, its model, its settings, its clock and its listener.

LangGraph hands one `RunContext` to every node of a run. Unlike the state it holds live objects, so it is never
checkpointed; whoever resumes a run makes a new one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.config import Settings
from agent.events import Event, NodeEvent, StepTokens
from agent.models.protocol import Model, Usage
from agent.strategies import Strategy, strategy
from eval.databases.base import Database, Limits
from eval.schema import Schema

if TYPE_CHECKING:
    from agent.knowledge.memory import Memory
    from eval.scoring.types import Case


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
    """False: a statement is checked in every way that runs nothing (guard, names, the engine's own compiler)."""
    may_ask: bool = False
    """Whether a truly ambiguous question may be asked back; only where somebody can answer."""
    memory: Memory | None = None
    """What a team knows of its database, where it keeps anything."""
    history_before: int | None = None
    """Turns of the conversation from this number on are not looked at (a question that is asked again)."""
    examined: dict[tuple[str, str], Case] = field(default_factory=dict)
    """By what a query had to answer and its text, what is known of it; a candidate is run once."""
    _schema: asyncio.Future[Schema] | None = None
    _running: set[str] = field(default_factory=set)
    _told: Usage = field(default_factory=Usage)
    """What had been consumed when the last step ended."""

    def __post_init__(self) -> None:
        if not self.deadline:
            self.deadline = time.monotonic() + self.settings.run_seconds

    @property
    def strategy(self) -> Strategy:
        return strategy(self.settings.strategy)

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
        used, self._told = self._told, self.usage  # steps follow one another, so what is new is this step's
        tokens = StepTokens(
            input=self.usage.input_tokens - used.input_tokens, output=self.usage.output_tokens - used.output_tokens
        )
        self.emit(
            NodeEvent(
                node=node,
                status="done",
                elapsed_ms=elapsed_ms,
                task_id=task_id,
                attempt=attempt,
                tokens=tokens if tokens.input or tokens.output else None,
            )
        )

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
