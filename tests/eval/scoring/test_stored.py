"""Constants are looked up in the database, and what is found there counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.databases.base import Database
from eval.databases.factory import open_database
from eval.examination import Query, examine
from eval.scoring import score
from tests.writing import sqlite_file


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("country = 'France'", ["exactly"]),
        ("country = 'france'", ["otherwise"]),
        ("name = 'France'", ["elsewhere"]),
        ("country = 'Atlantis'", ["nowhere"]),
        ("country IN ('France', 'FRANCE')", ["exactly", "otherwise"]),
        ("country = 'x'' OR ''1''=''1'", ["nowhere"]),
        ("customer_id > 1", []),
    ],
)
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


def test_a_constant_in_other_capitals_is_said_and_lowers_the_estimate(shop: Database) -> None:
    question = "What are the names of the customers in France?"
    right, wrong = (
        score(examine(Query(question, f"SELECT name FROM customers WHERE country = '{value}'"), shop))
        for value in ("France", "france")
    )
    assert any(e.name == "value_stored_otherwise" and e.weight < 0 for e in wrong.evidence)
    assert (wrong.probability or 0) < (right.probability or 0)
