"""summarizer: the chosen attempt of each task → the final answer, with every doubt stated.

A model writes it if one is available and there is something to report; otherwise it is composed here from the results.
Numbers in the text that occur in no result are pointed out.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agent.events import TokenEvent
from agent.knowledge.preview import turn_of
from agent.knowledge.privacy import privacy_of
from agent.models.grounding import ungrounded_numbers
from agent.models.protocol import ModelError, SummaryRequest, Usage
from agent.runtime.attempts import chosen, doubts, failure_text
from agent.runtime.context import RunContext
from agent.state import WITHOUT_MODEL, AgentState, QueryResult, standalone
from eval.engines import ENGINES, NOT_EXECUTED

log = logging.getLogger(__name__)

WITHOUT = "Without the model, the built-in engine would run this. Ask with the model `offline` for its answer."


async def summarizer(state: AgentState, context: RunContext) -> dict[str, Any]:
    results = chosen(state["plan"], state.get("query_results", []))
    stated = doubts(results, context.threshold)
    if any(r.status == "success" for r in results):
        text = await _written(state, results, stated, context) if context.execute else _not_executed(context)
    else:
        text = _nothing_to_report(results)
        context.emit(TokenEvent(data=text))
    judged = [r.eval_report.relevance.score for r in results if r.eval_report]
    return {
        "final_answer": text,
        "answer_relevance_score": sum(judged) / len(judged) if judged else 0.0,
        "history": [turn_of(state, results, text)],
        "clarified": None,
        "evidence": "",
    }


def _not_executed(context: RunContext) -> str:
    """What an answer without rows says where there is no engine; empty for a dry run, which asked for the SQL alone."""
    if context.database.executes:
        return ""
    text = NOT_EXECUTED.format(title=ENGINES[context.database.dialect].title)
    context.emit(TokenEvent(data=text))
    return text


async def _written(
    state: AgentState, results: tuple[QueryResult, ...], stated: tuple[str, ...], context: RunContext
) -> str:
    request = SummaryRequest(standalone(state), state["plan"], results, stated)
    written: list[str] = []

    def on_text(piece: str) -> None:
        written.append(piece)
        context.emit(TokenEvent(data=piece))

    if state.get("failure") or not context.strategy.summary or privacy_of(context.model) != "full":
        return _fallback(request, written, context)
    try:
        async with asyncio.timeout(context.seconds_left):
            ahead = context.summary_ahead
            if ahead is not None and ahead.answers(request):  # it was begun while the query was judged
                context.summary_ahead = None
                summary = await ahead.to_end(on_text)
            else:
                await context.drop_summary()
                summary = await context.model.summarize(request, on_text)
    except (ModelError, TimeoutError) as error:
        why = str(error) or "the time for this question ran out"
        log.warning("The model wrote no summary: %s", why)
        context.trouble(f"the answer is told by rules: {why}")
        context.spend_failed(error)
        context.spend(Usage(warnings=(f"The answer is told by rules, since the model wrote none: {why}",)))
        return _fallback(request, written, context)
    context.spend(summary.usage)
    if context.model.capabilities.exact_summaries:
        return summary.text
    loose = ungrounded_numbers(summary.text, results, standalone(state))
    if not loose:
        return summary.text
    note = f"\n\n*Not found in the results: {', '.join(loose)}.*"
    context.emit(TokenEvent(data=note))
    return summary.text + note


def _fallback(request: SummaryRequest, written: list[str], context: RunContext) -> str:
    """The offline engine's summary, when the model could not finish its own."""
    from agent.parser import summary_text

    lead = "\n\n*The model could not finish this answer; here is the result itself.*\n\n" if written else ""
    text = lead + summary_text(request)
    context.emit(TokenEvent(data=text))
    return "".join(written) + text


def _nothing_to_report(results: tuple[QueryResult, ...]) -> str:
    if not results:
        return "I could not answer this: no step of the plan was attempted."
    if len(results) == 1:
        reason = failure_text(results[0])
        declined = results[0].failure is not None and results[0].failure.kind == "abstained"
        lines = [f"{reason}." if declined else f"I could not answer this: {reason}."]
    else:
        lines = ["I could not answer this:", *(f"- {r.task_id}: {failure_text(r)}." for r in results)]
    guesses = [r.guess for r in results if r.guess and r.failure is not None and r.failure.kind in WITHOUT_MODEL]
    if guesses:
        lines += ["", WITHOUT, *(f"```sql\n{guess}\n```" for guess in guesses)]
    alternatives = [a for r in results for a in r.alternatives]
    if alternatives:
        lines += ["", "Did you mean:", *(f"- {a}" for a in alternatives[:5])]
    return "\n".join(lines)
