"""`python -m agent.server` as a process: what it says, how it stops, and what survives when it is killed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

from tests.agent.server.processes import environment, failed, started
from tests.agent.server.running import Begun, model_at, scripted
from tests.openai_server import OpenAIServer


def test_it_says_where_it_is_and_which_engine_answers(tmp_path: Path) -> None:
    with started(tmp_path) as (process, port, first_line):
        told = "(the built-in offline engine answers). Ctrl-C stops it.\n"
        assert first_line == f"text2sql at http://127.0.0.1:{port} {told}"
        assert httpx.get(f"http://127.0.0.1:{port}/health").json()["model"] == "offline"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


WITHOUT_POSIX = """
import os, runpy, sys
sys.modules.update(dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios")))
del os.fork
runpy.run_module("agent.server", run_name="__main__")
"""


def test_one_process_needs_nothing_that_windows_lacks(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WITHOUT_POSIX, "--port", "0"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first_line = process.stdout.readline()
        process.kill()
    assert first_line.startswith("text2sql at http://127.0.0.1:")


def test_a_start_that_cannot_be_is_told_and_leaves_a_damaged_state_alone(tmp_path: Path) -> None:
    state = tmp_path / "state" / "state.sqlite"
    state.parent.mkdir(mode=0o700)
    state.write_bytes(b"not a database " * 100)
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = failed(tmp_path, "--port", str(busy.getsockname()[1]))
    open_to_all = failed(tmp_path, "--host", "0.0.0.0")
    wrong_setting = failed(tmp_path, TEXT2SQL_MAX_RUNS="none")
    damaged = failed(tmp_path, "--port", "0")

    assert (taken.returncode, open_to_all.returncode, wrong_setting.returncode, damaged.returncode) == (3, 2, 2, 3)
    assert "cannot listen" in taken.stderr
    assert "Traceback" not in taken.stderr
    assert "TEXT2SQL_TOKENS" in open_to_all.stderr
    assert "TEXT2SQL_MAX_RUNS" in wrong_setting.stderr
    assert state.read_bytes() == b"not a database " * 100


def test_told_to_stop_it_tells_its_readers(tmp_path: Path, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=60)
    with started(tmp_path, **model_at(endpoint), TEXT2SQL_DRAIN_SECONDS="0.5") as (process, port, _):
        with Begun(port) as begun:
            endpoint.arrived.wait(20)
            process.send_signal(signal.SIGTERM)
            rest = begun.rest()
        assert process.wait(30) == 0
    assert b'"kind":"interrupted"' in rest
    assert b'"event":"done"' in rest

    with started(tmp_path, **model_at(endpoint)) as (_, port, _):
        assert httpx.get(f"http://127.0.0.1:{port}/runs/{begun.run_id}").json()["status"] == "interrupted"


def test_killed_under_load_it_loses_no_finished_turn(tmp_path: Path, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", delay=0.02)
    finished: list[str] = []
    with started(tmp_path, **model_at(endpoint)) as (process, port, _):
        for _ in range(5):
            with Begun(port) as begun:
                assert b'"event":"done"' in begun.rest()
                finished.append(begun.run_id)
        endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=60)
        cut_off = [Begun(port) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        for begun in cut_off:
            begun.close()

    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
    with (
        started(tmp_path, **model_at(endpoint)) as (_, port, _),
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        listed = {r["run_id"]: r["status"] for r in client.get("/runs?limit=200").json()["runs"]}
        assert [listed[run_id] for run_id in finished] == ["success"] * 5
        assert {listed[one.run_id] for one in cut_off} <= {"running", "interrupted"}  # until the lease is over
        for run_id in finished:
            assert client.get(f"/runs/{run_id}").json()["answer"]["rows"] == [[480]]
            stream = client.get(f"/runs/{run_id}/events").text
            assert json.loads(stream.split("data: ")[-1])["event"] == "done"
        assert client.get(f"/threads/{cut_off[0].thread_id}").status_code == 200
