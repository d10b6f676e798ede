"""The context of one run: its database, model, settings, deadline and listener.

LangGraph hands one `RunContext` to every node of a run. Unlike the state it holds live objects, so it is never
checkpointed; a resumed run gets a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.config import JudgingSettings, LimitSettings, PrivacySettings
from agent.events import Event, NodeEvent, ProgressEvent, ProgressInfo, StepTokens
from agent.models.prompts import summary_prompt
from agent.models.protocol import Model, ModelError, Summary, SummaryRequest, Usage
from agent.strategies import Strategy, strategy
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.schema import Schema
from eval.threads import in_turn

if TYPE_CHECKING:
    from agent.knowledge.memory.retrieval import Memory
    from agent.knowledge.semantics.model import SemanticModel
    from agent.state import LeftOut, ReadingPart
    from eval.scoring.types import Case


class SummaryAhead:
    """A summary that is written while its query is still being judged, which saves the wait for one call. Nothing is
    shown before the final request turns out to be the expected one; `cancel` it if the query does not pass."""

    def __init__(self, request: SummaryRequest, model: Model) -> None:
        self._prompt = summary_prompt(request)
        self._pieces: list[str] = []
        self._on_text: Callable[[str], None] = self._pieces.append
        self._writing = asyncio.create_task(model.summarize(request, lambda piece: self._on_text(piece)))

    def answers(self, request: SummaryRequest) -> bool:
        """Whether this summary was requested with the same prompt as `request`."""
        return summary_prompt(request) == self._prompt

    async def to_end(self, on_text: Callable[[str], None]) -> Summary:
        """The whole summary; `on_text` receives the text written so far at once, then the rest as it arrives. Raises
        the errors of `Model.summarize`."""
        for piece in self._pieces:
            on_text(piece)
        self._on_text = on_text
        try:
            return await self._writing
        except asyncio.CancelledError:
            self._writing.cancel()
            raise

    async def cancel(self) -> None:
        self._writing.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await self._writing


def unheard(_: Event) -> None:
    """The default listener: drops all events."""


MOST_PROBLEM = 500
"""Characters."""
PROGRESS_SECONDS = 1.0
"""Between two reports of how much a model has written."""


@dataclass(slots=True)
class RunContext:
    database: Database
    model: Model
    judging: JudgingSettings
    limits: LimitSettings
    privacy: PrivacySettings
    schema_ttl: float = 300.0
    """Seconds that the schema is cached."""
    emit: Callable[[Event], None] = unheard
    """Receives each event as it happens; must return at once."""
    usage: Usage = field(default_factory=Usage)
    """The usage of the run's model calls so far."""
    deadline: float = 0.0
    """`time.monotonic()` value at which the whole run must have ended."""
    execute: bool = True
    """False: a statement is only checked (guard, names, the engine's own compiler), not run."""
    may_ask: bool = False
    """Whether a truly ambiguous question may lead to a clarification; only if a user can answer."""
    memory: Memory | None = None
    """The team's knowledge of its database, if there is any."""
    semantics: SemanticModel | None = None
    """What the team says of its business, if it says anything."""
    history_before: int | None = None
    """Turns of the conversation from this number on are ignored (for a question that is asked again)."""
    examined: dict[str, Case] = field(default_factory=dict)
    """Facts about each query, keyed by its SQL, so that no statement is sent twice."""
    read: dict[str, tuple[list[ReadingPart], list[LeftOut]]] = field(default_factory=dict)
    """How each query was read, keyed by its SQL, so that nothing is counted twice."""
    ran: dict[str, ExecutionResult] = field(default_factory=dict)
    """Complete results of statements that were sent, by their SQL."""
    summary_ahead: SummaryAhead | None = None
    """The summary that is being written while its query is judged."""
    owned: Model | None = None
    """The model, if it ends with this run."""
    _taught: str | None = None
    _schema: asyncio.Future[Schema] | None = None
    _running: set[str] = field(default_factory=set)
    shortened: str = ""
    """The text of the schema that fitted the model's server, where the whole did not (`agent.runtime.fitting`)."""
    _problem: str = ""
    """What went wrong in the step that runs."""
    _reported: Usage = field(default_factory=Usage)
    """The usage at the end of the last step."""
    _written: int = 0
    """Pieces of replies in the step that runs."""
    _told: float = 0.0
    """When the step began, or its progress was last told."""

    @property
    def taught(self) -> str:
        """What the team says of its database: values and numbers in it may stand in a query."""
        if self._taught is None:
            known: list[str] = []
            if self.memory is not None:
                known += [str(entry) for entry in self.memory.glossary.entries]
                known += [example.sql for example in self.memory.examples]
            if self.semantics is not None:
                known.append(str(self.semantics))
            self._taught = " ".join(known)
        return self._taught

    def __post_init__(self) -> None:
        if not self.deadline:
            self.deadline = time.monotonic() + self.limits.run_seconds

    @property
    def strategy(self) -> Strategy:
        return strategy(self.judging.strategy)

    @property
    def threshold(self) -> float:
        """The score that an attempt must reach; 0 where nothing is executed, since only executed SQL has a score."""
        return self.judging.score_threshold if self.execute else 0.0

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def may_retry(self, retries: int) -> bool:
        """Whether strategy, settings and time allow another attempt after so many retries."""
        most = self.judging.max_retries
        if self.strategy.retries is not None:
            most = min(self.strategy.retries, most)
        return retries < most and self.seconds_left > 0

    def statement_limits(self) -> Limits:
        """Limits for one statement: the query timeout, or the rest of the run's budget if that is shorter."""
        seconds = max(0.05, min(self.limits.query_seconds, self.seconds_left))
        return Limits(seconds=seconds, rows=self.limits.max_rows)

    def spend(self, usage: Usage) -> None:
        self.usage = self.usage + usage

    def trouble(self, problem: str) -> None:
        """Something of the step that runs did not work, and it goes on without; told with the step's end."""
        self._problem = self._problem or problem[:MOST_PROBLEM]

    def spend_failed(self, error: Exception) -> str:
        """Count what a failed call consumed, where it is known. Returns why it failed."""
        if isinstance(error, ModelError) and error.usage is not None:
            self.spend(error.usage)
        return str(error) or "the time for this question ran out"

    def announce(self, node: str, task_id: str | None = None, attempt: int | None = None) -> None:
        """Report the start of a node, once; the runner reports the first node before the graph is loaded."""
        if node not in self._running and self.emit is not unheard:
            self._running.add(node)
            self._written, self._told = 0, time.monotonic()
            self.emit(NodeEvent(node=node, status="running", task_id=task_id, attempt=attempt))

    def wrote(self) -> None:
        """The model has written a piece of a reply in the step that runs."""
        self._written += 1
        if self._running and time.monotonic() - self._told >= PROGRESS_SECONDS:
            self._told = time.monotonic()
            self.emit(ProgressEvent(data=ProgressInfo(node=next(iter(self._running)), tokens=self._written)))

    def finished(self, node: str, elapsed_ms: float, task_id: str | None = None, attempt: int | None = None) -> None:
        self._running.discard(node)
        problem, self._problem = self._problem, ""
        if self.emit is unheard:
            return
        used, self._reported = self._reported, self.usage  # steps follow one another, so what is new is this step's
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
                problem=problem,
            )
        )

    async def drop_summary(self) -> None:
        """Cancel the summary of a query that did not pass, or of a run that ends without one."""
        ahead, self.summary_ahead = self.summary_ahead, None
        if ahead is not None:
            await ahead.cancel()

    async def close(self) -> None:
        """End what this run alone has used."""
        await self.drop_summary()
        if self.owned is not None:
            await self.owned.close()

    def load_schema(self) -> asyncio.Future[Schema]:
        """Start reading the structure off the event loop, if that has not started yet."""
        if self._schema is None:
            self._schema = asyncio.ensure_future(in_turn(self._described_schema, self.schema_ttl))
        return self._schema

    def _described_schema(self, ttl: float) -> Schema:
        """The structure, with what the semantic model adds to it. Raises DatabaseError."""
        schema = self.database.schema(ttl=ttl)
        if self.semantics is None:
            return schema
        from agent.knowledge.semantics.described import described

        return described(schema, self.semantics)

    async def schema(self) -> Schema:
        """The database's structure, read once per run. Raises DatabaseError."""
        return await asyncio.shield(self.load_schema())

    async def fresh_schema(self) -> Schema:
        """Read the structure again, bypassing the cache. Raises DatabaseError."""
        self._schema = asyncio.ensure_future(in_turn(self._described_schema, 0.0))
        return await self.schema()
