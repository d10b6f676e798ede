"""An empty database from a structure: it compiles what the real one would, holds nothing, and leaves nothing."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest

from eval.databases.scratch import scratch_database
from eval.databases.types import DatabaseError
from eval.schema import DIALECTS, Column, Dialect, ForeignKey, Schema, Table
from eval.sql import check, parse
from eval.statement import ReadStatement
from tests.pairs import sections
from tests.waiting import becomes

HOSTILE = ['x"; DROP TABLE t; --', "'; ATTACH 'x' AS y; --"]
HOSTILE += ["a'b", "a`b", "a]b", "select", "ä ö", "a.b", "%s", "{0}", "a\\b"]


def structure(dialect: Dialect, columns: list[str], kind: str = "INTEGER", tables: int = 1) -> Schema:
    return Schema(dialect, tuple(Table(f"t{i}", tuple(Column(c, kind) for c in columns)) for i in range(tables)))


def statement(sql: str, dialect: Dialect) -> ReadStatement:
    allowed = check(parse(sql, dialect)).statement
    assert allowed is not None
    return allowed


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_query_that_compiles_is_taken_and_returns_nothing(dialect: Dialect) -> None:
    with scratch_database(structure(dialect, ["a", "b"])) as database:
        query = statement("SELECT a, count(*) FROM t0 GROUP BY a", dialect)
        assert database.refusal(query) is None
        assert database.execute(query).rows == ()
        with database.stream(query) as rows:
            assert [*rows] == []
        assert database.plan_lines(query)
        assert not database.holds_rows


@pytest.mark.parametrize(("dialect", "sql", "says"), sections("databases/refusals.txt")["scratch"])
def test_the_engine_says_what_is_wrong_with_a_query(dialect: Dialect, sql: str, says: str) -> None:
    with scratch_database(structure(dialect, ["a", "b"])) as database:
        assert says in (database.refusal(ReadStatement(sql, dialect)) or "")


@pytest.mark.parametrize("dialect", ["postgres", "mysql"])
def test_without_a_server_only_the_structure_is_known(dialect: Dialect) -> None:
    with scratch_database(structure(dialect, ["a"])) as database:
        query = statement("SELECT a FROM t0", dialect)
        assert database.schema().column_count == 1
        assert database.refusal(query) is None
        assert database.execute(query).status == "error"
        with database.stream(query) as rows:
            assert [*rows] == []
            assert "structure" in (rows.error or "")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_try_to_be_sql_are_only_names(dialect: Dialect) -> None:
    hostile = Schema(dialect, tuple(Table(name, tuple(Column(c) for c in HOSTILE)) for name in HOSTILE))
    with scratch_database(hostile) as database:
        assert {t.name for t in database.schema().tables} == set(HOSTILE)
        if dialect == "sqlite":
            result = database.execute(statement('SELECT * FROM "x""; DROP TABLE t; --"', dialect))
            assert list(result.columns) == HOSTILE


@pytest.mark.parametrize(
    "kind", ["", "GEOGRAPHY", "INT); DROP TABLE t0; --", "money", "VARCHAR(20)", "x" * 2_000, "ENUM('a','b')", "((("]
)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_type_that_the_engine_does_not_know_costs_nothing(dialect: Dialect, kind: str) -> None:
    with scratch_database(structure(dialect, ["a"], kind)) as database:
        assert database.refusal(statement("SELECT a FROM t0", dialect)) is None


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_keys_in_a_circle_and_to_nowhere_are_no_hindrance(dialect: Dialect) -> None:
    tables = (
        Table("a", (Column("id"), Column("b")), primary_key=("id",), foreign_keys=(ForeignKey(("b",), "b", ("id",)),)),
        Table("b", (Column("id"), Column("a")), primary_key=("id",), foreign_keys=(ForeignKey(("a",), "a", ("id",)),)),
        Table("c", (Column("x"),), foreign_keys=(ForeignKey(("x",), "nowhere", ("y",)),)),
    )
    with scratch_database(Schema(dialect, tables)) as database:
        assert database.schema().tables[0].foreign_keys == tables[0].foreign_keys
        assert database.refusal(statement("SELECT 1 FROM a JOIN b ON a.b = b.id", dialect)) is None


def test_keys_that_names_leave_no_doubt_of_are_added() -> None:
    tables = (
        Table("customers", (Column("id", "INTEGER", primary_key=True),), primary_key=("id",), row_count=5),
        Table("orders", (Column("id", "INTEGER"), Column("customer_id", "INTEGER")), row_count=9),
    )
    with scratch_database(Schema("sqlite", tables)) as database:
        [key] = database.schema().tables[1].foreign_keys
        assert key == ForeignKey(("customer_id",), "customers", ("id",), inferred=True)
        assert [t.row_count for t in database.schema().tables] == [5, 9]


def test_more_columns_than_the_engine_allows_is_said_with_its_name() -> None:
    with pytest.raises(DatabaseError, match="SQLite cannot hold the table 't0': too many columns"):
        scratch_database(structure("sqlite", [f"c{i}" for i in range(10_000)]))


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_nothing_is_left_behind(dialect: Dialect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    threads = _of_databases()
    for _ in range(5):
        with scratch_database(structure(dialect, ["a"])) as database:
            assert [*tmp_path.iterdir()]
            database.execute(statement("SELECT a FROM t0", dialect))
    with pytest.raises(DatabaseError):
        scratch_database(structure(dialect, ["a", "a"]))

    assert [*tmp_path.iterdir()] == []
    assert becomes(lambda: not _of_databases() - threads)


def _of_databases() -> set[threading.Thread]:
    """The threads that run, without those that all databases of a process share."""
    return {t for t in threading.enumerate() if not t.name.startswith(("statement", "warm"))}
