"""The engine behind the model protocol: plan, SQL, verdict and answer."""

from __future__ import annotations

import pytest

from agent.models.protocol import JudgeRequest, Model, PlanRequest, SqlRequest, SummaryRequest
from agent.parser import OfflineModel
from agent.state import QueryPlan, QueryResult, QueryTask
from eval.databases import Database
from eval.databases.scratch import scratch_database
from eval.schema import Schema

QUESTION = "How many books are there?"
TASK = QueryTask(id="task_1", description=QUESTION)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


def _judge(question: str, columns: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> JudgeRequest:
    return JudgeRequest(question, TASK, "SELECT 1", columns, rows, len(rows))


def _result(question: str = QUESTION, **changes: object) -> SummaryRequest:
    result = QueryResult(
        task_id="task_1", attempt=1, sql="SELECT COUNT(*) FROM book", data=[[3]], columns=["n"], rows_returned=1,
        status="success", reasoning="book, number of book rows",
    ).model_copy(update=changes)  # fmt: skip
    return SummaryRequest(question, QueryPlan(plan_type="single", confidence=0.9, tasks=[TASK]), (result,))


async def test_plans_and_writes_the_same_query(library: Database, schema: Schema) -> None:
    model = OfflineModel(library)
    assert isinstance(model, Model)
    assert (model.name, model.capabilities.remote) == ("offline", False)
    plan = (await model.plan(PlanRequest(QUESTION, "sqlite", "", schema))).plan
    assert plan.plan_type == "single"
    assert [t.sql for t in plan.tasks] == ["SELECT COUNT(*) AS books FROM book"]
    assert plan.confidence > 0.5
    reply = await model.write_sql(SqlRequest(QUESTION, plan.tasks[0], "sqlite", "", schema))
    assert reply.sql == "SELECT COUNT(*) AS books FROM book"
    assert reply.reasoning == "the number of rows (called books) of book"
    assert not reply.abstained
    assert reply.usage.calls == 0


async def test_an_empty_copy_of_a_database_does_not_make_a_reading_doubtful(library: Database, schema: Schema) -> None:
    with scratch_database(schema, "copy") as copy:
        request = PlanRequest("Show the titles of all books.", "sqlite", "", copy.schema())
        plan = (await OfflineModel(copy).plan(request)).plan
    there = PlanRequest("Show the titles of all books.", "sqlite", "", schema)
    assert plan.confidence >= (await OfflineModel(library).plan(there)).plan.confidence - 0.05


async def test_abstains_with_a_reason(library: Database, schema: Schema) -> None:
    model = OfflineModel(library)
    question = "What is the weather in Leeds?"
    plan = (await model.plan(PlanRequest(question, "sqlite", "", schema))).plan
    assert plan.confidence == 0.0
    task = QueryTask(id="task_1", description=question)
    reply = await model.write_sql(SqlRequest(question, task, "sqlite", "", schema))
    assert reply.abstained
    assert reply.sql == ""
    assert reply.not_understood == ("weather",)
    assert "weather" in reply.reasoning


@pytest.mark.parametrize(
    ("question", "columns", "rows", "highest"),
    [
        (QUESTION, ("n",), ((3,),), 0.5),
        (QUESTION, ("n",), ((3,), (4,)), 0.4),
        (QUESTION, ("title",), (("Rivers",),), 0.4),
        (QUESTION, ("n",), ((None,),), 0.3),
        ("List the books", ("title",), (), 0.4),
    ],
)
async def test_never_judges_above_neutral(
    library: Database, question: str, columns: tuple[str, ...], rows: tuple[tuple[object, ...], ...], highest: float
) -> None:
    judgement = await OfflineModel(library).judge(_judge(question, columns, rows))
    assert 0.0 <= judgement.score <= highest
    assert judgement.reasoning


async def test_answers_in_a_sentence_with_the_row_s_own_number(library: Database) -> None:
    pieces: list[str] = []
    summary = await OfflineModel(library).summarize(_result(data=[[1234567.5]]), pieces.append)
    assert summary.text.startswith("There are **1,234,567.5** ")
    assert "".join(pieces) == summary.text


async def test_tells_the_first_of_several_rows_states_doubts_and_escapes_markdown(library: Database) -> None:
    request = _result(columns=["title", "n"], data=[["*Rivers* | <b>", 2], ["Small Hours", 1]], rows_returned=2)
    request = SummaryRequest(request.question, request.plan, request.results, ("The score is low.",))
    text = (await OfflineModel(library).summarize(request)).text
    assert "There are 2 rows" in text
    assert "**\\*Rivers\\* \\| \\<b\\>** has the highest n: **2**; Small Hours the lowest: 1." in text
    assert "> Doubt: The score is low." in text
