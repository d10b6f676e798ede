"""`python -m agent.server --workers 2`: what one worker begins, the other knows, and a killed one is replaced."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.agent.conftest import TABLES
from tests.agent.server.processes import Server, at_worker, failed, started
from tests.agent.server.running import QUESTION, Begun, model_at, scripted, wait_until
from tests.openai_server import OpenAIServer
from tests.writing import sqlite_file

WORKERS = ("--workers", "2")


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.otherwise = scripted("SELECT COUNT(*) FROM customers")
        yield server


@pytest.fixture(scope="module")
def shared(postgres_url: str, model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of servers that share a state."""
    shop = sqlite_file(tmp_path_factory.mktemp("shop") / "shop.sqlite", TABLES)
    own = {"TEXT2SQL_STATE_URL": postgres_url, "TEXT2SQL_SECRET": "a secret of the tests"}
    return {**own, "TEXT2SQL_DB_PATH": str(shop), **model_at(model)}


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, shared: dict[str, str]) -> Iterator[tuple[Server, int]]:
    """One server with two workers for all tests; the last that takes it kills it."""
    with started(tmp_path_factory.mktemp("two"), *WORKERS, **shared) as (process, port, _):
        yield process, port


def pids(process: Server) -> list[int]:
    """The workers of a supervisor, without multiprocessing's own helper."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_state_that_workers_cannot_share_or_that_is_away_is_told(tmp_path: Path) -> None:
    done = failed(tmp_path, *WORKERS)
    by_setting = failed(tmp_path, TEXT2SQL_WORKERS="3")

    assert (done.returncode, by_setting.returncode) == (2, 2)
    assert "2 workers need a state that they can share: set TEXT2SQL_STATE_URL=postgresql://" in done.stderr
    assert "3 workers need" in by_setting.stderr
    assert not (tmp_path / "state").exists()
    done = failed(tmp_path, *WORKERS, "--port", "0", TEXT2SQL_STATE_URL="postgresql://nobody@127.0.0.1:9/none")

    assert done.returncode == 3
    assert "does not answer" in done.stderr


def test_each_worker_is_ready_any_answers_for_all_figures_and_a_taken_port_is_told(
    two: tuple[Server, int], tmp_path: Path, shared: dict[str, str]
) -> None:
    _, port = two
    for number in (1, 2):
        with at_worker(port, number) as client:
            wait_until(lambda client=client: client.get("/ready").json()["ready"], 60)
            assert client.post("/query", json={"question": QUESTION}).status_code == 200

    with at_worker(port, 1) as one, at_worker(port, 2) as other:
        counted = [
            re.search(r'text2sql_runs_total\{status="success"\} (\S+)', c.get("/metrics").text) for c in (one, other)
        ]
    assert [match and match[1] for match in counted] == ["2.0", "2.0"]
    done = failed(tmp_path, *WORKERS, "--port", str(port), **shared)
    assert done.returncode == 3
    assert "cannot listen" in done.stderr


def test_a_killed_worker_is_replaced_and_no_worker_is_orphaned(two: tuple[Server, int], model: OpenAIServer) -> None:
    process, port = two
    finished = httpx.post(f"http://127.0.0.1:{port}/query", json={"question": QUESTION}, timeout=60)
    model.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=120)
    under_way = [Begun(port, resumable=True) for _ in range(4)]

    before = pids(process)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    for begun in under_way:
        begun.close()
    wait_until(lambda: len(pids(process)) == 2 and not set(pids(process)) & set(before), 60)

    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        for begun in under_way:  # without waiting for a lease of 30 seconds to expire
            rest = client.get(f"/runs/{begun.run_id}/events", headers={"Last-Event-ID": "1"}).text
            assert '"kind":"interrupted"' in rest
            assert '"event":"done"' in rest
        assert client.get(f"/runs/{finished.headers['x-run-id']}").json()["status"] == "success"
        model.otherwise = scripted("SELECT COUNT(*) FROM customers")
        again = client.post(f"/runs/{begun.run_id}/again").text
        assert '"status":"success"' in again

    workers = pids(process)
    process.kill()
    process.wait(20)

    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 60)


def test_stopped_workers_let_questions_finish(tmp_path: Path, model: OpenAIServer, shared: dict[str, str]) -> None:
    with started(tmp_path, *WORKERS, **shared, TEXT2SQL_DRAIN_SECONDS="60") as (process, port, _):
        model.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=1.5)
        under_way = [Begun(port) for _ in range(4)]
        workers = pids(process)
        process.send_signal(signal.SIGTERM)
        ends = [begun.rest() for begun in under_way]
        for begun in under_way:
            begun.close()
        assert process.wait(60) == 0
    assert all(b'"status":"success"' in end for end in ends)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
