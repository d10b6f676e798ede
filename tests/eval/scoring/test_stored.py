"""Constants are looked up in the database, and what is found there counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.databases.base import Database
from eval.databases.factory import open_database
from eval.examination import Query, examine
from eval.scoring import score
from tests.pairs import rows
from tests.writing import sqlite_file


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
