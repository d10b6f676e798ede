"""The summary of any rows: no value, and no missing one, breaks the answer; and the engine as a model that judges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.protocol import JudgeRequest, PlanRequest, SummaryRequest
from agent.parser import OfflineModel
from agent.parser.summary import summary_text
from agent.state import QueryPlan, QueryResult, QueryTask
from eval.databases import Database
from eval.databases.scratch import scratch_database
from eval.schema import Schema
from tests.pairs import rows

_CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("2024-01")
_SQL = (
    "SELECT name, price FROM items",
    "SELECT name, price FROM items ORDER BY price DESC",
    "SELECT name, COUNT(*) AS n FROM items GROUP BY name ORDER BY n DESC LIMIT 5",
)
_QUESTIONS = ("items by price", "is there any item", "who has the most items", "how many items per month")


def _result(sql: str, columns: list[str], rows: list[list[object]]) -> QueryResult:
    return QueryResult(
        task_id="1", attempt=1, sql=sql, data=rows, columns=columns, rows_returned=len(rows), status="success"
    )


def _plan(task: QueryTask) -> QueryPlan:
    return QueryPlan(plan_type="single", confidence=0.9, tasks=[task])


def _summary(question: str, sql: str, columns: list[str], rows: list[list[object]]) -> str:
    plan = _plan(QueryTask(id="1", description=question))
    return summary_text(SummaryRequest(question, plan, (_result(sql, columns, rows),)))


@pytest.mark.parametrize("sql", _SQL)
def test_a_missing_figure_after_many_rows_is_no_figure(sql: str) -> None:
    many: list[list[object]] = [[f"item {k}", 100.0 - k] for k in range(60)]
    assert "60 rows" in _summary("items by price", sql, ["name", "price"], [*many[:-1], ["item 59", None]])


@given(st.data(), st.sampled_from(_QUESTIONS), st.sampled_from(_SQL), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_any_rows_can_be_summarized(data: st.DataObject, question: str, sql: str, width: int) -> None:
    names = st.sampled_from(["name", "month", "price", "n", "growth_percent", "is_active", "hour_of_day", "weekday"])
    columns = data.draw(st.lists(names, min_size=width, max_size=width, unique=True))
    drawn = data.draw(st.lists(st.lists(_CELLS, min_size=width, max_size=width), max_size=70))
    rows: list[list[object]] = [[*row] for row in drawn]
    assert _summary(question, sql, columns, rows)


@pytest.mark.parametrize(("question", "column", "value", "told"), rows("parser/told_numbers.jsonl"))
def test_a_number_is_told_as_a_sentence(question: str, column: str, value: int, told: str) -> None:
    assert _summary(question, f"SELECT COUNT(*) AS {column} FROM concerts", [column], [[value]]) == told


def test_growth_is_told_by_its_last_and_its_highest_value() -> None:
    drawn: list[list[object]] = [["2024-01", 100.0, None], ["2024-02", 150.0, 50.0], ["2024-03", 165.0, 10.0]]
    columns = ["month", "amount", "growth_percent"]
    assert _summary("revenue growth by month", "SELECT 1", columns, drawn) == (
        "2 rows from 2024-02 (50 %) to 2024-03 (10 %); the highest growth: **50 %** in 2024-02."
    )


TASK = QueryTask(id="task_1", description="How many books are there?")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


async def test_an_empty_copy_of_a_database_does_not_make_a_reading_doubtful(library: Database, schema: Schema) -> None:
    with scratch_database(schema, "copy") as copy:
        request = PlanRequest("Show the titles of all books.", "sqlite", "", copy.schema())
        plan = (await OfflineModel(copy).plan(request)).plan
    there = PlanRequest("Show the titles of all books.", "sqlite", "", schema)
    assert plan.confidence >= (await OfflineModel(library).plan(there)).plan.confidence - 0.05


@pytest.mark.parametrize(("question", "column", "found", "highest"), rows("parser/judged.jsonl"))
async def test_never_judges_above_neutral(
    library: Database, question: str, column: str, found: list[list[object]], highest: float
) -> None:
    request = JudgeRequest(question, TASK, "SELECT 1", (column,), tuple(map(tuple, found)), len(found))
    judgement = await OfflineModel(library).judge(request)
    assert 0.0 <= judgement.score <= highest
    assert judgement.reasoning


async def test_tells_the_first_of_several_rows_states_doubts_and_escapes_markdown(library: Database) -> None:
    found = [["*Rivers* | <b>", 2], ["Small Hours", 1]]
    result = _result("SELECT COUNT(*) FROM book", ["title", "n"], found)
    request = SummaryRequest(TASK.description, _plan(TASK), (result,), ("The score is low.",))
    text = (await OfflineModel(library).summarize(request)).text
    assert "There are 2 rows" in text
    assert "**\\*Rivers\\* \\| \\<b\\>** has the highest n: **2**; Small Hours the lowest: 1." in text
    assert "> Doubt: The score is low." in text
