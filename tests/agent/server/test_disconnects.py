"""A client that goes away stops all that its run has started; no slow one, no costly statement holds others up."""

from __future__ import annotations

import asyncio
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message

from agent.results import export
from agent.server.routes.data import ExportStream
from eval.databases import Database, ExecutionResult, open_database
from eval.schema import Dialect
from experiments.attacks.calls import call_at_random
from experiments.attacks.costly import GRACE, attack, corpus
from experiments.attacks.serving import SERVED, Served, scratch, serving
from tests.agent.results.test_exporting import kept
from tests.agent.server.running import (
    QUESTION,
    Begun,
    Running,
    model_at,
    raw_query,
    read_until,
    running,
    scripted,
    settings_for,
    wait_until,
)
from tests.openai_server import OpenAIServer

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"


def test_the_model_call_is_given_up_within_200_ms(model_server: Running, endpoint: OpenAIServer) -> None:
    times = []
    for _ in range(5):
        endpoint.script()
        endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
        with Begun(model_server.port):
            assert endpoint.arrived.wait(10)
        left = time.monotonic()
        assert endpoint.disconnected.wait(5)
        times.append(time.monotonic() - left)
        if times[-1] < 0.2:  # a busy machine gets other tries
            break

    assert min(times) < 0.2, times
    wait_until(lambda: len(model_server.services.runs) == 0)
    assert {run["status"] for run in model_server.get("/runs").json()["runs"]} == {"cancelled"}


def test_a_sqlite_statement_is_interrupted_within_200_ms(
    model_server: Running, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = threading.Event(), threading.Event()
    results: list[ExecutionResult] = []
    execute = Database.execute

    def watched(self: Database, statement: Any, **more: Any) -> Any:
        if "RECURSIVE" not in statement.sql:
            return execute(self, statement, **more)
        began.set()
        results.append(execute(self, statement, **more))
        ended.set()
        return results[-1]

    monkeypatch.setattr(Database, "execute", watched)
    endpoint.otherwise = scripted(ENDLESS)
    with Begun(model_server.port):
        assert began.wait(20)
        time.sleep(0.1)
        assert not ended.is_set()

    assert ended.wait(20)  # the statement itself never ends
    assert results[0].status == "cancelled"


def test_a_postgresql_statement_ends_within_200_ms(postgres_url: str, endpoint: OpenAIServer, tmp_path: Path) -> None:
    """200 ms beside the time that the server needs to end it, which on a busy machine is several times that."""
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT COUNT(*) FROM customers AS a JOIN customers AS b ON a.id <> b.id JOIN customers AS c ON b.id <> c.id"
    with psycopg.connect(postgres_url, autocommit=True) as watcher:
        watcher.execute("DROP TABLE IF EXISTS customers")
        watcher.execute("CREATE TABLE customers AS SELECT i AS id FROM generate_series(1, 20000) AS t(i)")
        endpoint.otherwise = scripted(sql)

        def busy() -> int:
            """Statements at work for a while; of a cursor the server shows its FETCH."""
            query = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND "
                "query ~ '^FETCH|customers AS a' AND pid <> pg_backend_pid() "
                "AND clock_timestamp() - query_start > interval '0.1 s'"
            )
            return watcher.execute(query).fetchone()[0]

        def ended_by_hand() -> float:
            with psycopg.connect(postgres_url, autocommit=True) as other, ThreadPoolExecutor(1) as thread:
                statement = thread.submit(other.execute, sql)
                wait_until(busy, 20)
                other.cancel_safe()
                seconds = wait_until(lambda: not busy(), 20)
                assert isinstance(statement.exception(), psycopg.errors.QueryCanceled)
            return seconds

        config = settings_for(tmp_path, **model_at(endpoint), TEXT2SQL_DATABASE_URL=postgres_url)
        times, by_hand = [], []
        with running(config) as server:
            for _ in range(4):
                by_hand.append(ended_by_hand())
                with Begun(server.port):
                    wait_until(busy, 20)
                times.append(wait_until(lambda: not busy(), 20))
                if times[-1] < by_hand[-1] + 0.2:
                    break
        assert min(times) < min(by_hand) + 0.2, (times, by_hand)


def test_leaving_before_the_first_byte_stops_the_run_too(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)

    for _ in range(10):
        raw_query(model_server.port, {"question": QUESTION}).close()

    time.sleep(0.5)
    wait_until(lambda: len(model_server.services.runs) == 0)
    assert {run["status"] for run in model_server.get("/runs").json()["runs"]} == {"cancelled"}


