"""Each of the seven dimensions tells a better query from a worse one, on every engine, through the one examination; and
what is looked up in the data: contents against a column's type, and values that a question names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.databases import Database, open_database
from eval.examination import Query, examine
from eval.scoring import Score, score
from eval.sql.types import Verdict
from eval.statement import ReadStatement
from tests.pairs import rows
from tests.writing import sqlite_file, url_on, write

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


def recorded(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that are sent to it from now on."""
    sent: list[str] = []
    execute = database.execute

    def record(statement: ReadStatement, **options: Any) -> Any:
        sent.append(statement.sql)
        return execute(statement, **options)

    monkeypatch.setattr(database, "execute", record)
    return sent


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
    sent = recorded(shop, monkeypatch)
    case = examine(Query(HOW_MANY, COUNT), shop)
    assert isinstance(case.verdict, Verdict)
    assert sum("COUNT(*)" in sql.upper() for sql in sent) == 1
    sent.clear()
    for sql in ("DROP TABLE customers", "SELECT nam FROM customers", "SELEC"):
        assert examine(Query(HOW_MANY, sql), shop).result is None
    assert sent == []


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


QUERY = Query("How many animals are from Peru?", "SELECT COUNT(*) FROM animals")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    script = "CREATE TABLE animals (id INTEGER PRIMARY KEY, origin TEXT);"
    return sqlite_file(tmp_path / "zoo.sqlite", script + "INSERT INTO animals (origin) VALUES ('Peru'), ('Chad')")


def test_the_texts_of_a_table_are_read_once(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_database(zoo) as database:
        sent = recorded(database, monkeypatch)
        found = [examine(QUERY, database).named for _ in range(3)]

    assert [[v.value for v in named] for named in found] == [["Peru"]] * 3
    assert len(sent) == 3 + 1


def test_changed_data_are_read_again(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.examination.stored_values.SECONDS", 0.0)
    with open_database(zoo) as database:
        assert examine(QUERY, database).named
        sqlite_file(zoo, "UPDATE animals SET origin = 'Mali' WHERE origin = 'Peru'")
        assert examine(QUERY, database).named == ()
