"""Naming a database: what opens, and what a person reads when it does not."""

from __future__ import annotations

import builtins
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from eval.databases import DatabaseError, DatabaseNotFound, DatabaseUnreachable, DriverMissing, open_database
from eval.databases.urls import parse_target
from eval.statement import ReadStatement
from tests.pairs import rows
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
