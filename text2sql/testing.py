"""A model for tests: `ScriptedModel` replies with what the test wrote, calls nothing and keeps every request.

from text2sql import run
from text2sql.testing import ScriptedModel

model = ScriptedModel("SELECT COUNT(*) FROM customers")
answer = await run("How many customers are there?", database="shop", model=model)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.models.protocol import (
    Capabilities,
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
from agent.state import QueryPlan, single_task_plan

__all__ = ["ScriptedModel"]

_USAGE = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=None)


class ScriptedModel:
    """Replies with `sql` in order, and with the last one again when they run out. An exception among the replies is
    raised instead. `seconds` is how long each query takes to write; `closed` and `cancelled` say how it ended."""

    capabilities = Capabilities()

    def __init__(
        self,
        *sql: str | SqlReply | Exception,
        plan: QueryPlan | PlanReply | Exception | list[PlanReply] | None = None,
        relevance: float | list[float] | Exception = 0.5,
        summary: str | Exception = "Here is the answer.",
        seconds: float = 0.0,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.sql = list(sql)
        self.plan_reply = plan
        self.relevance = relevance
        self.summary = summary
        self.seconds = seconds
        self.plan_requests: list[PlanRequest] = []
        self.sql_requests: list[SqlRequest] = []
        self.judge_requests: list[JudgeRequest] = []
        self.summary_requests: list[SummaryRequest] = []
        self.cancelled = 0
        self.closed = False

    async def plan(self, request: PlanRequest) -> PlanReply:
        self.plan_requests.append(request)
        reply = self.plan_reply
        if isinstance(reply, list):
            reply = reply[min(len(self.plan_requests), len(reply)) - 1]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, PlanReply):
            return reply
        return PlanReply(reply or single_task_plan(request.question, 0.9), _USAGE)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        self.sql_requests.append(request)
        if self.seconds:
            try:
                await asyncio.sleep(self.seconds)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        reply = self.sql[min(len(self.sql_requests), len(self.sql)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, SqlReply) else SqlReply(reply, "because", usage=_USAGE)

    async def judge(self, request: JudgeRequest) -> Judgement:
        self.judge_requests.append(request)
        score = self.relevance
        if isinstance(score, Exception):
            raise score
        if isinstance(score, list):
            score = score[min(len(self.judge_requests), len(score)) - 1]
        return Judgement(score, f"relevance is {score}", _USAGE)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        self.summary_requests.append(request)
        if isinstance(self.summary, Exception):
            raise self.summary
        for piece in self.summary.split(" "):
            if on_text:
                on_text(piece + " ")
        return Summary(self.summary + " ", _USAGE)

    async def close(self) -> None:
        self.closed = True
