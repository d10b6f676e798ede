"""The offline engine as a `Model`: plan, SQL, verdict and answer without any language model.

In: the protocol's requests. Out: its replies. The reading itself is `reading.read`; here it meets the graph.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agent.knowledge.values import value_index
from agent.models.offline.dialogue import ambiguity, whole_question
from agent.models.offline.judging import judge
from agent.models.offline.looking import looker
from agent.models.offline.reading import Reading, read
from agent.models.offline.summary import summary_text
from agent.models.protocol import (
    Judgement,
    JudgeRequest,
    PlanReply,
    PlanRequest,
    SqlReply,
    SqlRequest,
    Summary,
    SummaryRequest,
    Usage,
)
from agent.state import QueryPlan, QueryTask
from eval.databases.base import Database
from eval.schema import Dialect, Schema


class OfflineModel:
    """Deterministic; holds no state but the last reading, so that planning and writing read a question once."""

    name = "offline"
    offline = True

    def __init__(self) -> None:
        self._last: tuple[tuple[str, str, str, str, int], Reading] | None = None

    async def plan(self, request: PlanRequest) -> PlanReply:
        """One task; the confidence is the reading's (0.0 where it abstains). Follow-ups are made whole first."""
        started = time.perf_counter()
        question = request.question
        if request.history or request.clarified:
            question = await asyncio.to_thread(whole_question, request)
        reading = await self._read(question, request.schema, request.database, request.dialect)
        asked = None
        if request.may_ask and reading.abstained:
            values = await asyncio.to_thread(value_index, request.database, request.schema)
            asked = await asyncio.to_thread(ambiguity, question, reading, request.schema, values)
        task = QueryTask(id="task_1", description=question, sql=reading.sql)
        plan = QueryPlan(
            plan_type="single", confidence=0.0 if reading.abstained else round(reading.confidence, 4), tasks=[task]
        )
        return PlanReply(plan, _usage(started), "" if question == request.question else question, asked)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        """The query; a retry with feedback gets the next best reading where there is one, else the same again."""
        started = time.perf_counter()
        question = request.task.description or request.question
        place = request.attempt if request.feedback else 1
        reading = await self._read(question, request.schema, request.database, request.dialect, place)
        return SqlReply(
            reading.sql,
            reading.interpretation,
            round(reading.confidence, 4),
            reading.abstained,
            reading.not_understood,
            reading.alternatives,
            _usage(started),
        )

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Neutral, unless the result contradicts the question's form."""
        started = time.perf_counter()
        score, reasoning = judge(request)
        return Judgement(score, reasoning, _usage(started))

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """The answer, in one piece."""
        started = time.perf_counter()
        text = summary_text(request)
        if on_text is not None:
            on_text(text)
        return Summary(text, _usage(started))

    async def close(self) -> None:
        self._last = None

    async def _read(
        self, question: str, schema: Schema, database: Database, dialect: Dialect, place: int = 1
    ) -> Reading:
        key = (question, database.url, schema.fingerprint, dialect, place)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        index = await asyncio.to_thread(value_index, database, schema)
        look = looker(database) if database.holds_rows else None  # an empty copy says nothing of the answer
        reading = await asyncio.to_thread(read, question, schema, index, dialect, place=place, look=look)
        self._last = (key, reading)
        return reading


def _usage(started: float) -> Usage:
    return Usage(seconds=time.perf_counter() - started)
