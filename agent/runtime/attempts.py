"""Selects the attempt to show for each task and states its doubts. Pure functions of the accumulated results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from agent.runtime.probability import STATED_DOUBT
from agent.runtime.verdict import likelihood, objections, probability
from agent.state import QueryPlan, QueryResult
from eval.scoring import EVEN_ODDS, NOT_RUN, lets_through

_REASONS = 2
"""Maximum objections that a doubt names."""


def attempts_at(task_id: str, results: Iterable[QueryResult]) -> list[QueryResult]:
    return [r for r in results if r.task_id == task_id]


def passes(result: QueryResult, threshold: float) -> bool:
    """The gate's condition, which `eval.scoring` keeps, for an attempt that ran."""
    report = result.eval_report
    vetoes = report.vetoes if report else ()
    chance = report.probability if report else None
    return result.status == "success" and lets_through(result.score, vetoes, threshold, chance)


def sure(result: QueryResult) -> bool:
    """Whether the rows are likely right, or nothing is known of that, and nothing is open in how the values were read
    from their file."""
    return not result.open_readings and _likely(result)


def _likely(result: QueryResult) -> bool:
    chance = probability(result)
    return chance is None or chance >= STATED_DOUBT


def best_attempt(task_id: str, results: Iterable[QueryResult]) -> QueryResult | None:
    """The attempt to show: one that ran before one that did not, unvetoed before vetoed, then one to which no other was
    preferred, then the most probable; the earliest of equals. None when the task was never attempted."""
    attempts = attempts_at(task_id, results)
    replaced = {number for result in attempts for number in result.replaces}

    def rank(result: QueryResult) -> tuple[bool, bool, bool, float, int]:
        vetoed = bool(result.eval_report and result.eval_report.vetoes)
        preferred = result.attempt not in replaced
        return (result.status == "success", not vetoed, preferred, likelihood(result), -result.attempt)

    return max(attempts, key=rank, default=None)


def chosen(plan: QueryPlan, results: Sequence[QueryResult]) -> tuple[QueryResult, ...]:
    """The best attempt of each task, in plan order; tasks never attempted are left out."""
    best = (best_attempt(task.id, results) for task in plan.tasks)
    return tuple(r for r in best if r is not None)


def doubts(results: Iterable[QueryResult], threshold: float) -> tuple[str, ...]:
    """The doubts, as sentences, that an answer must state about the attempts shown."""
    lines: list[str] = []
    several = len(materialised := list(results)) > 1
    for result in materialised:
        of = f"Step {result.task_id}: " if several else ""
        if result.status != "success":
            lines.append(f"{of}no query could be run ({failure_text(result)}).")
            continue
        if not passes(result, threshold):
            reasons = objections(result)[:_REASONS] or ["the evidence for it is thin"]
            lines.append(f"{of}treat this with care: {'; '.join(reason.rstrip('.') for reason in reasons)}.")
        elif not _likely(result) and (left := _left_open(result)):
            lines.append(f"{of}{left}.")
        lines += [f"{of}{reading}." for reading in result.open_readings]
        if result.truncated:
            lines.append(f"{of}only the first {result.rows_returned:,} rows were read; there are more.")
    return tuple(lines)


_IN_DOUBT = "in doubt: "
"""Before the sentence in which the offline engine names what it assumed, at the end of its interpretation."""


def _left_open(result: QueryResult) -> str:
    """What an unsure reading leaves open: the words that it leaves out, or what it assumed."""
    words = result.not_understood
    if not words:
        _, known, assumed = result.reasoning.partition(_IN_DOUBT)
        if known:
            return assumed.rstrip(".")
        reasons = "; ".join(reason.rstrip(".") for reason in objections(result)[:_REASONS])
        return reasons or ("" if result.open_readings else "the evidence for it is thin")
    named = ", ".join(f"“{word}”" for word in words)
    return f"{named} {'is' if len(words) == 1 else 'are'} left out of the query"


def shortfall(score: float, threshold: float, chance: float | None = None) -> str:
    """`the score 0.61 is below 0.70`, rounded down so that it never looks like the threshold itself; a query may also
    be held back whatever its score, by its odds (0..1) or by a check."""
    if score >= threshold and chance is not None and NOT_RUN < chance < EVEN_ODDS:
        return "by the evidence it is more likely wrong than right"
    if score >= threshold:
        return "a check rejects it regardless of its score"
    return f"the score {math.floor(score * 100) / 100:.2f} is below {threshold:.2f}"


def failure_text(result: QueryResult) -> str:
    """Why an attempt gave no rows, in one line."""
    vetoes = result.eval_report.vetoes if result.eval_report else []
    error = (result.error or "").strip().partition("\n")[0]  # an engine lists what it would accept below
    declined = result.failure.message if result.failure else ""
    return (error or "; ".join(vetoes) or result.reasoning or declined or "no reason given").rstrip(".")
