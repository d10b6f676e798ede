"""query_generator: the current task, the schema and any feedback → one SQL draft. Failures become part of the draft.
One without a model's reply holds what the built-in engine would have asked.

If the strategy wants several candidates, the draft is the chosen one and holds the others.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent.knowledge.privacy import privacy_of
from agent.models.protocol import ModelError, ModelReplyError, SqlReply, SqlRequest
from agent.runtime.attempts import attempts_at, best_attempt
from agent.runtime.context import RunContext
from agent.runtime.fitting import fitted
from agent.state import WITHOUT_MODEL, AgentState, Draft, Failure, asked, standalone
from eval.databases.types import DatabaseError
from eval.threads import in_turn

if TYPE_CHECKING:
    from agent.candidates.generation import Written
    from agent.knowledge.memory.retrieval import Memory
    from eval.schema import Schema


OFFER_SECONDS = 2.0
"""Time in which the built-in engine reads a question that a model failed on."""


async def query_generator(state: AgentState, context: RunContext) -> dict[str, Any]:
    task = state["current_task"]
    if failure := state.get("failure"):
        return {"draft": await _without_model(failure, state, context)}
    schema = await context.schema()
    results = state.get("query_results", [])
    before = attempts_at(task.id, results)
    if task.sql and not before and context.model.capabilities.remote and len(state["plan"].tasks) == 1:
        return {"draft": await _shaped(Draft(sql=task.sql, reasoning=task.description), state, schema, context)}
    periods: tuple[str, ...] = ()
    if context.strategy.short:
        from agent.parser.periods import relative_periods

        periods = relative_periods(standalone(state), dt.date.today())
    request = SqlRequest(
        question=standalone(state),
        task=task,
        dialect=schema.dialect,
        schema_context=state["schema_context"],
        schema=schema,
        evidence=state.get("evidence", ""),
        previous=tuple(r for d in task.depends_on if (r := best_attempt(d, results))),
        failed_sql=before[-1].sql if before else "",
        feedback=state.get("retry_feedback", ""),
        attempt=len(before) + 1,
        short=context.strategy.short,
        periods=periods,
        ran=context.ran,
    )
    if context.memory is not None:
        memory = context.memory
        if context.semantics is not None:
            from agent.knowledge.semantics.terms import glossary_of

            of_model = await in_turn(glossary_of, context.semantics, schema)
            memory = replace(memory, glossary=memory.glossary.joined(of_model))
        request = await in_turn(_with_memory, request, memory, context)
    several: tuple[Written, ...] = ()
    shown = request.schema_context
    try:
        if context.strategy.candidates > 1 or context.strategy.cascade:
            several = await _several(request, asked(state), context)
        if several:
            reply = several[0].reply
        else:
            async with asyncio.timeout(context.seconds_left):
                reply, shown = await fitted(
                    lambda text: _written(replace(request, schema_context=text), context), state, context
                )
            context.spend(reply.usage)
    except ModelReplyError as error:
        context.trouble(str(error))
        context.spend_failed(error)
        return {"draft": Draft(error=str(error))}
    except ModelError as error:
        return await _given_up(Failure(kind=error.kind, message=str(error)), state, context)
    except TimeoutError:
        message = f"The time for this question ({context.limits.run_seconds:g} s) ran out while writing SQL."
        return await _given_up(Failure(kind="timeout", message=message), state, context)
    drafts = [_draft(one.reply, one.agreeing, one.probability) for one in several] or [_draft(reply)]
    draft = await _shaped(drafts[0], state, schema, context)
    draft = draft.model_copy(update={"rivals": drafts[1:]})
    return {"current_task": task.model_copy(update={"sql": reply.sql}), "draft": draft, "schema_context": shown}


async def _shaped(draft: Draft, state: AgentState, schema: Schema, context: RunContext) -> Draft:
    """The draft after the strategy's clamps and constraint gate. The gate turns it into one that did not work, as long
    as a retry is left."""
    strategy, question = context.strategy, asked(state)
    if not draft.sql:
        return draft
    if strategy.clamps:
        from agent.candidates.clamps import clamped

        after = await in_turn(clamped, draft.sql, question, schema, strategy)
        if after.changes:
            reasoning = "\n".join([draft.reasoning, *after.changes]).strip()
            draft = draft.model_copy(update={"sql": after.sql, "reasoning": reasoning})
    if strategy.constraint_gate and context.may_retry(state.get("retry_count", 0)):
        from agent.candidates.clamps import contradictions

        lacks = await in_turn(contradictions, draft.sql, question, schema)
        if lacks:
            return draft.model_copy(update={"error": " ".join(lacks)})
    return draft


async def _several(request: SqlRequest, question: str, context: RunContext) -> tuple[Written, ...]:
    """Several candidates, the chosen one first; none where one query is wanted here."""
    from agent.candidates.generation import wants_several, written

    if not wants_several(request, context):
        return ()
    if context.strategy.cascade:
        from agent.candidates.cascade import cascaded

        return await cascaded(request, question, context)
    return await written(request, question, context)


def _with_memory(request: SqlRequest, memory: Memory, context: RunContext) -> SqlRequest:
    """The request with the team's knowledge of its database."""
    from agent.knowledge.kit import analysis_notes
    from agent.knowledge.memory.retrieval import remembered

    privacy = privacy_of(context.model)
    examples = remembered(
        request.question,
        memory,
        request.schema,
        db=context.database.name,
        examples=context.strategy.examples,
        glossary=context.strategy.glossary,
        privacy=privacy,
        reader=context.database,
    )
    read = privacy == "full" and context.strategy.notes and context.model.capabilities.remote
    return replace(
        request,
        glossary=examples.glossary_text,
        examples=examples.examples_text,
        definitions=tuple(examples.statements),
        verified=tuple((e.question, e.sql) for e in memory.examples if e.db in ("", context.database.name)),
        instructions=examples.instructions,
        analysis=analysis_notes(memory.analysis, context.database) if read else "",
    )


