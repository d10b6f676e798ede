"""What each tool does. In: the run's request and context, and the query at hand. Out: an `Outcome`.

Every statement goes through the guard, and what is sent is what the guard rebuilt. The texts of outcomes are written
for the model's eyes, so they keep to its privacy mode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from agent.candidates.examination import examined
from agent.knowledge.model_view import linked_text, message_text, result_text
from agent.knowledge.privacy import Privacy, privacy_of
from agent.models.protocol import SqlRequest
from agent.runtime.context import RunContext
from agent.state import with_evidence
from eval.databases.types import DatabaseError
from eval.examination import Query, inspect
from eval.scoring.evidence.features import advice
from eval.scoring.intent import Intent, read_intent
from eval.scoring.types import Case

_ADVICE = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Toolbox:
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
