"""The ReAct loop: a generator that works in steps with tools, as an alternative to writing a query in one reply.

In: a request for SQL and the run's context. Out: a `SqlReply`, as of a model. A tool, its result, the next tool; until
the model finishes or its steps are used up. An unknown tool, a tool out of turn or an unusable reply costs the model a
step, and the model is told why. When the steps or the time end, the last query that ran is the answer; if none ran, the
model is asked once for a plain query.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from agent.candidates.examination import examined
from agent.events import StepEvent, StepInfo
from agent.knowledge.model_view import linked_text, message_text, result_text
from agent.knowledge.privacy import Privacy, privacy_of
from agent.models.protocol import ModelError, ModelReplyError, SqlReply, SqlRequest, Stepping, StepReply, StepRequest
from agent.runtime.context import RunContext
from agent.state import with_evidence
from eval.databases.types import DatabaseError
from eval.examination import Query, inspect
from eval.scoring.evidence.features import advice
from eval.scoring.intent import Intent, read_intent
from eval.scoring.types import Case

Tool = Literal[
    "get_schema",
    "link_schema",
    "extract_constraints",
    "generate_sql",
    "validate_sql",
    "validate_constraints",
    "run_sql",
    "repair_sql",
    "finish",
]
Edges = dict[tuple[Tool | None, bool], tuple[Tool, ...]]

EDGES: Edges = {
    (None, True): ("get_schema",),
    ("get_schema", True): ("link_schema",),
    ("link_schema", True): ("extract_constraints",),
    ("extract_constraints", True): ("generate_sql",),
    ("generate_sql", True): ("validate_sql",),
    ("repair_sql", True): ("validate_sql",),
    ("validate_sql", True): ("validate_constraints",),
    ("validate_sql", False): ("repair_sql",),
    ("validate_constraints", True): ("run_sql",),
    ("validate_constraints", False): ("repair_sql", "run_sql"),
    ("run_sql", True): ("finish", "repair_sql"),
    ("run_sql", False): ("repair_sql",),
    ("finish", True): (),
}
"""(tool, whether it succeeded) → the tools that may be next: the whole of the order.

    get_schema → link_schema → extract_constraints → generate_sql → validate_sql → validate_constraints → run_sql
    run_sql → finish, where it ran; what failed, and what the model doubts, goes to repair_sql → validate_sql

A model is asked only where it has something to decide or to write. Constraints are advice, so a query that they speak
against may be run all the same.
"""

WRITES: frozenset[Tool] = frozenset(("generate_sql", "repair_sql"))
"""Tools whose content is a query that the model writes."""


log = logging.getLogger(__name__)

OWN_STEPS = 10
"""Steps that a model may take; checks and runs that follow by themselves do not count."""
USELESS = 3
"""Steps in a row without a result, after which the loop ends."""
RESERVE = 0.5
"""Seconds before the run's end at which a step is given up, so that the last query that ran can still be returned."""
_THOUGHT = 1_000
"""Characters kept of a thought."""
_SHOWN = 4_000
"""Characters of an outcome in a prompt."""
_ADVICE = 5
"""Objections to the form of a query that a model is told at most."""


async def react(request: SqlRequest, context: RunContext) -> SqlReply:
    """Write a query in steps. Emits a `step` event for each. Raises what `write_sql` raises, but only where no query
    has run yet."""
    model = context.model
    if not isinstance(model, Stepping):
        return await model.write_sql(request)
    return await _Run(request, context, model).to_end()


