"""The same content on every engine and machine, pinned by a checksum; keys are inferred where an engine keeps none.
What holds in the demos: rules without violations, planted features, and golds with sensible answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlglot import exp

from eval.databases import open_database
from eval.schema import Dialect
from eval.tasks import DEMOS, Demo, demo_ids, demo_named
from eval.tasks.archive import TableDef, table_definitions, table_rows
from eval.tasks.load import LoadError, Progress, load
from experiments.demo_databases import generated
from experiments.demo_databases.canonical import checksum
from tests.jsonl import read_lines
from tests.optional import needs_chdb, needs_sail
from tests.pairs import FIXTURES, rows, sections
from tests.samples import sampled
from tests.writing import connected, rows_of, sqlite_file, url_on, write


def _read(demo: Demo, fetch: Callable[[str], Iterable[Sequence[object]]], dialect: str) -> str:
    def tables() -> Iterable[tuple[TableDef, Iterable[Sequence[object]]]]:
        for table in demo.tables:
            columns = [exp.column(column.name, quoted=True) for column in table.table.columns]
            query = exp.select(*columns).from_(exp.to_table(table.table.name))
            yield table, fetch(query.sql(dialect=dialect, identify=True))

    return checksum(tables())


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.id)
def test_the_shipped_rows_are_the_generated_ones(demo: Demo) -> None:
    assert checksum(generated(demo.id)) == demo.checksum


@pytest.mark.parametrize("demo", sampled(DEMOS, 2), ids=lambda demo: demo.id)
@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql"])
def test_an_engine_holds_them(demo: Demo, engine: Dialect, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Loading the large one takes a server long."""
    url = url_on(engine, request, tmp_path)
    demo.build(url)
    with closing(connected(url)) as connection, closing(connection.cursor()) as cursor:

        def fetch(sql: str) -> Iterable[Sequence[object]]:
            cursor.execute(sql)
            return cursor.fetchall()

        assert _read(demo, fetch, engine) == demo.checksum
    with open_database(url) as database:
        found = {t.name: (t.comment, [c.comment for c in t.columns]) for t in database.schema().tables}
    for table in demo.tables:
        assert found[table.name] == (table.table.comment, [c.comment for c in table.table.columns])


def test_a_table_that_is_there_already_is_not_touched(tmp_path: Path) -> None:
    script = "CREATE TABLE customers (note TEXT); INSERT INTO customers VALUES ('keep me')"
    target = sqlite_file(tmp_path / "mine.sqlite", script)
    with pytest.raises(LoadError, match="customers exists already"):
        demo_named("shop").build(str(target))
    with closing(sqlite3.connect(target)) as mine:
        assert mine.execute("SELECT * FROM customers").fetchall() == [("keep me",)]
        assert mine.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (1,)


def test_a_failed_mysql_load_leaves_nothing_behind(mysql_url: str) -> None:
    def break_off(step: Progress) -> None:
        if step.done == 4:
            raise KeyboardInterrupt

    place, _, name = mysql_url.rpartition("/")
    write(mysql_url, f"CREATE DATABASE {name}_b CHARACTER SET utf8mb4")
    with pytest.raises(KeyboardInterrupt):
        demo_named("shop").build(f"{place}/{name}_b", break_off)
    with closing(connected(f"{place}/{name}_b")) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == ()
        cursor.execute(f"DROP DATABASE {name}_b")


@pytest.mark.parametrize(("target", "message"), rows("tasks/no_targets.jsonl"))
def test_a_target_that_cannot_be_is_refused(target: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        demo_named("shop").build(target)


@pytest.fixture(params=[pytest.param("clickhouse", marks=needs_chdb), pytest.param("sail", marks=needs_sail)])
def url(request: pytest.FixtureRequest) -> str:
    place: str = request.getfixturevalue(f"{request.param}_url")
    return place


def test_the_shop_is_loaded_once_with_its_keys(url: str) -> None:
    tables = table_definitions("shop")
    counts = {table.name: len(found) for table, found in table_rows("shop")}
    load(table_rows("shop"), tables, url)
    with open_database(url) as database:
        schema = database.schema()
        assert {t.name: t.row_count for t in schema.tables} == counts
        declared = {(t.name, k.columns, k.ref_table) for t in tables for k in t.table.foreign_keys}
        inferred = {(t.name, k.columns, k.ref_table) for t in schema.tables for k in t.foreign_keys}
        assert len(inferred & declared) >= 0.9 * len(declared)
        assert inferred <= declared
        sql = "SELECT count(*), min(order_date), sum(CASE WHEN shipped_date IS NULL THEN 1 ELSE 0 END) FROM orders"
        number, first, unshipped = rows_of(database, sql)[0]
        assert (number, str(first)[:10]) == (counts["orders"], "2023-01-01")
        assert isinstance(unshipped, int)
        assert unshipped > 0
    with pytest.raises(LoadError, match="exists already"):
        load(table_rows("shop"), tables, url)


WRITTEN = {demo: sections(f"demo_rules_{demo}.txt") for demo in demo_ids()}


def each(section: str) -> pytest.MarkDecorator:
    """Demo, name and statement of each block of a section."""
    blocks = [(demo, name, "\n".join(sql)) for demo, found in WRITTEN.items() for name, *sql in found[section]]
    return pytest.mark.parametrize(("demo", "name", "sql"), blocks, ids=[f"{demo}: {name}" for demo, name, _ in blocks])


@pytest.fixture
def connection(demo: str, request: pytest.FixtureRequest) -> sqlite3.Connection:
    made: sqlite3.Connection = request.getfixturevalue(demo)
    return made


@each("rules")
def test_a_rule_holds(connection: sqlite3.Connection, name: str, sql: str) -> None:
    assert connection.execute(sql).fetchmany(5) == []


@each("planted")
def test_a_planted_feature_is_there(connection: sqlite3.Connection, name: str, sql: str) -> None:
    assert connection.execute(sql).fetchone() is not None


def _questions(demo_id: str) -> list[dict[str, str]]:
    return read_lines(FIXTURES / f"demo_questions_{demo_id}.jsonl")


_ALL = [(demo.id, question) for demo in DEMOS for question in _questions(demo.id)]


@pytest.mark.parametrize(("demo_id", "question"), _ALL, ids=[question["id"] for _, question in _ALL])
def test_gold_answers(demo_id: str, question: dict[str, str], request: pytest.FixtureRequest) -> None:
    connection: sqlite3.Connection = request.getfixturevalue(demo_id)
    rows = connection.execute(question["gold_sql"]).fetchall()
    assert rows
    assert any(cell is not None for row in rows for cell in row)
    if question["question"].startswith("How many") and "GROUP BY" not in question["gold_sql"]:
        assert len(rows) == 1
        assert len(rows[0]) == 1
        assert rows[0][0] > 0


@pytest.mark.parametrize(("demo_id", "question", "answer"), rows("tasks/known_answers.jsonl"))
def test_known_answers(demo_id: str, question: str, answer: list[list[object]], request: pytest.FixtureRequest) -> None:
    gold = next(q["gold_sql"] for q in _questions(demo_id) if q["question"] == question)
    assert request.getfixturevalue(demo_id).execute(gold).fetchall() == [tuple(row) for row in answer]
