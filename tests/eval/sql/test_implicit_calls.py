"""PostgreSQL calls functions after a dot: none of these statements reaches one, and columns still work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eval.databases import Database, open_database
from eval.schema import DIALECTS, Column, Dialect, Schema, Table
from eval.sql import check, parse
from eval.tasks.load import mysql_arguments
from tests.pairs import sections
from tests.writing import write

FIELDS = ("run_report", "public.run_report", "pg_sleep", "current_setting", "regrole", '"run_report"')
CALLS = {name: blocks[0] for name, blocks in sections("guard/implicit_calls.txt").items()}
HOSTILE = (
    *(f"SELECT ({value}).{field} FROM customers c" for value in CALLS["postgres: values"] for field in FIELDS),
    *CALLS["postgres: of whole rows"],
)
OTHER_DIALECTS: dict[Dialect, tuple[str, ...]] = {
    "duckdb": (
        *CALLS["duckdb"],
        *(
            f"SELECT {value}.{call} FROM customers"
            for value in ("'HOME'", "name", "customers.name", "(SELECT 'HOME')", "['HOME'][1]", "{'a': 'HOME'}.a",
                          "lower(name)")
            for call in ("getenv()", '"getenv"()', "read_text()", "mymacro()", "lower().getenv()")
        ),
    ),
    "mysql": CALLS["mysql"],
    "sqlite": CALLS["sqlite"],
}  # fmt: skip


READS = "RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT token FROM secrets'"


@pytest.fixture(scope="module")
def database(postgres_url: str) -> Iterator[Database]:
    """A table, and a SECURITY DEFINER function for values and rows that reads a table which nobody else should."""
    script = ["CREATE TABLE customers (id int PRIMARY KEY, name text)", "INSERT INTO customers VALUES (1, 'Ann')"]
    script += ["CREATE TABLE secrets (token text)", "INSERT INTO secrets VALUES ('hush')"]
    script += [f"CREATE FUNCTION {name}(text) {READS}" for name in ('"Initcap"', '"coalesce"')]
    arguments = ("text", "int", "customers", "anyelement")
    write(postgres_url, *script, *(f"CREATE FUNCTION run_report({argument}) {READS}" for argument in arguments))
    with open_database(postgres_url) as opened:
        yield opened


def test_the_engine_does_call_functions_after_a_dot(database: Database, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as connection:
        for sql in (
            "SELECT ('x'::text).run_report",
            "SELECT c.run_report FROM customers c",
            "SELECT \"Initcap\"('x'::text)",
            "SELECT \"coalesce\"('x'::text)",
        ):
            assert connection.execute(sql).fetchall() == [("hush",)]


def test_no_call_after_a_dot_passes(database: Database) -> None:
    assert len(HOSTILE) > 101
    passed = [sql for sql in HOSTILE if check(parse(sql, "postgres"), database.schema()).allowed]
    assert passed == []


def test_no_call_of_a_quoted_name_passes(database: Database) -> None:
    """In quotes, the name of a built-in function may be that of a user's."""
    for dialect in DIALECTS:
        for name in ("Initcap", "coalesce", "now"):
            quoted = f'"{name}"' if dialect in ("sqlite", "postgres", "duckdb", "clickhouse") else f"`{name}`"
            verdict = check(parse(f"SELECT {quoted}('x')", dialect), database.schema())
            assert not verdict.allowed, (dialect, name)
    for sql in ("SELECT lower('x')", "SELECT COALESCE('x', 'y')", "SELECT pg_catalog.lower('x')"):
        assert check(parse(sql, "postgres"), database.schema()).allowed


def test_mysql_calls_a_stored_function_by_a_quoted_name(mysql_url: str) -> None:
    pymysql = pytest.importorskip("pymysql")
    write(mysql_url, "CREATE FUNCTION `now`() RETURNS INT RETURN 42")
    with pymysql.connect(**mysql_arguments(mysql_url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT `now`()")
        assert cursor.fetchall() == ((42,),)
    assert not check(parse("SELECT `now`()", "mysql")).allowed
    assert check(parse("SELECT now()", "mysql")).allowed


@pytest.mark.parametrize("dialect", OTHER_DIALECTS)
def test_no_call_after_a_dot_or_by_name_passes_in_other_dialects(dialect: Dialect) -> None:
    passed = [sql for sql in OTHER_DIALECTS[dialect] if check(parse(sql, dialect)).allowed]
    assert passed == []


def test_columns_pass_and_run(database: Database) -> None:
    for sql in CALLS["postgres: harmless"]:
        verdict = check(parse(sql, "postgres"), database.schema())
        assert verdict.statement is not None, (sql, verdict.reason)
        result = database.execute(verdict.statement)
        assert result.error is None, (sql, result.error)
        assert result.rows, sql


def test_the_reason_names_what_would_be_called() -> None:
    schema = Schema("postgres", (Table("orders", (Column("id"), Column("total")), namespace="public"),))
    reason = check(parse("SELECT o.totl FROM orders o", "postgres"), schema).reason
    assert reason == "names o.totl, which is no known column and which PostgreSQL may read as a call of totl"


def test_without_a_schema_a_column_of_a_table_is_taken_to_exist() -> None:
    assert check(parse("SELECT o.total FROM orders o", "postgres")).allowed
    assert not check(parse("SELECT (o.total).run_report FROM orders o", "postgres")).allowed
