"""retry_handler: a failed attempt → targeted feedback for the next one, by rules alone. No model, no database.

Six categories; the first that matches wins. The feedback goes into the next prompt verbatim, so it contains only what
the model may see.
"""

from __future__ import annotations

from contextlib import suppress
from operator import itemgetter
from typing import Any

from agent.events import RetryEvent, RetryInfo
from agent.knowledge.privacy import for_feedback, privacy_of
from agent.runtime.attempts import attempts_at, objections, shortfall
from agent.runtime.context import RunContext
from agent.state import AgentState, Hallucinations, QueryResult, Retry, RetryCategory, standalone, with_evidence
from eval.databases.types import DatabaseError

WEAK = 0.6
"""A dimension below this is named as weak in generic feedback."""


async def retry_handler(state: AgentState, context: RunContext) -> dict[str, Any]:
    await context.drop_summary()
    task = state["current_task"]
    attempts = attempts_at(task.id, state["query_results"])
    last = attempts[-1]
    threshold = context.threshold
    category, feedback = diagnose(last, threshold)
    privacy = privacy_of(context.model)
    if privacy != "full":
        schema = None
        with suppress(DatabaseError):  # without it fewer words count as known
            schema = await context.schema()
        words = with_evidence(standalone(state), state.get("evidence", ""))
        _, feedback = diagnose(for_feedback(last, privacy, schema, words), threshold)
    info = RetryInfo(task_id=task.id, attempt=len(attempts) + 1, category=category, feedback=feedback)
    context.emit(RetryEvent(data=info))
    retry = Retry(task_id=task.id, attempt=last.attempt, category=category)
    return {"retry_feedback": feedback, "retry_count": state.get("retry_count", 0) + 1, "retries": [retry]}


def diagnose(result: QueryResult, threshold: float) -> tuple[RetryCategory, str]:
    """The category of a failed attempt, and the feedback for the next attempt."""
    if result.error:
        return "execution_error", f"The query failed with this error:\n{result.error}\nFix exactly this."
    report = result.eval_report
    dimensions = report.dimensions if report else {}
    if report and (phantoms := _phantoms(report.analysis.hallucinations)):
        return "hallucination", "The query names things that this database does not have:\n" + "\n".join(phantoms)
    if dimensions.get("safety", 1.0) < 0.5:
        why = "; ".join(report.vetoes) if report else ""
        return "safety", f"Only one read-only SELECT statement is allowed. Refused: {why}"
    if report and report.relevance.score < 0.5:
        return "relevance", (
            f"The result does not answer the question (relevance {report.relevance.score:.2f}). "
            f"Issue: {report.relevance.reasoning}\nRewrite the query so that it answers the question directly."
        )
    if result.status == "success" and result.rows_returned == 0:
        return "empty_result", (
            "The query ran but returned no rows. Review the WHERE and JOIN conditions: are the constants spelled as "
            "they are stored, do the joined keys match, are conditions too narrow?" + _against(result)
        )
    by_value = sorted(dimensions.items(), key=itemgetter(1))
    weak = ", ".join(f"{name} {value:.2f}" for name, value in by_value if value < WEAK)
    because = f" Weak: {weak}." if weak else ""
    why = shortfall(result.score, threshold, report.probability if report else None)
    return "generic", f"{why[0].upper()}{why[1:]}.{because}{_against(result)}"


def _phantoms(of: Hallucinations) -> list[str]:
    by_kind = {"table": of.tables, "column": of.columns, "function": of.functions, "ambiguous column": of.ambiguous}
    lines = []
    for kind, phantoms in by_kind.items():
        for phantom in phantoms:
            hint = f" (nearest: {', '.join(phantom.nearest)})" if phantom.nearest else ""
            lines.append(f"- {kind} {phantom.name}{hint}")
    return lines


def _against(result: QueryResult) -> str:
    """The checkable objections to the attempt. Habits are left out, because they could spoil a correct query."""
    lines = objections(result)[:6]
    return "\nEvidence against it:\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
