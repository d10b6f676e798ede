"""A scripted OpenAI-compatible server, a model that speaks to it, and one request of each kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from agent.models.failures import RetryPolicy
from agent.models.openai import OpenAIModel
from agent.models.protocol import (
    Endpoint,
    JudgeRequest,
    ModelTimeout,
    PlanRequest,
    ReviewRequest,
    SqlRequest,
    SummaryRequest,
)
from agent.models.quirks import forget
from agent.state import QueryPlan, QueryResult, QueryTask
from eval.schema import Column, Schema, Table
from tests.openai_server import OpenAIServer

KEY = "sk-test-1234567890abcdef"
QUESTION = "How many customers are there?"
TASK = QueryTask(id="t1", description=QUESTION)
PLAN = QueryPlan(plan_type="single", confidence=0.9, tasks=[TASK])
SCHEMA = Schema("sqlite", (Table("customers", (Column("id", "INTEGER", primary_key=True),)),))
RESULT = QueryResult(
    task_id="t1",
    attempt=1,
    sql="SELECT COUNT(*) FROM customers",
    data=[[1234]],
    columns=["n"],
    rows_returned=1,
    status="success",
)


class ModelServer(OpenAIServer):
    """A scripted endpoint that makes models for itself, with waits short enough for a test."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[OpenAIModel] = []

    def model(self, retry: RetryPolicy | None = None, **settings: Any) -> OpenAIModel:
        given = {"model": "m", "api_key": KEY, "base_url": self.url, "seconds": 60.0, **settings}
        self.made.append(OpenAIModel(Endpoint(**given), retry=retry or RetryPolicy(first_wait=0.01, longest_wait=0.05)))
        return self.made[-1]

    async def sql(self, **settings: Any) -> str:
        """What a new model writes."""
        return (await self.model(**settings).write_sql(sql_request())).sql


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    forget()
    with ModelServer() as running:
        yield running
        for model in running.made:
            await model.close()
    forget()


async def timed_out(server: ModelServer, call: Callable[[OpenAIModel], Awaitable[object]]) -> None:
    """A call that waits in vain is given up, and its connection is closed. On a busy machine the first limit
    may pass before the request has left: then a longer one is tried."""
    for seconds in (0.4, 4.0, 40.0):
        server.script()
        with pytest.raises(ModelTimeout) as failed:
            await call(server.model(seconds=seconds))
        if server.arrived.is_set():
            break
    assert await asyncio.to_thread(server.disconnected.wait, 60)
    assert failed.value.usage is not None
    assert f"sent nothing for {seconds:g} seconds" in str(failed.value)


def sql_request(**changes: Any) -> SqlRequest:
    given: dict[str, Any] = {
        "question": QUESTION,
        "task": TASK,
        "dialect": "sqlite",
        "schema_context": "Table: customers\n  id (INTEGER, PK)",
        "schema": SCHEMA,
    }
    return SqlRequest(**(given | changes))


def plan_request() -> PlanRequest:
    return PlanRequest(QUESTION, "sqlite", "Table: customers\n  id (INTEGER, PK)", SCHEMA)


def judge_request() -> JudgeRequest:
    return JudgeRequest(QUESTION, TASK, RESULT.sql, ("n",), ((1234,),), 1)


def review_request(*doubts: str) -> ReviewRequest:
    preview = ((1234,),)
    return ReviewRequest(QUESTION, TASK, "sqlite", "Table: customers", SCHEMA, RESULT.sql, ("n",), preview, 1, doubts)


def summary_request(*doubts: str) -> SummaryRequest:
    return SummaryRequest(QUESTION, PLAN, (RESULT,), doubts)
