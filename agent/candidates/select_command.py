"""One line of `python -m agent.batch select`: candidates as they come, the choice as it goes out.

In: a question and a list that anybody may have written. Out: `{sql, system, probability}`, with the candidate's own
text; where none can be run `sql` and `system` are null and `reason` says why. Nothing that a candidate holds raises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agent.candidates.choice import choose
from agent.candidates.evaluation import examined
from agent.candidates.result_groups import Candidate
from agent.parser.second_opinion import second_opinion
from eval.databases.base import Database
from eval.schema import Schema

_TOLD = 3
"""Different problems that a reason names."""


def selected(question: str, candidates: Sequence[object], database: Database, schema: Schema) -> dict[str, Any]:
    """Choose among them; a candidate that is no object with a text `sql` counts as one that did not run."""
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
        return {"sql": None, "system": None, "probability": 0.0, "reason": _reason(len(candidates), problems)}
    return {
        "sql": choice.candidate.sql,
        "system": choice.candidate.system or None,
        "probability": round(choice.probability, 4),
    }


def _reason(number: int, problems: Sequence[str]) -> str:
    if not number:
        return "There is no candidate."
    reasons = "; ".join(list(dict.fromkeys(problems))[:_TOLD])
    return f"None of the {number} candidates can be run: {reasons}." if number > 1 else f"It cannot be run: {reasons}."
