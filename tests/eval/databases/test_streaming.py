"""Rows come batch by batch on every engine, under the same hardening, limits and endings as a whole result, which
`execute` puts together from them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import CancelToken, Database, Limits, open_database
from eval.databases.statement_run import StatementRun
from eval.statement import ReadStatement
from tests.writing import sqlite_file, url_on, write

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


def test_columns_come_first_then_batches_with_every_row_once_up_to_a_cap_of_bytes(database: Database) -> None:
    with database.stream(read(database, "SELECT n, word, n FROM many ORDER BY n")) as stream:
        assert stream.columns == ("n", "word", "n")
        assert stream.status is None
        batches = list(stream)

    assert len(batches) > 1
    assert [row for batch in batches for row in batch] == [(n, f"word {n}", n) for n in range(ROWS)]
    assert (stream.status, stream.error, stream.truncated, stream.rows_read) == ("success", None, False, ROWS)
    with database.stream(read(database, "SELECT word FROM many"), limits=Limits(bytes=10_000)) as stream:
        rows_read = sum(len(batch) for batch in stream)

    assert 0 < rows_read < ROWS
    assert stream.truncated
    assert stream.ok


@pytest.mark.parametrize(
    ("rows", "cut"), [(0, True), (1, True), (777, True), (ROWS - 1, True), (ROWS, False), (ROWS + 1, False)]
)
def test_rows_stop_at_the_cap_and_say_so(database: Database, rows: int, cut: bool) -> None:
    with database.stream(read(database, "SELECT n FROM many"), limits=Limits(rows=rows)) as stream:
        rows_read = sum(len(batch) for batch in stream)

    assert (rows_read, stream.truncated, stream.status) == (min(rows, ROWS), cut, "success")


def test_the_deadline_ends_it_also_while_the_reader_pauses_and_the_next_statement_runs(database: Database) -> None:
    with database.stream(read(database, SLOW[database.dialect]), limits=Limits(seconds=0.3)) as stream:
        assert list(stream) == []

    assert (stream.status, stream.error) == ("timeout", "stopped at the deadline of 0.3 s")
    assert 300 <= stream.execution_time_ms < 300 + 3000  # the statement itself would take hours
    assert database.execute(read(database, "SELECT 1")).rows == ((1,),)
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


def with_an_odd_row(path: Path, odd: str) -> Path:
    """The value of row 2500 of 3000."""
    numbers = "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c LIMIT 3000)"
    script = f"CREATE TABLE t (n INTEGER, value); {numbers} INSERT INTO t SELECT n, x'79' FROM c;"
    return sqlite_file(path, f"{script} UPDATE t SET value = {odd} WHERE n = 2500")


@pytest.mark.parametrize("odd", ["zeroblob(300000)", "CAST(x'ff41' AS TEXT)"])
def test_sqlite_begins_again_and_gives_each_row_once(tmp_path: Path, odd: str) -> None:
    path = with_an_odd_row(tmp_path / "odd.sqlite", odd)
    with (
        open_database(path, isolation="none") as database,
        database.stream(read(database, "SELECT * FROM t")) as stream,
    ):
        rows = [row for batch in stream for row in batch]

    assert stream.ok, stream.error
    assert [n for n, _ in rows] == list(range(3000))
    assert rows[2500][1] in (bytes(300000), "\udcffA")


def test_sqlite_says_so_when_the_rows_are_not_the_same_again(tmp_path: Path) -> None:
    path = with_an_odd_row(tmp_path / "odd.sqlite", "zeroblob(300000)")
    with open_database(path, isolation="none") as database:
        changing = read(database, "SELECT random(), value FROM t")
        with database.stream(changing) as stream:
            list(stream)
        assert (stream.status, stream.error) == ("error", "the rows changed while they were read; run the query again")
        assert len(database.execute(changing).rows) == 3000


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
        for n in range(100):
            token = CancelToken()
            timer = threading.Timer(n % 20 / 5_000, token.cancel)
            timer.start()
            assert database.execute(read(database, "SELECT 1"), cancel=token).status in ("success", "cancelled")
            following = database.execute(read(database, "SELECT 2"))
            assert following.rows == ((2,),), following.error
            timer.join()
