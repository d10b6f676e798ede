"""What newcomers type: states in other words, roles of keys, events counted, amounts of people."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from agent.knowledge.values import value_index
from agent.models.protocol import SummaryRequest
from agent.parser import Reading, read
from agent.parser.confidence import CAP
from agent.parser.execution_probe import looker
from agent.parser.summary import summary_text
from agent.runtime.probability import STATED_DOUBT
from agent.state import QueryPlan, QueryResult, QueryTask
from eval.databases import Database, open_database
from eval.sql import check, parse

TODAY = dt.date(2024, 6, 15)
FERRIES = """
CREATE TABLE dim_skipper (
    skipper_key INTEGER PRIMARY KEY, fullName TEXT, hiredOn TEXT, leftOn TEXT,
    home_port_key INTEGER REFERENCES dim_port);
CREATE TABLE dim_port (
    port_key INTEGER PRIMARY KEY, port_name TEXT, town TEXT, manager_skipper_key INTEGER REFERENCES dim_skipper);
CREATE TABLE dim_boat (boat_key INTEGER PRIMARY KEY, boat_code TEXT, in_service TEXT, has_lift INTEGER);
CREATE TABLE fct_trip (
    trip_key INTEGER PRIMARY KEY, boat_key INTEGER REFERENCES dim_boat, skipper_key INTEGER REFERENCES dim_skipper,
    tripDate TEXT, planned_dt TEXT, status_cd TEXT, pay_method TEXT, hours REAL, refunded_amt REAL);
INSERT INTO dim_port VALUES (1, 'East Pier', 'Dover', 2), (2, 'West Pier', 'Calais', 1);
INSERT INTO dim_skipper VALUES
    (1, 'Ada Lind', '2015-01-01', NULL, 1), (2, 'Bo Haas', '2018-01-01', '2024-02-01', 1),
    (3, 'Cy Roth', '2020-01-01', NULL, 2);
INSERT INTO dim_boat VALUES (1, 'B-7', 'Y', 1), (2, 'B-9', 'N', 0), (3, 'B-11', 'Y', 0);
INSERT INTO fct_trip VALUES
    (1, 1, 1, '2024-01-03', '2024-01-02', 'DEP', 'bankTransfer', 5.0, 0), (2, 1, 1, '2024-02-03', '2024-02-03', 'CAN',
    'cash', 4.0, 20.0), (3, 1, 3, '2024-03-03', '2024-03-03', 'DEP', 'no_show', 7.0, 5.0),
    (4, 2, 3, '2023-03-03', '2023-03-04', 'CAN', 'cash', 1.0, 7.0);
"""


@pytest.fixture(scope="module")
def ferries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("ferries") / "ferries.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(FERRIES)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture
def reading(ferries: Database) -> Callable[[str], Reading]:
    def _read(question: str) -> Reading:
        schema = ferries.schema()
        return read(question, schema, value_index(ferries, schema), today=TODAY, look=looker(ferries), threshold=0.0)

    return _read


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who runs the Dover port", [("Bo Haas",)]),
        ("former skippers", [("Bo Haas",)]),
        ("boats out of service", [("B-9",)]),
        ("which boats have a lift", [("B-7",)]),
        ("how often was boat B-7 used in 2024", [(3,)]),
        ("how many cancelled trips", [(2,)]),
        ("trips paid by bank transfer", [(1,)]),
        ("how many no shows", [(1,)]),
        ("total refunded in 2024", [(25.0,)]),
        ("trips planned before 2024", [(4,)]),
        ("who worked the most hours", [("Ada Lind",)]),
        ("hours worked in 2024", [(16.0,)]),
        ("total hours sailed by boat", [("B-7", 16.0), ("B-9", 1.0)]),
        ("skippers who quit in 2024", [("Bo Haas",)]),
    ],
)
def test_reads_as_a_newcomer_means_it(
    ferries: Database, reading: Callable[[str], Reading], question: str, expected: list[tuple[object, ...]]
) -> None:
    statement = check(parse(reading(question).sql, "sqlite")).statement
    assert statement is not None
    assert list(ferries.execute(statement).rows) == expected


@pytest.mark.parametrize("question", ["insured boats", "how many haunted boats do we have"])
def test_all_rows_are_no_answer_when_a_word_is_left_out(reading: Callable[[str], Reading], question: str) -> None:
    assert reading(question).confidence <= CAP


@pytest.mark.parametrize("question", ["who is in Dover", "who uses boat B-7"])
def test_a_thing_is_no_sure_answer_to_who(reading: Callable[[str], Reading], question: str) -> None:
    assert reading(question).confidence < STATED_DOUBT


@pytest.mark.parametrize(
    "question", ["insured trips per skipper", "which boat is the prettiest", "trips with a film crew", "shanties"]
)
def test_offers_questions_that_it_answers_itself(ferries: Database, question: str) -> None:
    schema = ferries.schema()
    values, look = value_index(ferries, schema), looker(ferries)
    offered = read(question, schema, values, today=TODAY, look=look, threshold=0.9).alternatives
    assert offered
    for other in offered:
        again = read(other, schema, values, today=TODAY, look=look)
        assert again.confidence >= STATED_DOUBT
        assert (bool(again.sql), again.not_understood) == (True, ())


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
