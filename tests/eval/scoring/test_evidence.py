"""What is read off a question, looked up in the database and told by a second reading, and what the guards advise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import SecondOpinion, score
from eval.scoring.evidence.features import advice
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.evidence.results import observe_agreement
from eval.scoring.intent import read_intent
from tests.pairs import rows
from tests.writing import sqlite_file


@pytest.mark.parametrize(("question", "expected"), rows("scoring/intent.jsonl"))
def test_intent(question: str, expected: list[str]) -> None:
    intent = read_intent(question)
    for name in expected:
        assert getattr(intent, name), name


@pytest.mark.parametrize(("question", "ordered"), rows("scoring/an_order_that_customers_place_is.jsonl"))
def test_an_order_that_customers_place_is_no_order_of_rows(question: str, ordered: bool) -> None:
    assert read_intent(question).order is ordered


def test_top_k_numbers_and_quotes() -> None:
    intent = read_intent("Show the top 3 products called 'Lamp' that cost over $1,200.50 or 2 million")
    assert intent.top == 3
    assert intent.quoted == ("Lamp",)
    assert intent.numbers == (3.0, 1200.5, 2e6)
    assert read_intent("Which airlines have at least 10 flights?").top is None
    assert read_intent("Which product has the most 5 star reviews?").top != 5
    assert not read_intent("What is the last name of the student?").superlative


@pytest.mark.parametrize(("where", "found"), rows("scoring/where_a_constant_is_stored.jsonl"))
def test_where_a_constant_is_stored(shop: Database, where: str, found: list[str]) -> None:
    case = examine(Query("Which customers are in France?", f"SELECT name FROM customers WHERE {where}"), shop)
    assert [s.found for s in case.stored] == found


def test_a_text_that_is_stored_between_spaces_is_said(tmp_path: Path) -> None:
    airports = "CREATE TABLE airports (code TEXT, city TEXT); INSERT INTO airports VALUES ('OSL', ' Oslo ')"
    path = sqlite_file(tmp_path / "airports.sqlite", airports)
    with open_database(path) as database:
        case = examine(Query("What is the code of Oslo?", "SELECT code FROM airports WHERE city = 'Oslo'"), database)
    assert [s.found for s in case.stored] == ["padded"]
    texts = {e.name: e.text for e in score(case).evidence}
    assert texts["value_stored_padded"] == "city holds “Oslo” only with spaces around it."


def _seen(database: Database, sql: str, read: str) -> set[str]:
    reading = examine(Query("", read), database)
    opinion = SecondOpinion(read, reading.facts, reading.result, confidence=0.8)
    case = dataclasses.replace(examine(Query("Which customers are in France?", sql), database), second_opinion=opinion)
    return {o.name for o in observe_agreement(Reading(case))}


@pytest.mark.parametrize(("sql", "read", "names"), rows("scoring/second_readings.jsonl"))
def test_the_rows_of_a_second_reading(shop: Database, sql: str, read: str, names: list[str]) -> None:
    assert _seen(shop, sql, read) == set(names)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Database]:
    script = "CREATE TABLE ships (id INTEGER PRIMARY KEY, name TEXT, tons REAL, flag TEXT);"
    script += "INSERT INTO ships (name, tons, flag) VALUES ('Ida', 4, 'FI'), ('Bo', 9, 'SE')"
    with open_database(sqlite_file(tmp_path / "fleet.sqlite", script)) as database:
        yield database


@pytest.mark.parametrize(("guard", "question", "sql"), rows("scoring/each_guard_speaks.jsonl"))
def test_each_guard_speaks(fleet: Database, guard: str, question: str, sql: str) -> None:
    advised = advice(examine(Query(question, sql), fleet))

    assert guard in {one.guard for one in advised}
    assert all(one.text.endswith(".") for one in advised)


def test_the_guards_are_content_with_what_is_asked_for(fleet: Database) -> None:
    assert advice(examine(Query("How many ships are there?", "SELECT COUNT(*) FROM ships"), fleet)) == ()
    assert advice(examine(Query("anything", "not sql at all"), fleet)) == ()
