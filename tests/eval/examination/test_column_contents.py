"""What a column holds against its type is told where a query orders or computes by it, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eval.databases import Database, open_database
from eval.examination import Query, examine
from tests.pairs import rows
from tests.writing import sqlite_file

MADE = """
CREATE TABLE product (name TEXT, price TEXT, code TEXT, sold TEXT, stock INTEGER, clean INTEGER,
  cost TEXT, kg TEXT);
INSERT INTO product VALUES ('pen', '9.50', '0012', '31/01/2024', 5, 1, '$2.00', '8'),
  ('desk', '120.00', '0120', '02/03/2024', 'n/a', 2, '$110.00', 'n/a'),
  ('box', '1250.00', '1200', '15/12/2023', 250, 3, '$20.00', '60');
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path_factory.mktemp("contents") / "a.sqlite", MADE)) as opened:
        yield opened


@pytest.mark.parametrize(("sql", "told"), rows("examination/what_is_told.jsonl"))
def test_what_is_told(database: Database, sql: str, told: str) -> None:
    contents = examine(Query("?", sql), database).contents
    assert bool(contents) == bool(told)
    assert told in "; ".join(contents)