@dataclass(slots=True)
class _Run:
    request: SqlRequest
    context: RunContext
    model: Stepping
    last: Tool | None = None
    """The last tool that was used, and whether it succeeded."""
    ok: bool = True
    sql: str = ""
    ran: str = ""
    """The last query that ran."""
    problem: str = ""
    """What was last said against a query that did not run."""
    transcript: list[str] = field(default_factory=list)
    """The steps, as the model reads them."""
    trace: list[str] = field(default_factory=list)
    thought: str = ""
    taken: int = 0
    useless: int = 0

    async def to_end(self) -> SqlReply:
        if self.request.failed_sql:
            self.transcript.append(f"an earlier try\n{self.request.failed_sql}\n→ {self.request.feedback}")
        tools = Toolbox(self.request, self.context)
        while allowed := EDGES.get((self.last, self.ok), ()):
            # A model is asked only where it has something to decide or to write
            if len(allowed) == 1 and not WRITES.intersection(allowed):
                started = time.perf_counter()
                self._done(allowed[0], await tools.use(allowed[0], self.sql), "", started)
            elif (
                self.taken >= OWN_STEPS
                or self.useless >= USELESS
                or self.context.seconds_left <= RESERVE
                or not await self._own_step(allowed, tools)
            ):
                break
        return await self._answer()

    async def _own_step(self, allowed: tuple[Tool, ...], tools: Toolbox) -> bool:
        """Let the model take a step. False when it can't be reached any more, but a query has run."""
        self.taken += 1
        started = time.perf_counter()
        try:
            reply = await self._asked(allowed)
        except ModelReplyError as error:
            self._useless("?", f"The reply could not be used: {error}", "", started)
            return True
        except (ModelError, TimeoutError):
            if not self.ran:
                raise
            return False
        # The one that it names, or where it is a query and names none, the one that writes
        written = reply.sql and not reply.tool
        tool = next((one for one in allowed if reply.tool == one or (written and one in WRITES)), None)
        if tool is None:
            problem = f"{reply.tool!r} is not allowed now" if reply.tool else "No tool was named"
            self._useless(reply.tool or "?", f"{problem}; allowed: {', '.join(allowed)}.", reply.thought, started)
        elif tool in WRITES and not reply.sql:
            self._useless(tool, "There is no query in sql.", reply.thought, started)
        elif tool in WRITES and reply.sql == self.sql:
            self._useless(tool, "That is the same query again.", reply.thought, started)
        else:
            if tool in WRITES:
                self.sql = reply.sql
            self.thought = reply.thought or self.thought
            self._done(tool, await tools.use(tool, self.sql), reply.thought, started)
        return True

    async def _asked(self, allowed: tuple[Tool, ...]) -> StepReply:
        request = StepRequest(
            question=self.request.question,
            task=self.request.task,
            dialect=self.request.dialect,
            schema_context=self.request.schema_context,
            schema=self.request.schema,
            allowed=allowed,
            steps=tuple(self.transcript),
            evidence=self.request.evidence,
            left=OWN_STEPS - self.taken + 1,
            glossary=self.request.glossary,
            examples=self.request.examples,
            instructions=self.request.instructions,
            analysis=self.request.analysis,
        )
        async with asyncio.timeout(self.context.seconds_left - RESERVE):
            reply = await self.model.next_step(request)
        self.context.spend(reply.usage)
        return replace(reply, thought=reply.thought[:_THOUGHT])

    def _done(self, tool: Tool, outcome: Outcome, thought: str, started: float) -> None:
        self.last, self.ok, self.useless = tool, outcome.ok, 0
        if tool == "run_sql" and outcome.ok:
            self.ran, self.problem = self.sql, ""
        elif not outcome.ok:
            self.problem = outcome.text
        self._trace(tool, outcome, thought, started)

    def _useless(self, tool: str, text: str, thought: str, started: float) -> None:
        self.useless += 1
        self._trace(tool, Outcome(False, text), thought, started)

    def _trace(self, tool: str, outcome: Outcome, thought: str, started: float) -> None:
        written = self.sql if tool in WRITES else ""
        parts = (f"{tool}{'' if outcome.ok else ' (failed)'}", thought, written)
        self.transcript.append(
            "\n".join(filter(None, parts)) + (f"\n→ {outcome.text[:_SHOWN]}" if outcome.text else "")
        )
        self.trace.append(tool if outcome.ok else f"{tool} ✗")
        info = StepInfo(
            task_id=self.request.task.id,
            attempt=self.request.attempt,
            number=len(self.trace),
            tool=tool[:60],
            thought=thought,
            sql=written,
            ok=outcome.ok,
            observation=outcome.text[:_SHOWN],
            elapsed_ms=round((time.perf_counter() - started) * 1000, 3),
        )
        self.context.emit(StepEvent(data=info))

    async def _answer(self) -> SqlReply:
        steps = " → ".join(self.trace)
        if self.ran:
            finished = self.last == "finish"
            why = self.thought if finished else "The steps ended; this is the last query that ran."
            return SqlReply(self.ran, f"{why}\nSteps: {steps}".strip())
        log.info("No query ran within the steps, so one plain query is asked for")
        request = self.request
        if self.sql:
            request = replace(request, failed_sql=self.sql, feedback=self.problem or request.feedback)
        reply = await self.context.model.write_sql(request)
        return replace(reply, reasoning=f"{reply.reasoning}\nSteps: {steps} → a plain query".strip())


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What each tool does. Every statement goes through the guard, and what is sent is what the guard rebuilt. The
    texts of outcomes are written for the model's eyes, so they keep to its privacy mode."""

    request: SqlRequest
    context: RunContext

    @property
    def privacy(self) -> Privacy:
        return privacy_of(self.context.model)

    @property
    def asked(self) -> str:
        """What the query has to answer: the question, or its task's where that says more."""
        return with_evidence(self.request.task.description or self.request.question, self.request.evidence)

    async def use(self, tool: str, sql: str) -> Outcome:
        """Use a tool that asks no model."""
        match tool:
            case "get_schema":
                schema = self.request.schema
                count = f"{len(schema.tables)} tables with {schema.column_count} columns"
                return Outcome(True, f"{count}, as shown above.")
            case "link_schema":
                return await asyncio.to_thread(self._links)
            case "extract_constraints":
                return Outcome(True, "\n".join(constraints(read_intent(self.asked))))
            case "validate_sql":
                return await asyncio.to_thread(self._validated, sql)
            case "validate_constraints":
                return await asyncio.to_thread(self._against_constraints, sql)
            case "run_sql":
                return await self._run(sql)
        return Outcome(True, "")

    def _links(self) -> Outcome:
        request = self.request
        try:
            return Outcome(True, linked_text(self.asked, self.context.database, request.schema, self.privacy))
        except DatabaseError as error:
            return Outcome(True, f"Nothing could be looked up: {self._error_text(str(error), '')}")

    def _validated(self, sql: str) -> Outcome:
        case = self._inspected(sql)
        if case.verdict.statement is None:
            return Outcome(False, self._error_text(case.parsed.error or case.verdict.reason or "refused", sql))
        if case.references.phantoms:
            lines = [f"- {phantom.text}" for phantom in case.references.phantoms]
            return Outcome(False, "The query names things that this database does not have:\n" + "\n".join(lines))
        return Outcome(True, "One read-only SELECT, and every name exists.")

    def _against_constraints(self, sql: str) -> Outcome:
        objections = advice(self._inspected(sql))[:_ADVICE]
        if not objections:
            return Outcome(True, "No objection to its form.")
        return Outcome(False, "\n".join(f"- {one.guard}: {one.text}" for one in objections))

    def _inspected(self, sql: str) -> Case:
        return inspect(Query(self.asked, sql), self.request.schema)

    async def _run(self, sql: str) -> Outcome:
        """Run the query as the executor would, which then finds it examined."""
        try:
            case = await examined(Query(self.asked, sql), self.context)
        except DatabaseError as error:
            return Outcome(False, self._error_text(str(error), sql))
        if case.runnable is None:
            return Outcome(False, self._error_text(case.verdict.reason or "refused", sql))
        if not self.context.execute:
            refusal = await self.context.database.refusal_async(case.runnable)
            return Outcome(
                refusal is None, self._error_text(refusal, sql) if refusal else "It would run; nothing is run here."
            )
        if case.result is None or not case.result.ok:
            return Outcome(False, self._error_text((case.result and case.result.error) or "it failed", sql))
        return Outcome(True, result_text(case.result, self.privacy))

    def _error_text(self, message: str, sql: str) -> str:
        return message_text(message, self.privacy, self.request.schema, sql, self.asked)


def constraints(intent: Intent) -> Iterator[str]:
    """What a question's words ask of the form of its query, in sentences."""
    computed = {
        "COUNT": intent.count,
        "AVG": intent.average,
        "SUM": intent.total and not intent.count,
        "MAX": intent.maximum,
        "MIN": intent.minimum,
    }
    if wanted := [name for name, asked in computed.items() if asked]:
        yield f"It computes {', '.join(wanted)}."
    if intent.per_group:
        yield "It asks for something per group."
    if intent.superlative or intent.top:
        kept = f"the first {intent.top}" if intent.top else "the extreme"
        yield f"It ranks, and keeps {kept} ({'least' if intent.least and not intent.most else 'most'} first)."
    elif intent.order:
        yield f"It asks for an order{' (descending)' if intent.descending else ''}."
    else:
        yield "It asks for no order and no limit."
    if intent.distinct:
        yield "It asks for different ones."
    if intent.negation:
        yield "It excludes something."
    if not intent.asks_id:
        yield "It asks for no identifier."
    if intent.quoted or intent.numbers or intent.proper:
        named = [*intent.quoted, *(f"{n:g}" for n in intent.numbers), *intent.proper]
        yield "It names: " + "; ".join(dict.fromkeys(named))[:400]
