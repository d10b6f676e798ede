"""An interrupt never reaches the next statement of a pooled connection, however the threads are timed."""

from __future__ import annotations

import threading
import time

import pytest

from eval.databases import Database, open_database
from eval.databases.statement_run import StatementRun
from eval.databases.types import CancelToken
from eval.statement import ReadStatement


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
    run.stop()

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
