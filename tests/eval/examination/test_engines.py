"""Each of the seven dimensions tells a better query from a worse one, on every engine, through the one examination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from eval.databases import Database, open_database
from eval.examination import Query, examine
from eval.scoring import Score, score
from eval.sql.types import Verdict
from eval.statement import ReadStatement
from tests.pairs import rows
from tests.writing import url_on, write

ROWS = 12_000
"""Of the large table: more than the 10,000 from which a full scan is charged."""
TABLES = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, status VARCHAR(20), total INTEGER)",
    "INSERT INTO customers VALUES (1, 'Ada', 'Lyon'), (2, 'Bo', 'Porto'), (3, 'Cy', 'Lyon')",
)
ORDERS = [(i, i % 3 + 1, "open" if i % 4 else "shipped", i % 90) for i in range(ROWS)]


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    url = url_on(request.param, request, tmp_path_factory.mktemp("shop"))
    analyse = {"postgres": ["ANALYZE"], "mysql": ["ANALYZE TABLE customers, orders"]}
    write(url, *TABLES, f"INSERT INTO orders VALUES {', '.join(map(str, ORDERS))}", *analyse.get(request.param, []))
    with open_database(url) as opened:
        yield opened


HOW_MANY = "How many customers live in Lyon?"
COUNT = "SELECT COUNT(*) FROM customers WHERE city = 'Lyon'"
NAMES = "SELECT name FROM customers WHERE city = 'Lyon'"
WHICH = "What are the names of the customers?"

PAIRS = {
    "correctness": (Query(HOW_MANY, COUNT), Query(HOW_MANY, NAMES)),
    "safety": (Query(HOW_MANY, COUNT), Query(HOW_MANY, "DELETE FROM customers")),
    "efficiency": (
        Query("What is the total of order 7?", "SELECT total FROM orders WHERE id = 7"),
        Query("What is the total of order 7?", "SELECT total FROM orders WHERE total = 7"),
    ),
    "completeness": (Query(WHICH, "SELECT name FROM customers"), Query(WHICH, "SELECT name FROM customers LIMIT 0")),
    "semantic_accuracy": (Query(HOW_MANY, COUNT), Query(HOW_MANY, NAMES)),
    "best_practices": (Query(WHICH, "SELECT name FROM customers"), Query(WHICH, "SELECT * FROM customers")),
    "plan_quality": (Query(HOW_MANY, COUNT, plan_confidence=0.9), Query(HOW_MANY, COUNT, plan_confidence=0.1)),
}


def scored(query: Query, database: Database) -> Score:
    return score(examine(query, database))


@pytest.mark.parametrize("dimension", PAIRS)
def test_a_dimension_is_lower_for_the_worse_query(shop: Database, dimension: str) -> None:
    better, worse = (scored(query, shop) for query in PAIRS[dimension])
    assert better.dimensions[dimension] > worse.dimensions[dimension]


@pytest.mark.parametrize(("sql", "scans"), rows("examination/full_scans_of_large_tables_are.jsonl"))
def test_full_scans_are_named_as_the_schema_names_tables(shop: Database, sql: str, scans: list[str]) -> None:
    case = examine(Query("", sql), shop)
    assert case.ran
    assert [scan.table for scan in case.full_scans] == scans
    assert all(scan.rows >= 10_000 for scan in case.full_scans)


def test_an_engine_is_asked_for_plans_of_large_tables_only(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[str] = []
    monkeypatch.setattr(shop, "plan_lines", lambda statement: explained.append(statement.sql) or ())
    examine(Query(HOW_MANY, COUNT), shop)
    assert explained == []
    examine(Query("", "SELECT COUNT(*) FROM orders WHERE status = 'open'"), shop)
    assert len(explained) == 1


def test_a_statement_is_sent_once_and_a_refused_one_never(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    execute = shop.execute

    def recorded(statement: ReadStatement, **more: Any) -> Any:
        sent.append(statement.sql)
        return execute(statement, **more)

    monkeypatch.setattr(shop, "execute", recorded)
    case = examine(Query(HOW_MANY, COUNT), shop)
    assert isinstance(case.verdict, Verdict)
    assert sum("COUNT(*)" in sql.upper() for sql in sent) == 1
    sent.clear()
    for sql in ("DROP TABLE customers", "SELECT nam FROM customers", "SELEC"):
        assert examine(Query(HOW_MANY, sql), shop).result is None
    assert sent == []
