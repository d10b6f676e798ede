"""How sure an answer is: the same probability, verdict and wording for every interface.

In: attempts, or an answer's status, probability and doubts. Out: the probability of an attempt, the objections to it,
and the line that the command line, the page, the API and MCP show.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.state import QueryResult
from eval.scoring import EVEN_ODDS, RELEVANCE_WEIGHT

_VERY_LIKELY = 0.8
_TOP = 0.95


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
