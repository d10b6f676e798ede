"""query_generator: the current task, the schema and any feedback → one SQL draft. Failures become part of the draft."""

from __future__ import annotations

import asyncio
from typing import Any

from agent.attempts import attempts_at, best_attempt
from agent.context import RunContext
from agent.models.protocol import (
    ModelAuthError,
    ModelError,
    ModelReplyError,
    SqlReply,
    SqlRequest,
)
from agent.state import AgentState, Draft, Failure


async def query_generator(state: AgentState, context: RunContext) -> dict[str, Any]:
    task = state["current_task"]
    if failure := state.get("failure"):
        return {"draft": Draft(failure=failure)}
    schema = await context.schema()
    results = state.get("query_results", [])
    before = attempts_at(task.id, results)
    request = SqlRequest(
        question=state["question"],
        task=task,
        dialect=schema.dialect,
        schema_context=state["schema_context"],
        schema=schema,
        database=context.database,
        previous=tuple(r for d in task.depends_on if (r := best_attempt(d, results))),
        failed_sql=before[-1].sql if before else "",
        feedback=state.get("retry_feedback", ""),
        attempt=len(before) + 1,
    )
    try:
        async with asyncio.timeout(context.seconds_left):
            reply = await context.model.write_sql(request)
    except ModelReplyError as error:
        return {"draft": Draft(error=str(error))}
    except ModelAuthError as error:
        return _given_up(Failure(kind="model_auth", message=str(error)))
    except ModelError as error:
        return _given_up(Failure(kind="model", message=str(error)))
    except TimeoutError:
        message = f"The time for this question ({context.settings.run_seconds:g} s) ran out while writing SQL."
        return _given_up(Failure(kind="timeout", message=message))
    context.spend(reply.usage)
    return {"current_task": task.model_copy(update={"sql": reply.sql}), "draft": _draft(reply)}


def _given_up(failure: Failure) -> dict[str, Any]:
    """The model is out of reach for the rest of the run, so later tasks do not ask it again."""
    return {"draft": Draft(failure=failure), "failure": failure}


def _draft(reply: SqlReply) -> Draft:
    if reply.abstained:
        return Draft(
            failure=Failure(kind="abstained", message=reply.reasoning),
            reasoning=reply.reasoning,
            confidence=reply.confidence,
            not_understood=list(reply.not_understood),
            alternatives=list(reply.alternatives),
        )
    return Draft(
        sql=reply.sql,
        reasoning=reply.reasoning,
        confidence=reply.confidence,
        not_understood=list(reply.not_understood),
        alternatives=list(reply.alternatives),
    )
