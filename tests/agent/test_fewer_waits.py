"""How many model calls a question waits for, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agent.models.protocol import Judgement, JudgeRequest, PlanReply, PlanRequest, Summary, SummaryRequest
from agent.runner import run
from agent.state import QueryPlan, QueryTask
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.statement import ReadStatement
from tests.agent.conftest import Run
from text2sql.testing import ScriptedModel

HOW_MANY = "How many customers are there?"
COUNT = "SELECT COUNT(*) FROM customers"
WRONG = "SELECT customer_id, COUNT(*) FROM orders GROUP BY customer_id"


class PatientModel(ScriptedModel):
    """A plan brings its query along, and the judge speaks only once the summary has been begun."""

    def __init__(
        self, *sql: str, planned: str = COUNT, relevance: float | list[float] = 1.0, together: bool = True
    ) -> None:
        super().__init__(*sql, relevance=relevance, summary="There are 4 customers.")
        self.planned = planned
        self.together = together
        self.begun = asyncio.Event()

    async def plan(self, request: PlanRequest) -> PlanReply:
        reply = await super().plan(request)
        sql = self.planned if request.write_sql else ""
        task = QueryTask(id="t1", description=request.question, sql=sql)
        return PlanReply(QueryPlan(plan_type="single", confidence=0.9, tasks=[task]), reply.usage)

    async def judge(self, request: JudgeRequest) -> Judgement:
        if self.together:
            async with asyncio.timeout(60):
                await self.begun.wait()
        return await super().judge(request)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        self.begun.set()
        return await super().summarize(request, on_text)


async def test_a_simple_question_waits_for_two_calls(ask: Run) -> None:
    model = PatientModel()
    _, answer = await ask(HOW_MANY, model)
    assert (answer.status, answer.rows, answer.answer) == ("success", [[4]], "There are 4 customers. ")
    assert not model.sql_requests  # the plan brought the query, and judge and summary ran side by side
    assert (len(model.plan_requests), len(model.judge_requests), len(model.summary_requests)) == (1, 1, 1)
    assert answer.tokens.calls == 3


@pytest.mark.parametrize("switch", ["no-plan-sql", "no-summary-ahead", "no-judge"])
async def test_each_saving_can_be_switched_off(ask: Run, switch: str) -> None:
    model = PatientModel(COUNT, together=switch == "no-plan-sql")
    _, answer = await ask(HOW_MANY, model, strategy=f"standard/{switch}")
    assert answer.rows == [[4]]
    assert len(model.sql_requests) == (switch == "no-plan-sql")
    assert len(model.judge_requests) == (switch != "no-judge")


async def test_a_summary_of_a_query_that_does_not_pass_is_never_shown(ask: Run) -> None:
    model = PatientModel(COUNT, planned=WRONG, relevance=[0.0, 1.0])
    events, answer = await ask(HOW_MANY, model)
    assert answer.rows == [[4]]
    assert "".join(event.data for event in events if event.event == "token") == answer.answer
    assert [request.results[0].sql for request in model.summary_requests] == [WRONG, COUNT]
    assert model.sql_requests[0].failed_sql == WRONG


async def test_the_sql_is_there_and_nothing_was_executed(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []
    execute = type(shop).execute

    def recorded(self: Database, statement: ReadStatement, **options: Any) -> ExecutionResult:
        executed.append(statement.sql)
        return execute(self, statement, **options)

    monkeypatch.setattr(type(shop), "execute", recorded)

    answer = await run(
        "How many cities?", database=shop, model=ScriptedModel("SELECT COUNT(*) FROM cities -- all"), execute=False
    )

    assert answer.sql == "SELECT COUNT(*) FROM cities"
    assert answer.rows == []
    assert [sql for sql in executed if not sql.startswith("EXPLAIN ")] == []


async def test_what_may_not_run_is_still_tried_again(shop: Database) -> None:
    model = ScriptedModel("DROP TABLE cities", "SELECT nam FROM cities", "SELECT name FROM cities")

    answer = await run("Which cities?", database=shop, model=model, execute=False)

    assert [attempt.status for attempt in answer.attempts] == ["failed", "failed", "success"]
    assert answer.sql == "SELECT name FROM cities"
