"""summarizer: the chosen attempt of each task → the final answer, with every doubt stated.

A model writes it if one is available and there is something to report; otherwise it is composed here from the results.
Numbers in the text that occur in no result are pointed out.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from agent.events import TokenEvent
from agent.knowledge.preview import turn_of
from agent.knowledge.privacy import privacy_of
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
        why = context.spend_failed(error)
        log.warning("The model wrote no summary: %s", why)
        context.trouble(f"the answer is told by rules: {why}")
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


_CELLS = 200_000
_CHARS = 100_000

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-−]?)(?P<currency>[$€£¥]?)"
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f'’]\d{3}){1,12}(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?)"
    r"(?P<suffix>\s?%|\s?percent\b|(?:st|nd|rd|th)\b|\s?(?:thousand|million|billion|trillion)\b|[kKMB]n?\b|)"
    r"(?!\w)(?!\.\d)"
)
_LIST_MARK = re.compile(r"^[ \t]{0,12}(?:\d{1,3}[.)]|\|\s{0,8}\d{1,3}\s{0,8}\|)[ \t]", re.MULTILINE)
_IN_STRING = re.compile(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?")
_HEDGE = re.compile(r"(?:about|around|approximately|roughly|nearly|almost|over|under|~|≈|some|approx\.?)\s{0,3}$", re.I)
_SCALE = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "b": 1e9, "trillion": 1e12}


def ungrounded_numbers(text: str, results: Sequence[QueryResult], question: str = "") -> list[str]:
    """The numbers in `text`, as written and in order, that occur in no row, column name, SQL or count of `results` and
    not in `question`. A sum that a model computed itself is one, because its arithmetic is unchecked.

    Counted as the same number: thousands separators, another sign, rounding to the decimals written, a fraction as
    percentage (0.25 as 25%), a scale word (1.2 million), and 5 % of distance after a word like "about". Marks of
    numbered lists, and ranks up to the number of rows, are not numbers of the answer.
    """
    known = sorted(_known(results, question))
    ranks = max((len(r.data) for r in results), default=0)
    marks = {m.start() + len(m.group()) - len(m.group().lstrip(" \t|")) for m in _LIST_MARK.finditer(text[:_CHARS])}
    loose: list[str] = []
    for number in _NUMBER.finditer(text[:_CHARS]):
        written = number.group().strip()
        if number.start("digits") in marks or written in loose:
            continue
        suffix = number.group("suffix").strip().lower()
        digits = re.sub(r"[^\d.]", "", number.group("digits"))
        value = float(digits)
        if suffix in ("st", "nd", "rd", "th") and value <= ranks:
            continue
        step = 0.5 * 10.0 ** -len(digits.partition(".")[2])
        hedged = bool(_HEDGE.search(text, max(0, number.start() - 20), number.start()))
        scale = _SCALE.get(suffix.removesuffix("n") if len(suffix) == 2 else suffix, 1.0)
        readings = [(value * scale, step * scale)]
        if suffix in ("%", "percent"):
            readings.append((value / 100, step / 100))
        if not any(_near(v, slack, known, hedged=hedged) for v, slack in readings):
            loose.append(written)
    return loose


def _near(value: float, slack: float, known: Sequence[float], *, hedged: bool) -> bool:
    slack = max(slack, 0.05 * value if hedged else 0.0) * (1 + 1e-9) + 1e-12 * value
    at = bisect_left(known, value - slack)
    return at < len(known) and known[at] <= value + slack


def _known(results: Sequence[QueryResult], question: str) -> Iterable[float]:
    yield from _numbers_of([question, len(results)])
    left = _CELLS
    for result in results:
        yield from _numbers_of([result.rows_returned, len(result.data), result.sql, result.columns])
        for row in result.data:
            left -= len(row)
            if left < 0:
                return
            yield from _numbers_of(row)


def _numbers_of(cell: object) -> Iterable[float]:
    if isinstance(cell, bool) or cell is None:
        return
    if isinstance(cell, int | float):
        try:
            number = abs(float(cell))
        except OverflowError:
            return
        if math.isfinite(number):
            yield number
    elif isinstance(cell, str):
        for match in _IN_STRING.finditer(cell[:2000]):
            yield float(match.group().replace(",", ""))
            if "," in match.group():
                yield from (float(part) for part in match.group().replace(".", ",").split(","))
    elif isinstance(cell, list | dict):
        for item in cell.values() if isinstance(cell, dict) else cell:
            yield from _numbers_of(item)
