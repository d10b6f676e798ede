"""The summary of any rows: no value, and no missing one, breaks the answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.protocol import SummaryRequest
from agent.parser.summary import summary_text
from agent.state import QueryPlan, QueryResult, QueryTask

_CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("2024-01")
_SQL = (
    "SELECT name, price FROM items",
    "SELECT name, price FROM items ORDER BY price DESC",
    "SELECT name, COUNT(*) AS n FROM items GROUP BY name ORDER BY n DESC LIMIT 5",
)
_QUESTIONS = ("items by price", "is there any item", "who has the most items", "how many items per month")


def _summary(question: str, sql: str, columns: list[str], rows: list[list[object]]) -> str:
    result = QueryResult(
        task_id="1", attempt=1, sql=sql, data=rows, columns=columns, rows_returned=len(rows), status="success"
    )
    plan = QueryPlan(plan_type="single", confidence=0.9, tasks=[QueryTask(id="1", description=question)])
    return summary_text(SummaryRequest(question, plan, (result,)))


@pytest.mark.parametrize("sql", _SQL)
def test_a_missing_figure_after_many_rows_is_no_figure(sql: str) -> None:
    rows: list[list[object]] = [[f"item {k}", 100.0 - k] for k in range(60)]
    assert "60 rows" in _summary("items by price", sql, ["name", "price"], [*rows[:-1], ["item 59", None]])


@given(st.data(), st.sampled_from(_QUESTIONS), st.sampled_from(_SQL), st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_any_rows_can_be_summarized(data: st.DataObject, question: str, sql: str, width: int) -> None:
    names = st.sampled_from(["name", "month", "price", "n", "growth_percent", "is_active", "hour_of_day", "weekday"])
    columns = data.draw(st.lists(names, min_size=width, max_size=width, unique=True))
    drawn = data.draw(st.lists(st.lists(_CELLS, min_size=width, max_size=width), max_size=70))
    rows: list[list[object]] = [[*row] for row in drawn]
    assert _summary(question, sql, columns, rows)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many concerts occurred in 2014?", "**6** concerts occurred in 2014."),
        ("How many concerts in 2014?", "There are **6** concerts in 2014."),
        ("how many paid in May", "The answer is **6**."),
        ("how many paid members", "There are **6** paid members."),
        ("How many students are enrolled?", "**6** students are enrolled."),
    ],
)
def test_a_count_is_told_in_a_sentence(question: str, told: str) -> None:
    assert _summary(question, "SELECT COUNT(*) AS n FROM concerts", ["n"], [[6]]) == told


@pytest.mark.parametrize(
    ("question", "value", "said"),
    [
        ("how many trucks are out of service", 12, "**12** trucks are out of service."),
        ("how many pupils left this year", 19, "**19** pupils left this year."),
        ("how many quotes did we win", 328, "**328** quotes."),
        ("how many premium members from France", 3, "There are **3** premium members from France."),
        ("is Ben Lopez still active?", 0, "**No**."),
    ],
)
def test_a_number_is_told_as_a_sentence(question: str, value: int, said: str) -> None:
    result = QueryResult(
        task_id="task_1", attempt=1, sql="SELECT 1", data=[[value]], columns=["is_n"], rows_returned=1, status="success"
    )
    plan = QueryPlan(plan_type="single", confidence=0.9, tasks=[QueryTask(id="task_1", description=question)])
    assert summary_text(SummaryRequest(question, plan, (result,))) == said
