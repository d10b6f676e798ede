"""What a column holds against its type is told where a query orders or computes by it, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eval.databases import Database, open_database
from eval.examination import Query, examine
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


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT name FROM product ORDER BY price DESC LIMIT 1", "“price” is kept as text"),
        ("SELECT MAX(price) FROM product", "9.50 comes behind 1250.00"),
        ("SELECT name FROM product WHERE price > '50'", "“price” is kept as text"),
        ("SELECT name FROM product WHERE price BETWEEN '1' AND '9'", "“price” is kept as text"),
        ("SELECT MAX(sold) FROM product", "“sold” holds dates as text"),
        ("SELECT MAX(stock) FROM product", "“stock” holds texts among its values ('n/a')"),
        ("SELECT AVG(stock) FROM product", "“stock” holds texts among its values"),
        ("SELECT MAX(CAST(price AS REAL)) FROM product", ""),
        ("SELECT name FROM product ORDER BY price + 0", ""),
        ("SELECT AVG(CAST(cost AS REAL)) FROM product", "“cost” holds '$"),
        ("SELECT SUM(cost) FROM product", "among its figures, which is read as another number"),
        ("SELECT SUM(price) FROM product", ""),
        ("SELECT MAX(kg) FROM product", "“kg” is kept as text: 'n/a' among its figures"),
        ("SELECT name FROM product ORDER BY CAST(kg AS REAL)", "“kg” holds 'n/a'"),
        ("SELECT name FROM product ORDER BY CAST(NULLIF(kg, 'n/a') AS REAL)", ""),
        ("SELECT name, price FROM product", ""),
        ("SELECT COUNT(price) FROM product", ""),
        ("SELECT name FROM product WHERE price = '9.50'", ""),
        ("SELECT name FROM product ORDER BY code", ""),
        ("SELECT name FROM product ORDER BY name", ""),
        ("SELECT SUM(clean) FROM product ORDER BY 1", ""),
    ],
)
def test_what_is_told(database: Database, sql: str, told: str) -> None:
    contents = examine(Query("?", sql), database).contents
    assert bool(contents) == bool(told)
    assert told in "; ".join(contents)
