"""kill -9 under load, and a restart: no completed turn is lost, no database changed, the history is readable.

A real server process with its state in files or in PostgreSQL; many threads ask at once, some of an engine that is
quick, some of a model that takes its time, so that the kill finds runs at every step. A turn counts as completed when
its client has read `done`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from eval.tasks import demo_path
from tests.agent.server.running import scripted
from tests.commands import Process
from tests.openai_server import OpenAIServer
from tests.samples import sampled

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 60
TALKERS = 12
SERVER = """
import sys
from agent.server import __main__ as server
from agent.server.runs import registry
from agent.store import runs, store, threads
registry.PULSE_SECONDS = 0.5
runs.RunStore.begin_run.__kwdefaults__["lease_seconds"] = 4.0
threads.ThreadStore.begin_turn.__kwdefaults__["lease_seconds"] = 4.0
store.Store.renew.__defaults__ = (4.0,)
sys.argv = ["server", "--port", "0"]
server.main()
"""
"""The server with short leases: what is to be seen is that they run out, not how long they are."""
FIRST, NEXT = "How many customers live in Berlin?", ("who are they?", "and in Munich?", "How many orders are there?")


@dataclass
class Talker:
    """One client with a thread of its own; remembers what it was told."""

    model: str | None
    thread_id: str = ""
    completed: list[tuple[str, str, Any]] = field(default_factory=list)
    """(run_id, status, rows) of turns whose `done` came."""
    broken: str = ""
    """The run that was going on when the connection broke."""

    def talk(self, url: str, stop: threading.Event) -> None:
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            turn = 0
            while not stop.is_set():
                question = FIRST if not self.thread_id else NEXT[turn % len(NEXT)]
                turn += 1
                try:
                    self.ask(client, question)
                except httpx.HTTPError:
                    return

    def ask(self, client: httpx.Client, question: str) -> list[dict[str, Any]]:
        body = {"question": question, "thread_id": self.thread_id or None, "model": self.model}
        events: list[dict[str, Any]] = []
        with client.stream("POST", "/query", json=body) as response:
            assert response.status_code == 200, response.read()
            self.thread_id = response.headers["x-thread-id"]
            self.broken = response.headers["x-run-id"]
            events.extend(json.loads(line[5:]) for line in response.iter_lines() if line.startswith("data:"))
        assert events[-1]["event"] == "done", events[-1:]
        answer = next(e["data"] for e in events if e["event"] == "answer")
        self.completed.append((self.broken, answer["status"], answer["rows"]))
        self.broken = ""
        return events


@dataclass
class Server:
    environment: dict[str, str]
    process: Process | None = None
    url: str = ""
    reader: threading.Thread | None = None

    def start(self) -> None:
        pipe = subprocess.PIPE
        self.process = Process("-c", SERVER, env=self.environment, cwd=ROOT, stdout=pipe, stderr=subprocess.STDOUT)
        assert self.process.stdout is not None
        until = time.monotonic() + PATIENCE
        while not (match := re.search(r"http://127\.0\.0\.1:(\d+)", self.process.stdout.readline())):
            assert self.process.poll() is None, "the server did not start"
            assert time.monotonic() < until
        self.url = match.group()
        self.reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.reader.start()
        while time.monotonic() < until:
            try:
                if httpx.get(self.url + "/ready", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.1)
        raise AssertionError("the server is not ready")

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.reader is not None and self.process.stdout is not None:
            self.reader.join(PATIENCE)
            self.process.stdout.close()

    def get(self, path: str) -> Any:
        response = httpx.get(self.url + path, timeout=PATIENCE)
        assert response.status_code == 200, response.text
        return response.json()


@pytest.fixture(params=sampled(["sqlite", "postgres"], 2))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    shutil.copy(demo_path("shop"), tmp_path / "shop.sqlite")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEXT2SQL_", "OPENAI_"))}
    with OpenAIServer() as model:
        model.otherwise = scripted("SELECT COUNT(*) FROM customers", delay=0.1)
        own = {
            "PYTHONPATH": str(ROOT),
            "TEXT2SQL_STATE_DIR": str(tmp_path / "state"),
            "TEXT2SQL_DB_PATH": str(tmp_path / "shop.sqlite"),
            "TEXT2SQL_REQUESTS_AT_ONCE": "200",
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "x",
        }
        if request.param == "postgres":
            own["TEXT2SQL_STATE_URL"] = request.getfixturevalue("postgres_url")
        started = Server({**kept, **own})
        started.start()
        try:
            yield started
        finally:
            started.kill()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
def test_a_killed_server_loses_no_completed_turn(server: Server, tmp_path: Path) -> None:
    before = digest(tmp_path / "shop.sqlite")
    stop = threading.Event()
    talkers = [Talker("offline" if n % 2 else None) for n in range(TALKERS)]
    threads = [threading.Thread(target=t.talk, args=(server.url, stop), daemon=True) for t in talkers]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 2 * PATIENCE
    while sum(len(t.completed) for t in talkers) < 2 * TALKERS and time.monotonic() < until:
        time.sleep(0.05)
    server.kill()
    stop.set()
    for thread in threads:
        thread.join(PATIENCE)
    completed = sum(len(t.completed) for t in talkers)
    broken = [t for t in talkers if t.broken]

    server.start()
    lost = []
    for talker in talkers:
        for run_id, status, rows in talker.completed:
            run = server.get(f"/runs/{run_id}")
            if (run["status"], run["answer"]["rows"]) != (status, rows):
                lost.append(run_id)
    print(f"completed {completed}, in flight {len(broken)}, lost {len(lost)}")
    assert completed >= TALKERS
    assert broken
    assert lost == []
    assert digest(tmp_path / "shop.sqlite") == before
    assert sorted(p.name for p in tmp_path.glob("shop.sqlite*")) == ["shop.sqlite"]

    # What was going on is marked once its lease has run out, and can then be asked again with the earlier turns.
    until = time.monotonic() + PATIENCE
    marked: dict[str, str] = {}
    while time.monotonic() < until:
        marked = {t.broken: server.get(f"/runs/{t.broken}")["status"] for t in broken}
        if "running" not in marked.values():
            break
        time.sleep(1)
    assert set(marked.values()) <= {"interrupted", "success", "doubtful", "abstained"}, marked
    assert "interrupted" in marked.values()

    for talker in [t for t in broken if marked[t.broken] == "interrupted" and t.completed][:4]:
        thread = server.get(f"/threads/{talker.thread_id}")
        assert [r["run_id"] for r in thread["runs"] if r["status"] != "interrupted"][: len(talker.completed)] == [
            run_id for run_id, _, _ in talker.completed
        ]
        with httpx.stream("POST", f"{server.url}/runs/{talker.broken}/again", timeout=PATIENCE) as response:
            assert response.status_code == 200, response.read()
            events = [json.loads(line[5:]) for line in response.iter_lines() if line.startswith("data:")]
        answer = next(e["data"] for e in events if e["event"] == "answer")
        assert answer["status"] in ("success", "doubtful", "abstained"), answer["reason"]
        assert len(answer["attempts"]) == len({(a["task_id"], a["attempt"]) for a in answer["attempts"]})

    fresh = Talker("offline")
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        fresh.ask(client, FIRST)
        events = fresh.ask(client, "who are they?")
    answer = next(e["data"] for e in events if e["event"] == "answer")
    assert answer["read_as"] == "List the customers that live in Berlin"
