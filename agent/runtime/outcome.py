"""The end of a run as an `Answer`.

In: the graph's last state, or the end of a turn of a conversation. Out: the answer that every door shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agent.access.database import PersonalDatabase
from agent.runtime.answer import Answer, Tokens
from agent.runtime.attempts import chosen, doubts, failure_text, passes, probability, sure
from agent.runtime.context import RunContext
from agent.state import Clarification, QueryPlan, QueryResult, Retry

DROPPED = "All right, never mind that question."


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn of a conversation ended: with a state, waiting for an answer, or dropped by the user."""

    state: dict[str, Any]
    waiting: Clarification | None = None
    dropped: bool = False


def answer_of(state: dict[str, Any], context: RunContext, seconds: float) -> Answer:
    plan: QueryPlan = state["plan"]
    results: list[QueryResult] = state.get("query_results", [])
    retries: list[Retry] = state.get("retries", [])
    retried = {(retry.task_id, retry.attempt): retry.category for retry in retries}
    best = chosen(plan, results)
    last = best[-1] if best else None
    threshold = context.threshold
    kind: str | None = None
    status: Literal["success", "doubtful", "abstained", "error"]
    if last is None:
        status, kind = "error", "internal"
    elif last.status == "success":
        status = "success" if all(passes(r, threshold) and sure(r) for r in best) else "doubtful"
    elif last.failure and last.failure.kind == "abstained":
        status = "abstained"
    else:
        status = "error"
        kind = last.failure.kind if last.failure else "sql"
    told = [*doubts(best, threshold), *context.usage.warnings]
    personal = context.database if isinstance(context.database, PersonalDatabase) else None
    if last and last.sql and personal and (partly := personal.partly_visible(last.sql)):
        told.append(f"Only the rows of {', '.join(partly)} that are visible to you were read.")
    report = last.eval_report if last else None
    return Answer(
        question=state["question"],
        status=status,
        sql=last.sql if last else "",
        columns=last.columns if last else [],
        units=last.units if last else [],
        rows=last.data if last else [],
        truncated=last.truncated if last else False,
        score=min((r.score for r in best), default=0.0),
        dimensions=report.dimensions if report else {},
        answer=state.get("final_answer", ""),
        abstained=status == "abstained",
        attempts=[r.model_copy(update={"retry_category": retried.get((r.task_id, r.attempt))}) for r in results],
        plan=plan,
        reason=(last.reasoning if last and last.status == "success" else failure_text(last) if last else ""),
        confidence=probability(last) if last else None,
        relevance=state.get("answer_relevance_score", 0.0),
        doubts=told,
        not_understood=last.not_understood if last else [],
        alternatives=last.alternatives if last else [],
        error_kind=kind,
        reading=last.reading if last else [],
        left_out=last.left_out if last else [],
        read_as=state.get("read_as") or "",
        **_of_run(context, seconds),
    )


def answer_of_turn(text_of_user: str, ended: TurnEnd, context: RunContext, seconds: float) -> Answer:
    """The answer to a text in a conversation, which may be only part of the question."""
    if ended.waiting is None and not ended.dropped:
        return answer_of(ended.state, context, seconds).model_copy(update={"question": text_of_user})
    asked, text = ended.waiting, DROPPED
    if asked:
        text = "\n".join([asked.question, "", *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])
    return Answer(
        question=text_of_user,
        status="waiting" if asked else "abstained",
        abstained=asked is None,
        answer=text.strip(),
        reason=asked.question if asked else DROPPED,
        clarification=asked,
        **_of_run(context, seconds),
    )


def _of_run(context: RunContext, seconds: float) -> dict[str, Any]:
    """The fields of an answer that tell of its run."""
    usage = context.usage
    return {
        "seconds": round(seconds, 4),
        "tokens": Tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cached=usage.cached_tokens,
            calls=usage.calls,
            cost_usd=usage.cost_usd,
        ),
        "model": context.model.name,
        "database": context.database.name,
        "dialect": context.database.dialect,
        "executed": context.execute,
    }
