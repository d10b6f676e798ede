"""Rows come batch by batch on every engine, under the same hardening, limits and endings as a whole result, which
`execute` puts together from them."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases import CancelToken, Database, Limits, open_database
from eval.databases.statement_run import StatementRun
from eval.statement import ReadStatement
from tests.writing import url_on, write

ROWS = 5000
SLOW = {
    "sqlite": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0",
    "duckdb": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1",
    "postgres": "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a + b < 0",
    "mysql": "SELECT count(*) FROM many a, many b, many c, many d WHERE a.n + b.n + c.n + d.n < 0",
}


def filling() -> Iterator[str]:
    yield "CREATE TABLE many (n INTEGER, word VARCHAR(20))"
    for start in range(0, ROWS, 500):
        yield "INSERT INTO many VALUES " + ", ".join(f"({n}, 'word {n}')" for n in range(start, start + 500))


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    url = url_on(request.param, request, tmp_path_factory.mktemp("stream"))
    write(url, *filling())
    with open_database(url) as opened:
        yield opened


def read(database: Database, sql: str) -> ReadStatement:
    return ReadStatement(sql=sql, dialect=database.dialect)


def test_columns_first_then_batches_with_every_row_once(database: Database) -> None:
    with database.stream(read(database, "SELECT n, word, n FROM many ORDER BY n")) as stream:
        assert stream.columns == ("n", "word", "n")
        assert stream.status is None
        batches = list(stream)

    assert len(batches) > 1
    assert [row for batch in batches for row in batch] == [(n, f"word {n}", n) for n in range(ROWS)]
    assert (stream.status, stream.error, stream.truncated, stream.rows_read) == ("success", None, False, ROWS)


@pytest.mark.parametrize(
    ("rows", "cut"), [(0, True), (1, True), (777, True), (ROWS - 1, True), (ROWS, False), (ROWS + 1, False)]
)
def test_rows_stop_at_the_cap_and_say_so(database: Database, rows: int, cut: bool) -> None:
    with database.stream(read(database, "SELECT n FROM many"), limits=Limits(rows=rows)) as stream:
        rows_read = sum(len(batch) for batch in stream)

    assert (rows_read, stream.truncated, stream.status) == (min(rows, ROWS), cut, "success")


def test_bytes_stop_at_the_cap_and_say_so(database: Database) -> None:
    with database.stream(read(database, "SELECT word FROM many"), limits=Limits(bytes=10_000)) as stream:
        rows_read = sum(len(batch) for batch in stream)

    assert 0 < rows_read < ROWS
    assert stream.truncated
    assert stream.ok


def test_the_deadline_ends_it_and_the_next_statement_runs(database: Database) -> None:
    with database.stream(read(database, SLOW[database.dialect]), limits=Limits(seconds=0.3)) as stream:
        assert list(stream) == []

    assert (stream.status, stream.error) == ("timeout", "stopped at the deadline of 0.3 s")
    assert 300 <= stream.execution_time_ms < 300 + 3000  # the statement itself would take hours
    assert database.execute(read(database, "SELECT 1")).rows == ((1,),)


def test_the_deadline_counts_while_the_reader_pauses(database: Database) -> None:
    with database.stream(read(database, "SELECT n FROM many"), limits=Limits(seconds=0.3)) as stream:
        batches = iter(stream)
        next(batches)
        time.sleep(0.4)
        assert list(batches) == []

    assert stream.status == "timeout"


def test_another_thread_cancels_it_and_what_it_cancelled_before_it_began(database: Database) -> None:
    cancel = CancelToken()
    threading.Timer(0.2, cancel.cancel).start()
    with database.stream(read(database, SLOW[database.dialect]), cancel=cancel) as stream:
        assert list(stream) == []

    assert (stream.status, stream.error) == ("cancelled", "cancelled")
    assert stream.execution_time_ms < 200 + 3000
    assert database.execute(read(database, "SELECT 1"), cancel=cancel).status == "cancelled"
    assert database.execute(read(database, "SELECT 1")).rows == ((1,),)


def test_a_plan_is_told_and_runs_nothing(database: Database) -> None:
    assert "many" in "\n".join(database.plan_lines(read(database, "SELECT * FROM many")))
    assert database.plan_lines(read(database, f"ANALYZE {SLOW[database.dialect]}")) == ()


@pytest.fixture
def sqlite_with(tmp_path: Path) -> Iterator[Callable[[int, object], Database]]:
    opened: list[Database] = []

    def make(position: int, odd: object) -> Database:
        path = tmp_path / f"odd{len(opened)}.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE t (n INTEGER, value)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", ((n, "x") for n in range(3000)))
            connection.execute(f"UPDATE t SET value = CAST(? AS {'TEXT' if position % 2 else 'BLOB'})", (b"y",))
            connection.execute(f"UPDATE t SET value = {odd} WHERE n = {position}")
        opened.append(open_database(path, isolation="none"))
        return opened[-1]

    yield make
    for database in opened:
        database.close()


@pytest.mark.parametrize("odd", ["zeroblob(300000)", "CAST(x'ff41' AS TEXT)"])
def test_sqlite_begins_again_and_gives_each_row_once(sqlite_with: Callable[[int, object], Database], odd: str) -> None:
    database = sqlite_with(2500, odd)
    with database.stream(read(database, "SELECT n, value FROM t")) as stream:
        rows = [row for batch in stream for row in batch]

    assert stream.ok, stream.error
    assert [n for n, _ in rows] == list(range(3000))
    assert rows[2500][1] in (bytes(300000), "\udcffA")


def test_sqlite_says_so_when_the_rows_are_not_the_same_again(sqlite_with: Callable[[int, object], Database]) -> None:
    database = sqlite_with(2500, "zeroblob(300000)")
    with database.stream(read(database, "SELECT random(), value FROM t")) as stream:
        list(stream)

    assert (stream.status, stream.error) == ("error", "the rows changed while they were read; run the query again")
    assert len(database.execute(read(database, "SELECT random(), value FROM t")).rows) == 3000


class _SlowRun(StatementRun):
    """Between deciding to interrupt and doing it, the thread gets no processor for half a second."""

    about_to_interrupt: threading.Event
    _interrupted = False

    @property
    def interrupted(self) -> bool:
        return self._interrupted

    @interrupted.setter
    def interrupted(self, value: bool) -> None:
        if value:
            self.about_to_interrupt.set()
            time.sleep(0.5)
        self._interrupted = value


def test_who_ends_a_statement_knows_whether_an_interrupt_was_sent() -> None:
    token, sent = CancelToken(), threading.Event()
    run = _SlowRun(ReadStatement("SELECT 1", "postgres"), cancel=token)
    run.about_to_interrupt = threading.Event()
    with run.interrupting(sent.set):
        token.cancel()
        assert run.about_to_interrupt.wait(10)
    may_go_back_to_the_pool = not run.interrupted

    assert sent.wait(10)
    assert not may_go_back_to_the_pool


def test_nothing_is_interrupted_once_a_statement_has_ended() -> None:
    token, sent = CancelToken(), threading.Event()
    run = StatementRun(ReadStatement("SELECT 1", "postgres"), cancel=token)
    with run.interrupting(sent.set):
        pass
    token.cancel()

    assert not sent.wait(0.3)
    assert not run.interrupted


@pytest.mark.parametrize("server", ["postgres_url", "mysql_url"])
def test_statements_cancelled_as_they_end_leave_the_next_one_alone(server: str, request: pytest.FixtureRequest) -> None:
    with open_database(request.getfixturevalue(server)) as database:
        ended = {_status(database, "SELECT 1", cancelled_after=n % 20 / 5_000) for n in range(100)}
        assert ended <= {"success", "cancelled"}


def _status(database: Database, sql: str, *, cancelled_after: float) -> str:
    """How a statement ends that is cancelled after so many seconds; the next one always succeeds."""
    token = CancelToken()
    timer = threading.Timer(cancelled_after, token.cancel)
    timer.start()
    status = database.execute(ReadStatement(sql, database.dialect), cancel=token).status
    following = database.execute(ReadStatement("SELECT 2", database.dialect))
    assert following.rows == ((2,),), following.error
    timer.join()
    return status
