"""Two servers on one PostgreSQL: whatever one of them begins, the other shows, continues, counts and stops."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.writing import sqlite_file

pytest.importorskip("a2a")
pytest.importorskip("mcp")

from a2a.auth.user import UnauthenticatedUser
from a2a.server.cluster import ConcurrentTaskModificationError, TaskVersion
from a2a.server.context import ServerCallContext
from a2a.types.a2a_pb2 import ListTasksRequest, Task, TaskState, TaskStatus

from agent.a2a.shared_tasks import Place, SharedEvents, SharedTasks
from agent.config import ServerSettings, StateSettings
from agent.server.middleware.request_limits import Limits
from agent.server.runs.registry import Instance, LiveRuns
from agent.store import Store, open_store
from agent.store.records import RunRecord
from agent.store.runs import RunStore
from tests.agent.a2a.conftest import message, rpc
from tests.agent.conftest import TABLES
from tests.agent.server.running import QUESTION, Begun, Running, model_at, running, scripted, settings_for, wait_until
from tests.openai_server import OpenAIServer

Two = tuple[Running, Running]


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def state(postgres_url: str, tmp_path: Path) -> StateSettings:
    return StateSettings(_env_file=None, TEXT2SQL_STATE_URL=postgres_url, TEXT2SQL_STATE_DIR=str(tmp_path))


@pytest.fixture
async def store(state: StateSettings) -> AsyncIterator[Store]:
    opened = await open_store(state)
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, model: OpenAIServer, postgres_url: str) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("shared")
    sqlite_file(folder / "shop.sqlite", TABLES)
    config = settings_for(
        folder,
        **model_at(model),
        TEXT2SQL_DB_PATH=folder / "shop.sqlite",
        TEXT2SQL_STATE_URL=postgres_url,
        TEXT2SQL_SECRET="a secret of the tests",
        TEXT2SQL_RESUME_SECONDS=1,
    )
    with running(config) as one, running(config) as other:
        yield one, other


async def _nothing(_: LiveRuns) -> None:
    """Instead of a look into the state."""


def test_a_cancelled_run_stops_before_the_pulse(two: Two, model: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two
    monkeypatch.setattr(LiveRuns, "_heed", _nothing)
    model.otherwise = scripted("SELECT 1", plan_delay=120)
    model.arrived.clear()
    model.disconnected.clear()
    with Begun(one.port) as begun:
        assert model.arrived.wait(60)

        assert other.post(f"/runs/{begun.run_id}/cancel").json() == {"status": "cancelled"}
        assert b'"kind":"cancelled"' in begun.rest()

    assert model.disconnected.wait(30)


def test_a_resumable_run_goes_on_while_it_is_read_at_the_other_server(two: Two, model: OpenAIServer) -> None:
    one, other = two
    model.otherwise = scripted("SELECT COUNT(*) FROM customers", delay=1.2)  # longer than it waits for a reader
    begun = Begun(one.port, resumable=True)
    begun.close()
    seen = other.stream("GET", f"/runs/{begun.run_id}/events", headers={"Last-Event-ID": "1"})

    assert seen.of("answer")[0]["rows"] == [[4]]
    assert [number for number, _ in seen.numbered] == list(range(2, len(seen.numbered) + 2))


def test_a_stopped_thread_is_free_elsewhere(two: Two, model: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two
    model.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=120)
    finish = RunStore.finish_run

    async def late(self: RunStore, *given: Any, **named: Any) -> bool:
        await asyncio.sleep(0.5)
        return await finish(self, *given, **named)

    monkeypatch.setattr(RunStore, "finish_run", late)
    begun = Begun(one.port)
    begun.close()
    model.otherwise = scripted("SELECT COUNT(*) FROM customers")

    again = other.ask(QUESTION, thread_id=begun.thread_id)

    assert again.of("answer")[0]["rows"] == [[4]]


def test_verified_questions_boards_and_the_model_are_the_same_at_both(two: Two, model: OpenAIServer) -> None:
    one, other = two
    model.otherwise = scripted("SELECT COUNT(*) FROM customers")
    run_id = one.ask(QUESTION).run_id
    one.post("/feedback", {"run_id": run_id, "verdict": "right"})
    board = one.post("/boards", {"title": "Ours"}).json()["board_id"]
    other.ask(QUESTION)

    assert [v["question"] for v in other.get("/feedback").json()] == [QUESTION]
    assert "verified" in model.requests[-4].prompt.lower() or QUESTION in model.requests[-3].prompt
    assert other.get(f"/boards/{board}").json()["title"] == "Ours"
    changed = {"base_url": model.url, "name": "another", "api_key": "k"}
    assert httpx.put(f"{one.url}/model", json=changed, timeout=30).status_code == 200
    wait_until(lambda: other.get("/health").json()["model"] == "another", 30)
    assert httpx.delete(f"{other.url}/model", timeout=30).status_code == 200
    wait_until(lambda: one.get("/health").json()["model"] == "scripted", 30)


def test_an_upload_is_asked_and_removed_at_the_other_server(two: Two) -> None:
    one, other = two
    files = {"file": ("fruit.csv", b"name,price\napple,1\npear,2\n", "text/csv")}
    sent = httpx.post(f"{one.url}/databases/upload", files=files, timeout=60)
    preset = sent.json()["id"]
    asked = {"preset": preset, "sql": "SELECT COUNT(*) FROM fruit"}
    assert [s.post("/sql", asked).json()["rows"] for s in two] == [[[2]], [[2]]]
    assert all(preset in s.services.sources._open for s in two)

    assert httpx.delete(f"{other.url}/databases/{preset}", timeout=30).status_code == 204

    assert one.post("/sql", asked).status_code == 404
    wait_until(lambda: preset not in one.services.sources._open, 30)


# --- A2A ---

TASK = {
    "question": QUESTION,
    "schema": {"tables": {"customers": {"columns": [{"name": "id", "type": "INTEGER", "primary_key": True}]}}},
    "dialect": "sqlite",
}


def call(server: Running, method: str, params: dict[str, Any]) -> Any:
    return rpc(f"{server.url}/a2a", method, params)


def begun_task(server: Running, model: OpenAIServer) -> tuple[str, threading.Thread, list[dict[str, Any]]]:
    """A task that waits for its model: its id, the thread that reads its stream, and what that has read."""
    model.arrived.clear()
    seen: list[dict[str, Any]] = []
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": message(TASK)}

    def read() -> None:
        with httpx.stream("POST", f"{server.url}/a2a", json=body, timeout=120) as stream:
            seen.extend(json.loads(line[5:])["result"] for line in stream.iter_lines() if line.startswith("data:"))

    reading = threading.Thread(target=read)
    reading.start()
    assert model.arrived.wait(60)

    def active() -> list[str]:
        listed = server.services.store.tasks("local")
        kept, _ = asyncio.run_coroutine_threadsafe(listed, server.services.runs._pulse.get_loop()).result(30)
        return [task.task_id for task in kept if task.active]

    wait_until(lambda: bool(active()))  # the task is stored beside the model's call, not before it
    return active()[0], reading, seen


def test_a_finished_task_and_its_context_are_known_at_the_other_server(two: Two, model: OpenAIServer) -> None:
    one, other = two
    model.otherwise = scripted("SELECT COUNT(*) FROM customers")
    done = call(one, "message/send", message(TASK))["result"]

    assert call(other, "tasks/get", {"id": done["id"]})["result"]["artifacts"] == done["artifacts"]
    followed = call(other, "message/send", message("How many customers are there?", contextId=done["contextId"]))
    answer = json.loads(followed["result"]["artifacts"][0]["parts"][0]["text"])
    assert answer["sql"] == "SELECT COUNT(*) FROM customers"  # the schema came from the earlier task


def test_a_running_task_is_followed_and_cancelled_at_the_other_server(two: Two, model: OpenAIServer) -> None:
    one, other = two
    model.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=120, delay=120)
    model.disconnected.clear()
    task_id, reading, seen = begun_task(one, model)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": {"id": task_id}}
    with httpx.stream("POST", f"{other.url}/a2a", json=body, timeout=120) as stream:
        lines = (json.loads(line[5:])["result"] for line in stream.iter_lines() if line.startswith("data:"))
        assert next(lines)["id"] == task_id

        cancelled = call(other, "tasks/cancel", {"id": task_id})["result"]
        rest = list(lines)

    assert cancelled["status"]["state"] == "canceled"
    assert rest[-1]["status"]["state"] == "canceled"
    assert model.disconnected.wait(60), "the model call went on"
    reading.join(60)
    assert seen[-1]["status"]["state"] == "canceled"


async def test_a_task_whose_server_is_gone_has_failed_with_the_reason(store: Store) -> None:
    there, here = (Place(store, name) for name in ("gone", "here"))
    caller = ServerCallContext(user=UnauthenticatedUser())
    working = Task(id="t1", context_id="c1", status=TaskStatus(state=TaskState.TASK_STATE_WORKING))
    version = await SharedTasks(lambda: there).save(
        working, event=working, prev=None, prev_version=TaskVersion.MISSING, context=caller
    )
    known = SharedTasks(lambda: here)
    assert (await known.get("t1", caller)).task.status.state == TaskState.TASK_STATE_WORKING
    with pytest.raises(ConcurrentTaskModificationError):
        await known.save(working, event=None, prev=None, prev_version=TaskVersion.MISSING, context=caller)

    await store.end_leases("gone")
    seen = [event async for event in SharedEvents(lambda: here).subscribe("t1", after=version)]
    reply = await known.get("t1", caller)

    assert [one.event.status.state for one in seen] == [TaskState.TASK_STATE_FAILED]
    assert reply.task.status.state == TaskState.TASK_STATE_FAILED
    assert "is gone" in reply.task.status.message.parts[0].text
    assert [task.id for task in (await known.list(ListTasksRequest(context_id="c1"), caller)).tasks] == ["t1"]
    await store.prune_tasks(days=0)
    assert await known.get("t1", caller) is None


# --- MCP ---


def mcp_call(server: Running, body: dict[str, Any], session: str = "") -> httpx.Response:
    headers = {"Accept": "application/json, text/event-stream", **({"Mcp-Session-Id": session} if session else {})}
    return httpx.post(f"{server.url}/mcp", json={"jsonrpc": "2.0", **body}, headers=headers, timeout=120)


def test_an_mcp_session_goes_on_and_its_call_is_cancelled_at_the_other_server(two: Two, model: OpenAIServer) -> None:
    one, other = two
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    began = mcp_call(one, {"id": 0, "method": "initialize", "params": about})
    session = began.headers["mcp-session-id"]
    assert mcp_call(other, {"method": "notifications/initialized"}, session).status_code == 202
    listed = mcp_call(other, {"id": 1, "method": "tools/call", "params": {"name": "list_databases"}}, session)
    assert "configured" in listed.text

    model.otherwise = scripted("SELECT 1", plan_delay=120)
    model.arrived.clear()
    model.disconnected.clear()
    asked = {"id": 7, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": QUESTION}}}
    calling = threading.Thread(target=mcp_call, args=(one, asked, session))
    calling.start()
    assert model.arrived.wait(60)
    stop = {"method": "notifications/cancelled", "params": {"requestId": 7}}
    mcp_call(other, stop, "another session")
    assert not model.disconnected.is_set()
    mcp_call(other, stop, session)

    assert model.disconnected.wait(60), "the model call went on"
    calling.join(60)
    assert not calling.is_alive()


# --- limits ---


async def test_limits_count_the_requests_of_all_servers_together(state: StateSettings) -> None:
    settings = ServerSettings(_env_file=None, TEXT2SQL_RATE_PER_MINUTE=20)
    stores = [await open_store(state) for _ in range(2)]
    both = [Limits(settings), Limits(settings)]
    for limits, store in zip(both, stores, strict=True):
        limits.store = store

    waits = [await both[n % 2].take("ana") for n in range(12)]
    assert waits[:10] == [0] * 10, "ten at once"
    assert all(1 <= wait <= 3 for wait in waits[10:])
    assert await both[1].take("bo") == 0
    failed = [await both[n % 2].failed("10.0.0.1") for n in range(11)]
    assert failed[:10] == [0] * 10
    assert failed[10] > 0

    for store in stores:
        await store.close()


async def test_tokens_are_taken_in_blocks_and_a_state_that_is_away_ends_nothing(
    state: StateSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(state)
    limits = Limits(ServerSettings(_env_file=None))
    limits.store = store
    asked: list[str] = []
    take = store.take_tokens

    async def counted(key: str, *given: Any, **named: Any) -> float:
        asked.append(key)
        return await take(key, *given, **named)

    monkeypatch.setattr(store, "take_tokens", counted)
    for _ in range(60):
        assert await limits.take("cy") == 0
    assert len(asked) == 2  # of 30 tokens each
    await store.close()
    store._engine.dispose()
    away = await open_store(StateSettings(_env_file=None, TEXT2SQL_STATE_DIR=str(tmp_path / "own")))
    limits.store = away  # has no tables of PostgreSQL's kind: every statement fails
    assert await limits.take("dee") == 0
    await away.close()


async def test_a_successor_ends_the_leases_of_the_instance_that_it_replaces(store: Store) -> None:
    run = RunRecord(run_id=uuid.uuid4().hex, owner="ana", preset="shop", started=datetime.now(UTC))
    await store.begin_run(run, instance="gone")
    live = LiveRuns(store, ServerSettings(_env_file=None), instance=Instance(replaces="gone"))

    await live.open()

    kept = await store.get(RunRecord, "ana", run.run_id)
    assert kept.status == "interrupted"
    await live.close()
