"""A scripted OpenAI-compatible server, a model that speaks to it, and one request of each kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

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
from agent.models.retry_policy import RetryPolicy
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

MakeModel = Callable[..., OpenAIModel]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    forget()
    with OpenAIServer() as running:
        yield running
    forget()


@pytest.fixture
async def model_at(server: OpenAIServer) -> AsyncIterator[MakeModel]:
    """Makes models for the server, with waits short enough for a test; closes them."""
    made: list[OpenAIModel] = []

    def make(retry: RetryPolicy | None = None, **settings: Any) -> OpenAIModel:
        given = {"model": "m", "api_key": KEY, "base_url": server.url, "seconds": 60.0, **settings}
        made.append(OpenAIModel(Endpoint(**given), retry=retry or RetryPolicy(first_wait=0.01, longest_wait=0.05)))
        return made[-1]

    yield make
    for model in made:
        await model.close()


async def timed_out(
    server: OpenAIServer, model_at: MakeModel, call: Callable[[OpenAIModel], Awaitable[object]]
) -> None:
    """A call that waits in vain is given up, and its connection is closed. On a busy machine the first limit
    may pass before the request has left: then a longer one is tried."""
    for seconds in (0.4, 4.0, 40.0):
        server.script()
        with pytest.raises(ModelTimeout) as failed:
            await call(model_at(seconds=seconds))
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
