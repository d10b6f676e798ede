"""planner: question and schema → a validated QueryPlan. A failed or invalid plan becomes one task of confidence 0.0.

In a conversation the plan answers the standalone question (`read_as`), which all later nodes use. A truly ambiguous
question leads to a `clarification` instead of a plan, at most once. A question in another language is restated in
English, which the checks read; the engine without a model says that it reads English.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace
from typing import Any

from agent.events import PlanEvent
from agent.knowledge.privacy import privacy_of
from agent.models.protocol import ModelError, PlanReply, PlanRequest
from agent.runtime.context import RunContext
from agent.runtime.fitting import fitted
from agent.state import AgentState, Failure, PlanInvalid, QueryPlan, Turn, in_running_order, single_task_plan
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.language.tokens import quotations
from eval.language.words import READS_ENGLISH, is_english, without_names
from eval.threads import in_turn

log = logging.getLogger(__name__)

LOW_CONFIDENCE = 0.5


async def planner(state: AgentState, context: RunContext) -> dict[str, Any]:
    question = state["question"]
    failed: dict[str, Any] = {}
    shown = state.get("schema_context", "")
    english = bool(state.get("failure")) or await _is_english(question, context)
    if state.get("failure"):
        reply = PlanReply(single_task_plan(question, 0.0))
    elif not english and not context.model.capabilities.remote:
        failed = {"failure": Failure(kind="abstained", message=READS_ENGLISH)}
        reply = PlanReply(single_task_plan(question, 0.0))
    elif context.strategy.cascade and context.model.capabilities.remote:
        reply = PlanReply(single_task_plan(question, 1.0))
        if _in_conversation(state, context) and privacy_of(context.model) == "full":
            reply = await in_turn(_unplanned, await _request(question, state, context), context.database, 1.0)
    elif not (context.strategy.plan or _in_conversation(state, context) or not english):
        reply = PlanReply(single_task_plan(question, 1.0))
    else:
        try:
            reply, shown = await _reply(question, state, context)
        except ModelError as error:  # no other call would succeed
            failed = {"failure": Failure(kind=error.kind, message=str(error))}
            reply = PlanReply(single_task_plan(question, 0.0))
        if reply.clarification:
            return {"clarification": reply.clarification, "schema_context": shown}
        if reply.plan.confidence < LOW_CONFIDENCE:
            log.warning(
                "The plan of %d tasks has a confidence of only %.2f", len(reply.plan.tasks), reply.plan.confidence
            )
    context.emit(PlanEvent(data=reply.plan))
    read_as = reply.read_as.strip()
    changes = {"plan": reply.plan, "read_as": "" if read_as == question else read_as, "schema_context": shown}
    return changes | failed


async def _reply(question: str, state: AgentState, context: RunContext) -> tuple[PlanReply, str]:
    """The plan, and the text of the schema that the model could take."""
    request = await _request(question, state, context)
    try:
        async with asyncio.timeout(context.seconds_left):
            reply, shown = await fitted(
                lambda text: context.model.plan(replace(request, schema_context=text)), state, context
            )
        context.spend(reply.usage)
        if reply.clarification:
            return (reply if request.may_ask else replace(reply, clarification=None)), shown
        plan = _values_kept(in_running_order(reply.plan), reply.read_as or question)
        return replace(reply, plan=plan), shown
    except (ModelError, PlanInvalid, TimeoutError) as error:
        if isinstance(error, ModelError) and error.final:
            raise
        why = context.spend_failed(error)
        log.warning("No usable plan, so one task: %s", why)
        context.trouble(f"no usable plan, so the question is one task: {why}")
        if privacy_of(context.model) != "full":  # the rules look up stored values, and the model sees their output
            return PlanReply(single_task_plan(question, 0.0)), context.shortened or request.schema_context
        return await in_turn(_unplanned, request, context.database), context.shortened or request.schema_context


async def _request(question: str, state: AgentState, context: RunContext) -> PlanRequest:
    schema = await context.schema()
    clarified = state.get("clarified")
    # Whether the plan may include the query: not if several candidates are wanted, or if the team's knowledge
    # is part of the call that writes the query
    strategy = context.strategy
    one_query = strategy.generator == "query" and strategy.candidates == 1
    plan_writes = strategy.plan_sql and one_query and context.memory is None and context.model.capabilities.remote
    return PlanRequest(
        question,
        schema.dialect,
        state["schema_context"],
        schema,
        state.get("evidence", ""),
        history=_earlier(state, context),
        write_sql=plan_writes,
        may_ask=context.may_ask and clarified is None,
        clarified=clarified,
        ran=context.ran,
        translate=not await _is_english(question, context),
    )


async def _is_english(question: str, context: RunContext) -> bool:
    if is_english(question):
        return True
    schema = await context.schema()
    names = (name for t in schema.tables for name in (t.name, *(c.name for c in t.columns)))
    return is_english(without_names(question, names))


def _values_kept(plan: QueryPlan, question: str) -> QueryPlan:
    """The plan without its English question, if that lost a number or a quoted text of the question."""
    english = plan.in_english
    kept = [*_NUMBER.findall(question), *(q.text.strip() for q in quotations(question))]
    lost = english and not all(value.casefold() in english.casefold() for value in kept)
    return plan.model_copy(update={"in_english": ""}) if lost else plan


_NUMBER = re.compile(r"\d+")


def _in_conversation(state: AgentState, context: RunContext) -> bool:
    return bool(context.may_ask or state.get("clarified") or _earlier(state, context))


def _earlier(state: AgentState, context: RunContext) -> tuple[Turn, ...]:
    """The turns that the question may refer to: all, or, for a question that is asked again, those before it."""
    history = state.get("history", [])
    if context.history_before is None:
        return tuple(history)
    return tuple(turn for turn in history if turn.number < context.history_before)


def _unplanned(request: PlanRequest, database: Database, confidence: float = 0.0) -> PlanReply:
    """A plan of one task. In a conversation, the offline engine's rules form the standalone question."""
    read_as = ""
    if request.history or request.clarified:
        from agent.parser.dialogue import whole_question

        try:
            read_as = whole_question(request, database)
        except DatabaseError as error:
            log.warning("The follow-up stays as it is: %s", error)
    return PlanReply(single_task_plan(read_as or request.question, confidence), read_as=read_as)
