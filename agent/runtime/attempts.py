"""How sure an attempt is, which one of each task is shown, and with which doubts.

In: the accumulated results. Out: one probability, one line of verdict, one list of doubts, which the command line, the
page, the API and MCP all show. Pure functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from agent.runtime.probability import STATED_DOUBT
from agent.state import QueryPlan, QueryResult
from eval.scoring import EVEN_ODDS, NOT_RUN, RELEVANCE_WEIGHT, lets_through

_VERY_LIKELY = 0.8
_TOP = 0.95
_REASONS = 2
"""Maximum objections that a doubt names."""
_IN_DOUBT = "in doubt: "
"""Before the sentence in which the offline engine names what it assumed, at the end of its interpretation."""


def probability(result: QueryResult) -> float | None:
    """0..1: how likely the rows are right, by all the evidence (`eval.scoring.Score.probability`): the one figure that
    every interface quotes. Of what was not executed, the writer's own figure; None if there is none."""
    report = result.eval_report
    if report is None or report.probability is None:
        return result.confidence
    return round(report.probability, 4)


def likelihood(result: QueryResult) -> float:
    """0..1, to rank attempts: the probability, blended with the judge's relevance as the score blends them, which also
    tells attempts apart that something forbids; the score where there is no probability."""
    report = result.eval_report
    if report is None or report.probability is None:
        return result.score
    return (1 - RELEVANCE_WEIGHT) * report.probability + RELEVANCE_WEIGHT * report.relevance.score


def objections(result: QueryResult) -> list[str]:
    """The objections to an attempt that a reader can check: vetoes, then contradictions by weight. Habits are left out:
    they describe how such queries are usually written, not an error in this one."""
    report = result.eval_report
    if report is None:
        return []
    against = (e for e in report.analysis.evidence if e.kind == "contradiction" and e.supports is False)
    return [*report.vetoes, *(e.text for e in against)]


def verdict(status: str, chance: float | None, doubts: Sequence[str], *, executed: bool = True) -> str:
    """The line on how sure an answer is; empty while a clarification is open."""
    if status == "waiting":
        return ""
    if status == "error":
        return "There is no answer: the query failed."
    if status == "abstained":
        return "Not answered: the question was not understood well enough."
    odds = "" if chance is None else f" {in_ten(chance)} such answers are right."
    if status == "doubtful":
        why = f": {_lower_first(doubts[0].rstrip('.'))}" if doubts else ""
        how = "Likely wrong" if chance is not None and chance < EVEN_ODDS else "Doubtful"
        return f"{how}{why}.{odds}"
    if not executed:
        return f"Not executed.{odds}"
    if chance is None:
        return "Passed every check."
    return f"{'Very likely' if chance >= _VERY_LIKELY else 'Likely'} right.{odds}"


def of_attempt(result: QueryResult, *, passes: bool, executed: bool = True) -> str:
    """One attempt in a few words: `passes, about 8 in 10 right`. What failed is told by its status."""
    if result.status != "success":
        return result.status
    outcome = ("passes" if passes else "held back") if executed else "not executed"
    chance = probability(result)
    return outcome if chance is None else f"{outcome}, {in_ten(chance).lower()} right"


def in_ten(chance: float) -> str:
    """A probability in everyday words: `About 8 in 10`."""
    if chance >= _TOP:
        return "About 19 in 20"
    tenths = round(chance * 10)
    return f"About {min(tenths, 9)} in 10" if tenths > 0 else "Fewer than 1 in 10"


def _lower_first(text: str) -> str:
    """The text with its first letter in lower case, unless the first word is in capitals (`SQL ...`)."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


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
