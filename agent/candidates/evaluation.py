"""Candidates for one question, run and judged: what `agent.candidates.choice` chooses from.

In: a question, an open database, candidates from anywhere. Out: those that ran, `Examined`, and why the others did not.
Each distinct statement passes the guard, is run once within limits, and is judged by its evidence; the offline engine's
reading of the question is the second opinion. No language model. Nothing that a candidate holds raises.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic

from agent.candidates.result_groups import Candidate, Examined, Ran, labelled
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.examination import Query, examine
from eval.schema import Schema
from eval.scoring import Case, SecondOpinion, score

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=5.0, rows=10_000, bytes=16 * 1024 * 1024)
"""Of one candidate."""
SECONDS = 20.0
"""Of all candidates for a question; what has not run by then is left out."""


@dataclass(frozen=True, slots=True)
class Examination:
    ran: tuple[Examined, ...]
    problems: tuple[str, ...]
    """Why the others did not, one sentence each."""


def examined(
    question: str,
    candidates: Sequence[Candidate],
    database: Database,
    schema: Schema,
    opinion: SecondOpinion | None = None,
) -> Examination:
    """Run and judge each candidate, its statement once however many wrote it."""
    until = monotonic() + SECONDS
    known: dict[str, Ran | str] = {}
    ran: list[Ran] = []
    problems: list[str] = []
    for candidate in candidates:
        if candidate.sql not in known:
            left = replace(LIMITS, seconds=max(0.05, min(LIMITS.seconds, until - monotonic())))
            known[candidate.sql] = (
                "there was no time left to run it"
                if monotonic() >= until
                else _one(question, candidate, database, schema, opinion, left)
            )
        case = known[candidate.sql]
        if isinstance(case, Ran):
            ran.append(replace(case, candidate=candidate))
        else:
            problems.append(case)
    return Examination(labelled(ran), tuple(problems))


def _one(
    question: str,
    candidate: Candidate,
    database: Database,
    schema: Schema,
    opinion: SecondOpinion | None,
    limits: Limits,
) -> Ran | str:
    if not candidate.sql.strip():
        return "it is empty"
    try:
        case = examine(Query(question, candidate.sql), database, schema=schema, limits=limits)
        return ran_or_problem(candidate, replace(case, second_opinion=opinion))
    except Exception as error:  # whatever a candidate does to a parser or a scorer, the others are still there
        log.exception("A candidate failed inside")
        return f"it could not be examined ({type(error).__name__})"


def ran_or_problem(candidate: Candidate, case: Case) -> Ran | str:
    """A case as something to compare with others, or why it cannot be."""
    scored = score(case)
    if case.result is None or not case.result.ok:
        return (case.result.error if case.result else None) or "; ".join(scored.vetoes) or "it did not run"
    sent = case.verdict.statement.sql if case.verdict.statement else candidate.sql
    probability = scored.probability or 0.0
    return Ran(candidate, sent, probability, case.result, bool(case.facts.order_by), bool(scored.conflicts))
