"""Candidates for one question, run and judged: what `agent.candidates.choice` chooses from.

In: a question, an open database, candidates from anywhere. Out: those that ran, `Examined`, and why the others did not.
Each distinct statement passes the guard, is run once within limits, and is judged by its evidence; the offline engine's
reading of the question is the second opinion. No language model. Nothing that a candidate holds raises. `selected` is
one line of `python -m agent.batch select`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from agent.candidates.choice import Candidate, Examined, Ran, choose, labelled
from agent.parser.second_opinion import second_opinion
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
            left = until - monotonic()
            known[candidate.sql] = _one(question, candidate, database, schema, opinion, left)
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
    seconds_left: float,
) -> Ran | str:
    if seconds_left <= 0:
        return "there was no time left to run it"
    if not candidate.sql.strip():
        return "it is empty"
    limits = replace(LIMITS, seconds=max(0.05, min(LIMITS.seconds, seconds_left)))
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


_TOLD = 3
"""Different problems that a reason names."""


def selected(question: str, candidates: Sequence[object], database: Database, schema: Schema) -> dict[str, Any]:
    """The choice among candidates that anybody may have written, with its own text and its probability; where none can
    be run `sql` and `system` are None and `reason` says why. One that is no object with a text `sql` did not run."""
    usable: list[Candidate] = []
    unreadable = 0
    for candidate in candidates:
        sql = candidate.get("sql") if isinstance(candidate, dict) else None
        if isinstance(candidate, dict) and isinstance(sql, str):
            system = candidate.get("system")
            usable.append(Candidate(system if isinstance(system, str) else "", sql))
        else:
            unreadable += 1
    opinion = asyncio.run(second_opinion(question, database, schema)) if usable else None
    outcomes = examined(question, usable, database, schema, opinion)
    choice = choose(outcomes.ran, len(candidates))
    if choice is None:
        problems = [*outcomes.problems, *(["it has no 'sql'"] if unreadable else [])]
        told = "; ".join(list(dict.fromkeys(problems))[:_TOLD])
        reason = f"None of the {len(candidates)} candidates can be run: {told}."
        if len(candidates) < 2:
            reason = f"It cannot be run: {told}." if candidates else "There is no candidate."
        return {"sql": None, "system": None, "probability": 0.0, "reason": reason}
    return {
        "sql": choice.candidate.sql,
        "system": choice.candidate.system or None,
        "probability": round(choice.probability, 4),
    }
