"""Naming a database: what opens, and what a person reads when it does not; and an empty one from a structure alone."""

from __future__ import annotations

import builtins
import json
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from eval.databases import DatabaseError, DatabaseNotFound, DatabaseUnreachable, DriverMissing, open_database
from eval.databases.scratch import scratch_database
from eval.databases.urls import parse_target
from eval.schema import DIALECTS, Column, Dialect, ForeignKey, Schema, Table
from eval.sql import check, parse
from eval.statement import ReadStatement
from tests.pairs import rows, sections
from tests.waiting import becomes
from tests.writing import sqlite_file


def make_sqlite(path: Path) -> Path:
    return sqlite_file(path, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y')")


def refusal(target: str | Path) -> DatabaseError:
    with pytest.raises(DatabaseError) as caught:
        open_database(target)
    return caught.value


@pytest.mark.parametrize("name", ["a", "a.duckdb", "ü b?c%20#.db"])
def test_a_sqlite_file_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    path = make_sqlite(tmp_path / name)
    for target in (path, str(path)):
        with open_database(target) as database:
            assert database.dialect == "sqlite"
            assert database.name == path.stem
            assert database.execute(ReadStatement("SELECT b FROM t WHERE a = 2", "sqlite")).rows == (("y",),)


def test_a_duckdb_file_is_known_by_its_content(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "mine.sqlite"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t (a INTEGER)")
    for target in (path, f"duckdb:///{path}"):
        with open_database(target) as database:
            assert (database.dialect, database.name) == ("duckdb", "mine")
    assert "holds a duckdb database, but the URL says sqlite" in str(refusal(f"sqlite:///{path}"))


def test_file_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_sqlite(tmp_path / "my shop.db")
    monkeypatch.chdir(tmp_path)
    encoded = str(path).replace(" ", "%20")
    for url in (f"sqlite:///{encoded}", f"sqlite:///{encoded[1:]}", "sqlite:///my%20shop.db", f"SQLITE:///{path}"):
        with open_database(url) as database:
            assert database.url == f"sqlite:///{encoded}"


def test_a_missing_file_is_never_created(tmp_path: Path) -> None:
    for target in (tmp_path / "no.db", f"sqlite:///{tmp_path}/no.db", f"duckdb:///{tmp_path}/no.duckdb"):
        error = refusal(target)
        assert isinstance(error, DatabaseNotFound)
        assert "none was created" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("begins", "zeros", "message"), rows("databases/no_databases.jsonl"))
def test_a_file_that_is_no_database(tmp_path: Path, begins: str, zeros: int, message: str) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(content := begins.encode() + bytes(zeros))
    assert message in str(refusal(path))
    assert path.read_bytes() == content


def test_a_sqlite_file_cut_short(tmp_path: Path) -> None:
    script = "CREATE TABLE t (a); INSERT INTO t SELECT hex(randomblob(900)) FROM (VALUES (1), (2), (3), (4))"
    path = sqlite_file(tmp_path / "big.sqlite", script)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert f"its header promises {len(whole):,} bytes" in str(refusal(path))


@pytest.mark.parametrize(("target", "message"), rows("databases/bad_names.jsonl"))
def test_a_bad_name(target: str, message: str) -> None:
    error = refusal(target)
    assert message in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(("given", "parts"), rows("databases/urls.jsonl"))
def test_a_url_names_server_and_database_and_its_password_is_never_shown(given: str, parts: dict[str, Any]) -> None:
    """Both forms of a URL of Spark say the same."""
    target = parse_target(given)
    assert json.loads(json.dumps({name: getattr(target, name) for name in parts})) == parts
    if target.password:
        assert target.password not in repr(target)
        assert quote(target.password, safe="") not in repr(target)
        told = f"bad {target.password} or {quote(target.password, safe='')}"
        assert target.redact(told) == "bad *** or ***"


@pytest.mark.parametrize(("url", "module", "extra"), rows("databases/a_missing_driver_names_the_extra.jsonl"))
def test_a_missing_driver_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, module: str, extra: str
) -> None:
    if url == "duckdb":
        path = tmp_path / "x.duckdb"
        path.write_bytes(b"12345678DUCK" + b"\0" * 20_000)
        url = str(path)
    really = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.split(".")[0] == module:
            raise ImportError(name)
        return really(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    error = refusal(url)
    assert isinstance(error, DriverMissing)
    assert f"pip install '{extra}'" in str(error)


SERVERS = pytest.mark.parametrize(("scheme", "driver"), [("postgresql", "psycopg"), ("mysql", "pymysql")])


@SERVERS
def test_a_server_that_does_not_answer_is_given_up(scheme: str, driver: str, silent_server: int) -> None:
    pytest.importorskip(driver)
    with pytest.raises(DatabaseUnreachable) as caught:
        open_database(f"{scheme}://ada:hunter2@127.0.0.1:{silent_server}/shop", connect_seconds=1)
    assert f"127.0.0.1:{silent_server}" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@SERVERS
def test_nobody_listens(scheme: str, driver: str) -> None:
    pytest.importorskip(driver)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        error = refusal(f"{scheme}://ada:hunter2@127.0.0.1:{bound.getsockname()[1]}/shop")
    assert isinstance(error, DatabaseUnreachable)
    assert "refused" in str(error).lower()
    assert "hunter2" not in str(error)


@pytest.mark.parametrize("server", ["postgres_url", "mysql_url"])
def test_an_unknown_database_on_a_real_server(server: str, request: pytest.FixtureRequest) -> None:
    error = refusal(urlsplit(request.getfixturevalue(server))._replace(path="/no_such_database").geturl())
    assert isinstance(error, DatabaseNotFound)
    assert "'no_such_database'" in str(error)


def test_a_wrong_mysql_password(mysql_url: str) -> None:
    parts = urlsplit(mysql_url)
    error = refusal(f"mysql://nobody_here:hunter2@{parts.hostname}:{parts.port or 3306}/test")
    assert isinstance(error, DatabaseUnreachable)
    assert "refused the login of 'nobody_here'" in str(error)


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
