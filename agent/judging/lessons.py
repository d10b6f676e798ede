"""From verdicts to lessons: the judged queries are looked at again, as the judge sees them.

In: what people said of answers (`Judged`), and the open database. Out: `Lesson`s. A correction teaches twice: its own
SQL is right, and the query that it replaces is wrong. Only reads are sent, within limits; what no longer runs is left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from agent.judging.refit import Learned, Lesson, learn
from agent.parser.second_opinion import second_opinion
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.examination import Query, examine_async
from eval.scoring.evidence.features import observations
from eval.scoring.evidence.question_reading import Reading

if TYPE_CHECKING:
    from agent.store import Store

LIMITS = Limits(seconds=5.0, rows=10_000)


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer, and what a person said of it."""

    question: str
    sql: str
    verdict: Literal["right", "wrong", "corrected"]
    writer: str = ""
    correction: str = ""
    """The SQL that a person put in its place."""


async def learned_from(
    store: Store, owner: str, preset: str, database: Database, *, rights: str | None = None
) -> Learned:
    """What the owner's verdicts on answers from a database teach. Raises StoreError and DatabaseError."""
    judged = []
    for verdict in await store.feedback(owner, preset, rights=rights):
        run = await store.run(owner, verdict.run_id)
        if run is not None and verdict.question:
            correction = verdict.sql if verdict.verdict == "corrected" else ""
            judged.append(Judged(verdict.question, run.sql, verdict.verdict, run.model, correction))
    return learn(await lessons(judged, database))


async def lessons(judged: Iterable[Judged], database: Database) -> Sequence[Lesson]:
    taught = []
    for one in judged:
        taught += await _lesson(one.question, one.sql, one.writer, one.verdict == "right", database)
        if one.correction:
            taught += await _lesson(one.question, one.correction, "", True, database)
    return taught


async def _lesson(question: str, sql: str, writer: str, right: bool, database: Database) -> list[Lesson]:
    schema = database.schema()
    case = await examine_async(Query(question, sql), database, schema=schema, limits=LIMITS)
    if not case.ran:
        return []
    case = replace(case, second_opinion=await second_opinion(question, database, schema))
    features: dict[str, float] = {}
    for seen in observations(Reading(case)):
        features[seen.name] = features.get(seen.name, 0.0) + seen.value
    return [Lesson(question, writer, features, right)]
