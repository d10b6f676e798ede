"""Dialects without an engine: SQL is written and checked against a structure, never executed, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.cli.exits import exit_code
from agent.cli.report import how_sure
from agent.config import Settings
from agent.parser.engine import read
from agent.runner import run
from agent.runtime.catalogue import resolve_database
from agent.sources.ddl import read_ddl
from agent.sources.structure import read_structure
from eval.databases.types import DatabaseError
from eval.engines import ENGINES
from eval.schema import WRITTEN_DIALECTS, Dialect, Schema
from eval.sql import check, parse, resolve
from eval.sql.dialects import render
from eval.sql.translation import written_in
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, rows, sections

DDL = """
CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name VARCHAR(40), city VARCHAR(40), age INTEGER);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (customer_id),
  order_date DATE, shipped_at TIMESTAMP, paid BOOLEAN, total DECIMAL(10, 2));
"""


@pytest.fixture
def structure(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sql"
    path.write_text(DDL)
    return path


def translated(statement: str, dialect: Dialect) -> str | None:
    """DuckDB's SQL in another dialect, where it can be written there."""
    tree = parse(statement, "duckdb").tree
    assert tree is not None
    written = written_in(tree, dialect, Schema(dialect, ORDERS))
    return None if written is None else render(written, dialect)


def settings(dialect: str) -> Settings:
    return Settings(_env_file=None, TEXT2SQL_DIALECT=dialect)


@pytest.mark.parametrize("dialect", WRITTEN_DIALECTS)
async def test_a_question_on_a_structure_is_written_checked_and_labelled(dialect: Dialect, structure: Path) -> None:
    config = settings(dialect)
    database = resolve_database(str(structure), config.database)
    answer = await run("Which 3 customers have the most orders?", database=database, model="offline", settings=config)
    assert answer.sql
    assert answer.rows == []
    assert (
        answer.answer == f"Written for {ENGINES[dialect].title} and checked against the given structure; not executed."
    )
    assert (answer.status, answer.doubts, answer.executed) == ("success", [], False)
    assert answer.verdict == "Not executed. About 8 in 10 such answers are right."
    assert answer.attempts[-1].verdict == "not executed, about 8 in 10 right"
    assert (how_sure(answer), exit_code(answer)) == (f"How sure: n{answer.verdict[1:]}", 0)
    parsed = parse(answer.sql, dialect)
    assert check(parsed, database.schema()).allowed
    assert not resolve(parsed, database.schema()).phantoms


def test_names_that_do_not_exist_are_found_without_an_engine(structure: Path) -> None:
    database = resolve_database(str(structure), settings("snowflake").database)
    refusal = database.refusal(ReadStatement("SELECT nam FROM customers", "snowflake"))
    assert refusal == "there is no column nam (nearest: name)"
    assert database.refusal(ReadStatement("SELECT name FROM other.customers", "snowflake"))
    assert database.refusal(ReadStatement("SELECT DATEADD(DAY, 1, order_date) FROM public.orders", "snowflake")) is None
    assert not database.execute(ReadStatement("SELECT 1", "snowflake")).ok


def test_the_tables_of_any_database_can_be_written_for() -> None:
    database = resolve_database("shop", settings("SQL Server").database)
    assert (database.dialect, database.executes) == ("tsql", False)
    assert database.schema().table("customers")
    with pytest.raises(DatabaseError, match="unknown SQL dialect 'cobol'"):
        resolve_database("shop", settings("cobol").database)


ORDERS = read_ddl(DDL, "duckdb")[1:]


@pytest.mark.parametrize(("dialect", "question", "sql"), rows("kinds/written_values.jsonl"))
def test_values_are_written_as_the_dialect_compares_them(dialect: Dialect, question: str, sql: str) -> None:
    assert read(question, Schema(dialect, ORDERS), dialect=dialect, threshold=0.0).guess == sql


@pytest.mark.parametrize("dialect", WRITTEN_DIALECTS)
@pytest.mark.parametrize("period", ["month", "quarter", "week", "weekday", "year"])
def test_periods_are_written_and_grouped_by_their_expression(dialect: Dialect, period: str) -> None:
    schema = Schema(dialect, ORDERS)
    sql = read(f"number of orders per {period}", schema, dialect=dialect, threshold=0.0).guess
    parsed = parse(sql, dialect)
    assert check(parsed, schema).allowed, sql
    assert not resolve(parsed, schema).phantoms, sql
    assert "%w" not in sql
    assert "WRITTEN" not in sql.upper()
    if dialect in ("tsql", "oracle", "trino"):  # which group by no alias
        assert f"GROUP BY {period}" not in " ".join(sql.split())


@pytest.mark.parametrize("dialect", WRITTEN_DIALECTS)
def test_no_function_is_written_that_the_target_lacks(dialect: Dialect) -> None:
    schema = Schema(dialect, ORDERS)
    statements = sections("kinds/written_functions.txt")
    for (statement,) in [*statements["typical"], *statements["lacking in some"]]:
        written = translated(statement, dialect)
        if written is None:
            assert (statement,) in statements["lacking in some"]
            continue
        parsed = parse(written, dialect)
        assert check(parsed, schema).allowed, parsed.text
        assert not resolve(parsed, schema).phantoms, parsed.text


@pytest.mark.parametrize(("dialect", "call"), rows("kinds/functions_not_there.jsonl"))
def test_a_function_that_the_manual_does_not_have_is_a_phantom(dialect: Dialect, call: str) -> None:
    parsed = parse(f"SELECT {call}(total, 1) FROM orders", dialect)
    assert [one.name for one in resolve(parsed, Schema(dialect, ORDERS)).phantoms] == [call.lower()]
    assert not check(parsed, Schema(dialect, ORDERS)).allowed


@pytest.mark.parametrize(("dialect", "days"), rows("kinds/written_days.jsonl"))
def test_days_between_dates_are_a_number(dialect: Dialect, days: str) -> None:
    between = "SELECT CAST(shipped_at AS DATE) - CAST(order_date AS DATE) FROM orders"
    assert translated(between, dialect) == f"SELECT {days} FROM orders"


VENDORS: dict[Dialect, dict[str, tuple[str, ...]]] = {
    "oracle": {"CUSTOMERS": ("ID", "CITY"), "orders": ("ID", "Total")},
    "tsql": {"Customers": ("Id", "City")},
}


@pytest.mark.parametrize(("dialect", "tables"), VENDORS.items())
def test_scripts_of_vendors_are_read(dialect: Dialect, tables: dict[str, tuple[str, ...]]) -> None:
    made = read_ddl((FIXTURES / f"imports/{dialect}.sql").read_text(encoding="utf-8"), dialect)
    assert {t.name: tuple(c.name for c in t.columns) for t in made} == tables
    assert made[0].primary_key == (made[0].columns[0].name,)


@pytest.mark.parametrize(("made", "dialect", "question", "sql"), sections("imports/vendors.txt")["names and formats"])
def test_names_and_formats_are_those_of_the_engine(made: str, dialect: Dialect, question: str, sql: str) -> None:
    assert sql in read(question, read_structure(made, dialect), threshold=0.0).sql