async def _written(request: SqlRequest, context: RunContext) -> SqlReply:
    if context.strategy.generator == "react":
        from agent.react import react

        return await react(request, context)
    return await context.model.write_sql(request)


async def _given_up(failure: Failure, state: AgentState, context: RunContext) -> dict[str, Any]:
    """Record that the model is unavailable for the rest of the run, so later tasks do not call it again."""
    context.trouble(failure.message)
    return {"draft": await _without_model(failure, state, context), "failure": failure}


async def _without_model(failure: Failure, state: AgentState, context: RunContext) -> Draft:
    """The failed draft; if the model failed, with the query that the built-in engine would have written. It is offered
    and not run, because the user asked a model."""
    if failure.kind not in WITHOUT_MODEL or not context.model.capabilities.remote:
        return Draft(failure=failure)
    from agent.candidates.generation import engine_reading

    try:
        async with asyncio.timeout(OFFER_SECONDS):
            schema = await context.schema()
            task, evidence = state["current_task"], state.get("evidence", "")
            request = SqlRequest(standalone(state), task, schema.dialect, "", schema, evidence=evidence)
            offered = await engine_reading(request, context)
    except (DatabaseError, TimeoutError):
        offered = None
    return Draft(failure=failure, guess=offered.sql if offered else "")


def _draft(reply: SqlReply, agreeing: tuple[int, int] | None = None, estimate: float | None = None) -> Draft:
    return Draft(
        sql="" if reply.abstained else reply.sql,
        reasoning=reply.reasoning,
        confidence=reply.confidence,
        not_understood=list(reply.not_understood),
        alternatives=list(reply.alternatives),
        guess=reply.guess if reply.abstained else "",
        agreeing=agreeing,
        by_engine=reply.by_engine,
        estimate=estimate,
        failure=Failure(kind="abstained", message=reply.reasoning) if reply.abstained else None,
    )
