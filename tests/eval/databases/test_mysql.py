"""MySQL and MariaDB on a real server: structure, values, stopping, and what even root's connection cannot do."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from eval.databases import CancelToken, Database, Limits, open_database
from eval.databases.server import MOST_LEFT_RUNNING, ServerDatabase
from eval.databases.statement_run import StatementRun, abandoned
from eval.schema import ForeignKey
from eval.sql import check, parse
from eval.statement import ReadStatement
from eval.tasks.load import mysql_arguments
from tests.pairs import FIXTURES, rows, sections, values
from tests.waiting import becomes

pymysql = pytest.importorskip("pymysql")


class Outside:
    """A plain connection beside the one under test."""

    def __init__(self, url: str) -> None:
        arguments = mysql_arguments(url)
        self.name = arguments["database"]
        self.connection = pymysql.connect(**arguments, autocommit=True)

    def __call__(self, sql: str) -> Any:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def sessions(self) -> list[Any]:
        """The other connections to the database."""
        own = self.connection.thread_id()
        return [row for row in self("SHOW PROCESSLIST") if row[0] != own and row[3] == self.name]

    def busy(self) -> list[Any]:
        return [row for row in self.sessions() if row[4] in ("Query", "Execute")]


@pytest.fixture(scope="module")
def outside(mysql_url: str) -> Iterator[Outside]:
    plain = Outside(mysql_url)
    for statement in (FIXTURES / "databases/setup_mysql.sql").read_text(encoding="utf-8").split(";"):
        if statement.strip():
            plain(statement)
    plain("INSERT INTO many " + " UNION ALL ".join(f"SELECT {n}" for n in range(2000)))
    yield plain
    plain.connection.close()


@pytest.fixture(scope="module")
def database(mysql_url: str, outside: Outside) -> Iterator[Database]:
    with open_database(mysql_url) as opened:
        yield opened


def read(sql: str) -> ReadStatement:
    return ReadStatement(sql, "mysql")


def test_structure(database: Database) -> None:
    schema = database.schema(ttl=0)
    people = schema.table("people")
    assert (people.comment, people.row_count, people.row_count_estimated) == ("who works here", 2, False)
    name = people.column("name")
    assert (name.type, name.nullable, name.comment) == ("varchar(20)", False, "full name")
    assert people.primary_key == ("id",)
    assert people.foreign_keys == (ForeignKey(("boss",), "people", ("id",)),)
    assert any(index.unique and index.columns == ("name",) for index in people.indexes)
    mixed = schema.table("mixed case")
    assert [c.name for c in mixed.columns] == ["select", "größe", "a`b", "twice"]
    assert mixed.primary_key == ("select", "größe")
    uses = schema.table("uses")
    assert uses.foreign_keys == (ForeignKey(("x", "y"), mixed.name, ("select", "größe")),)
    view = schema.table("adults")
    assert (view.kind, view.row_count, view.comment) == ("view", None, None)


def test_errors_and_a_cut_result(database: Database, outside: Outside) -> None:
    assert database.execute(read("SELECT n FROM many ORDER BY n"), limits=Limits(rows=700)).truncated
    assert becomes(lambda: not outside.busy())
    assert database.execute(read("SELECT '100%d'")).rows == (("100%d",),)
    assert database.execute(read("SELECT nope FROM many")).error in (
        "Unknown column 'nope' in 'SELECT' (1054)",
        "Unknown column 'nope' in 'field list' (1054)",
    )


@pytest.mark.parametrize("sql", values("databases/the_deadline_interrupts_in_the_server.jsonl"))
def test_the_deadline_interrupts_in_the_server(database: Database, outside: Outside, sql: str) -> None:
    result = database.execute(read(sql), limits=Limits(seconds=0.3))
    assert result.status == "timeout"
    assert result.execution_time_ms < 300 + 3000  # the statement itself would take hours
    assert becomes(lambda: outside.busy() == [])


def test_a_statement_that_ignores_kill_does_not_hold_its_caller(database: Database, outside: Outside) -> None:
    """One call of INSTR looks at no KILL: the connection is given up, and the server ends the statement later."""
    before = abandoned.count
    long_call = "SELECT INSTR(REPEAT('a', 60000), CONCAT(REPEAT('a', 30000), 'b'))"
    result = database.execute(read(long_call), limits=Limits(seconds=0.2))
    assert result.status == "timeout" or result.rows == ((0,),)  # a fast machine may be done
    assert result.execution_time_ms < 200 + 3000
    assert abandoned.count - before <= 1
    assert database.execute(read("SELECT 1")).rows == ((1,),)
    assert becomes(lambda: outside.busy() == [], 60)


@pytest.mark.parametrize(("sql", "refused"), rows("databases/long_texts_of_mysql.jsonl"))
def test_what_no_kill_stops_is_not_begun_on_long(database: Database, outside: Outside, sql: str, refused: bool) -> None:
    if "mariadb" not in outside("SELECT VERSION()")[0][0].lower():
        pytest.skip("MySQL's own REPLACE takes time that grows with the length only")
    outside("CREATE OR REPLACE TABLE articles (id int, title varchar(99), body longtext, note mediumtext)")
    outside("INSERT INTO articles VALUES (1, 'one', REPEAT('0', 65537), 'short'), (2, 'two', 'short', 'short')")
    verdict = check(parse(sql, "mysql"), database.schema(ttl=0))
    assert verdict.statement is not None, verdict.reason
    result = database.execute(verdict.statement)
    is_named = "may not be used on articles.body, which holds texts of more than 64 KiB" in (result.error or "")
    assert (is_named, result.ok) == (refused, not refused), result.error


def test_a_timeout_leaves_no_session_behind(database: Database, outside: Outside) -> None:
    """Without help of the collector, which may not run for minutes."""
    sql = "SELECT COUNT(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n = -1"
    gc.disable()
    try:
        before = len(outside.sessions())
        for _ in range(5):
            assert database.execute(read(sql), limits=Limits(seconds=0.1)).status == "timeout"
        assert becomes(lambda: len(outside.sessions()) <= before)
    finally:
        gc.enable()


def test_no_statement_is_added_to_many_that_run_on(database: Database, outside: Outside, mysql_url: str) -> None:
    assert isinstance(database, ServerDatabase)
    others = [Outside(mysql_url) for _ in range(MOST_LEFT_RUNNING)]
    with ThreadPoolExecutor(MOST_LEFT_RUNNING) as threads:
        sleeping = [threads.submit(other, "DO SLEEP(60)") for other in others]
        database._left_running |= {other.connection.thread_id() for other in others}
        try:
            assert becomes(lambda: len(database._sessions() & database._left_running) == MOST_LEFT_RUNNING)
            with open_database(mysql_url) as again:  # counted for the database, not for one opening of it
                assert "earlier statements run on" in (again.execute(read("SELECT 1")).error or "")
                assert again.schema().tables
        finally:
            for other in others:
                outside(f"KILL {other.connection.thread_id()}")
    assert all(done.exception() for done in sleeping)
    assert becomes(lambda: database.execute(read("SELECT 1")).ok)
    assert database.execute(read("SELECT 1")).rows == ((1,),)
    assert len(database._left_running) < MOST_LEFT_RUNNING


def test_a_limit_of_the_login_is_an_error_and_no_timeout() -> None:
    run = StatementRun(read("SELECT 1"), Limits(seconds=60))
    run.ended_by_server()
    assert run.stopped is None
    run = StatementRun(read("SELECT 1"), Limits(seconds=60, spent=59.9))
    run.ended_by_server()
    assert run.stopped == "timeout"


def test_cancelling_where_a_pooled_connection_was_closed_by_the_server(database: Database, outside: Outside) -> None:
    """An idle connection ends by `wait_timeout` while another is in use; what it is needed for is done by a new one."""
    runs = [threading.Thread(target=database.execute, args=(read(f"SELECT SLEEP({s})"),)) for s in (2.5, 1)]
    for run in runs:
        run.start()
    assert becomes(lambda: len(outside.busy()) == 2)
    assert becomes(lambda: len(outside.busy()) == 1)
    for number, _, _, name, command, *_ in outside("SHOW PROCESSLIST"):
        if name == outside.name and command == "Sleep":
            outside(f"KILL {number}")
    for run in runs:
        run.join()
    token = CancelToken()
    threading.Timer(0.1, token.cancel).start()
    endless = "SELECT BENCHMARK(100000000000, MD5('x'))"  # unlike SLEEP, it does not notice that its client is gone
    assert database.execute(read(endless), cancel=token).status == "cancelled"
    assert becomes(lambda: outside.busy() == [])


@pytest.mark.parametrize("sql", sections("guard/out_of_reach.txt")["mysql"][0])
def test_roots_connection_reaches_nothing_outside(database: Database, outside: Outside, sql: str) -> None:
    result = database.execute(read(sql))
    assert result.status == "error", result.rows
    assert result.rows == ()
    assert outside("SELECT COUNT(*) FROM people") == ((2,),)
    assert outside("SELECT @@max_connections")[0][0] > 1


def test_the_server_reads_a_text_as_the_guard_did_and_words_in_it_are_not_refused(
    mysql_url: str, outside: Outside, database: Database
) -> None:
    """Whatever SQL mode the server has, quotes and backslashes mean what sqlglot takes them to mean."""
    before = outside("SELECT @@GLOBAL.sql_mode")[0][0]
    with open_database(mysql_url) as opened:
        assert "NO_BACKSLASH_ESCAPES" not in str(opened.execute(read("SELECT @@sql_mode")).rows)
        assert opened.execute(read('SELECT "a\\"b"')).rows == (('a"b',),)
    assert outside("SELECT @@GLOBAL.sql_mode")[0][0] == before
    sql = "SELECT 'load_file(mysql.user) := get_lock' AS `for update`"
    assert database.execute(read("SELECT 'load_file(mysql.user) := get_lock'")).ok
    assert database.execute(read(sql)).status == "error"  # a name that reads so is refused, out of caution