async def test_leaving_ends_the_work_on_an_export(tmp_path: Path) -> None:
    chunks = export(kept(tmp_path, {"n": list(range(40_000))}), "xlsx")
    begun, sent = asyncio.Event(), list[Message]()

    async def receive() -> Message:
        await begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            begun.set()

    scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
    await ExportStream(chunks, "application/octet-stream", {})(scope, receive, send)

    assert sent[-1].get("more_body", True)
    assert await asyncio.to_thread(lambda: [file.name for file in tmp_path.iterdir()]) == ["some.result"]


def test_one_of_two_readers_may_leave(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", delay=0.2)
    with Begun(model_server.port) as begun:
        second: list[list[str]] = []
        reader = threading.Thread(
            target=lambda: second.append(model_server.stream("GET", f"/runs/{begun.run_id}/events").names)
        )
        reader.start()
        run = model_server.services.runs.get("local", begun.run_id)
        wait_until(lambda: run._readers == 2)
    reader.join(20)

    assert second[0][-2:] == ["answer", "done"]


def test_clients_that_read_nothing_hold_nobody_up_and_cost_little(server: Running) -> None:
    server.ask("Show all customers.")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slow = [raw_query(server.port, {"question": "Show all orders."}, receive_buffer=4096) for _ in range(20)]
    try:
        for connection in slow:
            assert connection.recv(1) == b"H"
        names = server.ask("How many customers are there?").names  # the others never read on

        assert names[-1] == "done"
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB
    finally:
        for connection in slow:
            connection.close()
    wait_until(lambda: len(server.services.runs) == 0)


def test_a_stuck_client_is_given_up(
    endpoint: OpenAIServer, tmp_path: Path, shop_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.server.sse.WRITE_SECONDS", 0.5)
    names = " || ".join(f"{t}.name || {t}.email" for t in "abcde")
    long_text = f"SELECT group_concat({names}) AS words FROM " + ", ".join(f"customers AS {t}" for t in "abcde")
    endpoint.otherwise = scripted(f"SELECT words FROM ({long_text}) AS w, customers AS x, customers AS y")
    config = settings_for(tmp_path, **model_at(endpoint), TEXT2SQL_DB_PATH=shop_file)
    with (
        running(config, send_buffer=4096) as server,
        raw_query(server.port, {"question": QUESTION}, receive_buffer=2048) as stuck,
    ):
        read_until(stuck, b"\r\n\r\n")
        wait_until(lambda: len(server.services.runs) == 0, 20)
        assert server.get("/health").status_code == 200
        (run,) = server.get("/runs").json()["runs"]
        answer = server.get(f"/runs/{run['run_id']}").json()["answer"]
        assert len(answer["rows"][0][0]) > 20_000
        time.sleep(1)
        stuck.settimeout(5)
        assert b'"event":"done"' not in read_until(stuck, b'"event":"done"')


SECONDS = 0.5


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
    postgres_url: str,
    mysql_url: str,  # skips where a server is missing
) -> Iterator[Served]:
    pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("costly")
    with serving(folder, TEXT2SQL_QUERY_SECONDS=str(SECONDS)) as server:
        yield server


@pytest.mark.parametrize("dialect", SERVED)
def test_costly_statements_end_in_time_beside_ordinary_questions(served: Served, dialect: Dialect) -> None:
    attacked = attack(served, dialect, corpus(dialect, "1/35"))

    for sql in attacked.late(SECONDS):  # a busy machine gets another try
        started = time.perf_counter()
        served.run(dialect, sql)
        assert time.perf_counter() - started < SECONDS + 3 * GRACE, sql
    stopped = attacked.statuses["timeout"] + attacked.statuses["error"]  # an error: it ran into its memory's bound
    assert stopped > 0, attacked.statuses
    assert attacked.unanswered == 0
    assert attacked.growth_mb < 300
    assert attacked.usage.temporary_mb <= 1024
    assert attacked.alive


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_random_calls_do_no_harm(dialect: Dialect, tmp_path: Path) -> None:
    if dialect == "duckdb":
        pytest.importorskip("duckdb")
    with scratch(dialect, tmp_path) as url, open_database(url) as database:
        calls_made = call_at_random(database, calls=300, seed=11, seconds=20)
    assert calls_made.harm == []
    assert calls_made.statuses["success"] > 30
