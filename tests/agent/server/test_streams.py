"""What a client of POST /query sees: numbered events, `done` last, how it can go on, and one figure at each door."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import connect_sse

from agent.runtime.attempts import in_ten
from agent.server.runs import registry as live_runs
from agent.store.records import RunRecord
from agent.store.runs import RunStore
from eval.scoring import EVEN_ODDS
from eval.tasks.demos import demo_path
from tests import commands
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
from tests.openai_server import OpenAIServer, Reply, Request


def test_a_question_is_answered_in_numbered_events_that_no_proxy_holds_back(server: Running) -> None:
    streamed = server.ask(QUESTION)

    assert [number for number, _ in streamed.numbered] == list(range(1, len(streamed.numbered) + 1))
    assert streamed.names[0] == "run"
    assert streamed.names[-2:] == ["answer", "done"]
    ids = {"run_id": streamed.run_id, "thread_id": streamed.thread_id}
    assert streamed.of("run") == [{**ids, "preset": "shop", "model": "offline", "question": QUESTION, "turn": 1}]
    assert streamed.of("answer")[0]["rows"] == [[480]]
    nodes = [e["node"] for e in streamed.events if e["event"] == "node" and e["status"] == "done"]
    assert nodes[-7:-3] == ["schema_analyzer", "planner", "set_first_task", "query_generator"]
    assert nodes[-3:] == ["executor_eval", "check_remaining", "summarizer"]
    headers = streamed.headers
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store, no-transform"
    assert headers["x-accel-buffering"] == "no"


def test_clients_that_listen_by_name_and_those_that_listen_to_messages_hear_the_same(server: Running) -> None:
    heard: dict[str, list[tuple[str, str]]] = {}
    for named in ("", "?named=true"):
        body = {"question": QUESTION}
        with server.client() as client, connect_sse(client, "POST", f"/query{named}", json=body) as source:
            heard[named] = [(e.event, json.loads(e.data)["event"]) for e in source.iter_sse() if e.data]

    assert {event for event, _ in heard[""]} == {"message"}
    assert [event for event, _ in heard["?named=true"]] == [name for _, name in heard["?named=true"]]
    assert {name for _, name in heard[""]} == {name for _, name in heard["?named=true"]} >= {"run", "answer", "done"}


def test_the_first_event_waits_for_no_model(model_server: Running, endpoint: OpenAIServer) -> None:
    seen = threading.Event()
    answers = scripted("SELECT COUNT(*) FROM customers")

    def only_once_it_was_seen(request: Request) -> Reply:
        assert seen.wait(30), "the model was asked, and the reader had nothing yet"
        return answers(request) if callable(answers) else answers

    endpoint.otherwise = only_once_it_was_seen
    with raw_query(model_server.port, {"question": QUESTION}) as connection:
        first = read_until(connection, b"\ndata: ")
        seen.set()
        rest = read_until(connection, b'"event":"done"')

    assert b"id: 1\n" in first
    assert b'"status":"success"' in rest


def test_the_chosen_model_answers_token_by_token(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
    for model in ("offline", None):
        streamed = model_server.ask(QUESTION, model=model)
        assert [streamed.of(event)[0]["model"] for event in ("run", "answer")] == [model or "scripted"] * 2

    assert "".join(str(text) for text in streamed.of("token")) == "The answer is in the rows, all of them, one by one."
    assert streamed.of("answer")[0]["status"] == "success"


def test_a_stream_is_json_of_at_most_200_rows(model_server: Running, endpoint: OpenAIServer, server: Running) -> None:
    endpoint.otherwise = scripted("SELECT id, amount FROM blobs")

    streamed = model_server.ask("Show the id and amount of all blobs.")  # the reader refuses NaN and Infinity

    assert streamed.of("query_result")[0]["data"] == [[1, "Infinity"], [2, "-Infinity"]]

    result = server.ask("Show all customers.").of("query_result")[0]

    assert (len(result["data"]), result["rows_returned"]) == (200, 480)


def test_a_reader_goes_on_where_it_stopped_and_is_told_to_stop_at_the_end(server: Running) -> None:
    streamed = server.ask(QUESTION)

    by_header = server.stream("GET", f"/runs/{streamed.run_id}/events", headers={"Last-Event-ID": "5"})
    by_query = server.stream("GET", f"/runs/{streamed.run_id}/events?after=5")

    assert by_header.numbered == streamed.numbered[5:]
    assert by_query.numbered == streamed.numbered[5:]

    last = len(streamed.events)
    again = httpx.get(f"{server.url}/runs/{streamed.run_id}/events", headers={"Last-Event-ID": str(last)})
    earlier = httpx.get(f"{server.url}/runs/{streamed.run_id}/events", headers={"Last-Event-ID": str(last - 1)})

    assert again.status_code == 204
    assert '"event":"done"' in earlier.text


def test_a_resumable_run_that_nobody_comes_back_to_is_stopped(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=30)
    with Begun(model_server.port, resumable=True):
        endpoint.arrived.wait(10)

    assert endpoint.disconnected.wait(5)
    wait_until(lambda: model_server.get("/runs").json()["runs"][0]["status"] == "cancelled")


def test_a_run_can_be_cancelled_and_cancelled_again(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with Begun(model_server.port) as begun:
        endpoint.arrived.wait(10)

        answers = [model_server.post(f"/runs/{begun.run_id}/cancel") for _ in range(2)]
        rest = begun.rest().decode()

    assert [(a.status_code, a.json()) for a in answers] == [(202, {"status": "cancelled"})] * 2
    assert '"kind":"cancelled"' in rest
    assert model_server.get(f"/runs/{begun.run_id}").json()["status"] == "cancelled"
    assert model_server.post(f"/runs/{begun.run_id}/cancel").json() == {"status": "cancelled"}


def test_a_second_question_waits_for_the_first_of_its_thread(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with Begun(model_server.port) as begun:
        refused = model_server.post("/query", {"question": QUESTION, "thread_id": begun.thread_id})

    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "busy")


def test_what_a_client_held_right_is_shown_for_later_questions(model_server: Running, endpoint: OpenAIServer) -> None:
    corrected = "SELECT COUNT(*) FROM customers WHERE email IS NOT NULL"
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
    run_id = model_server.ask(QUESTION).run_id
    model_server.post("/feedback", {"run_id": run_id, "verdict": "corrected", "sql": corrected})
    before = len(endpoint.requests)

    model_server.ask("How many customers are there in Lyon?")

    later = [request.prompt for request in endpoint.requests[before:]]
    assert not any(corrected in request.prompt for request in endpoint.requests[:before])
    assert any(f"Question: {QUESTION}\nSQL: {corrected}" in prompt for prompt in later)


Two = tuple[Running, Running]
"""Servers on one state: each shows, resumes and cancels the runs of the other."""


@pytest.fixture
def two(tmp_path: Path, endpoint: OpenAIServer, shop_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    monkeypatch.setattr(live_runs, "PULSE_SECONDS", 0.2)
    config = settings_for(tmp_path, **model_at(endpoint), TEXT2SQL_DB_PATH=shop_file)
    with running(config) as one, running(config) as other:
        yield one, other


def test_a_run_is_cancelled_through_the_other_server(two: Two, endpoint: OpenAIServer) -> None:
    one, other = two
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with Begun(one.port) as begun:
        endpoint.arrived.wait(10)

        assert other.post(f"/runs/{begun.run_id}/cancel").json() == {"status": "cancelled"}
        assert b'"kind":"cancelled"' in begun.rest()

    assert endpoint.disconnected.wait(5)
    assert one.get(f"/runs/{begun.run_id}").json()["status"] == "cancelled"


def test_a_dead_servers_run_is_interrupted(two: Two, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=30)
    from agent.store import Store

    async def silent(*_: object, **__: object) -> int:
        return 0

    begin = RunStore.begin_turn

    async def short_lease(self: RunStore, *given: object, **named: object) -> RunRecord:
        return await begin(self, *given, **{**named, "lease_seconds": 0.3})  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "renew", silent)
    monkeypatch.setattr(RunStore, "begin_turn", short_lease)
    with Begun(one.port) as begun:
        wait_until(lambda: other.get(f"/runs/{begun.run_id}").json()["status"] == "interrupted")
        first, second = (other.get(f"/runs/{begun.run_id}/events").text for _ in range(2))
        assert first == second  # the ending is written once, whoever asks
        assert first.count('"kind":"interrupted"') == first.count('"event":"done"') == 1
        numbers = [int(line.removeprefix("id: ")) for line in first.splitlines() if line.startswith("id: ")]
        assert numbers == list(range(1, len(numbers) + 1))
        for seen in (numbers[-1], numbers[-1] + 91):
            ended = other.get(f"/runs/{begun.run_id}/events", headers={"Last-Event-ID": str(seen)})
            assert ended.status_code == 204  # or a browser would reconnect for ever
        rest = other.get(f"/runs/{begun.run_id}/events", headers={"Last-Event-ID": str(numbers[0])}).text
        assert rest
        assert first.endswith(rest)
        monkeypatch.setattr(RunStore, "begin_turn", begin)
        endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
        again = other.stream("POST", f"/runs/{begun.run_id}/again")

        assert again.of("answer")[0]["rows"] == [[4]]


ANSWERED, DOUBTFUL = 0, 5


def quoted(answer: dict[str, Any]) -> float:
    """The one figure of an answer; its headline, attempts, notes and evidence say no other."""
    report = answer["attempts"][-1]["eval_report"]
    chance = answer["confidence"]
    assert chance == round(report["probability"], 4)
    assert in_ten(chance) in answer["verdict"]
    assert in_ten(chance).lower() in answer["attempts"][-1]["verdict"]
    assert report["dimensions"]["correctness"] == 0 or f"{chance:.0%}" in report["analysis"]["notes"]["correctness"]
    assert answer["status"] != "success" or chance >= EVEN_ODDS
    weights = [abs(e["weight"]) for e in report["analysis"]["evidence"]]
    assert weights == sorted(weights, reverse=True)
    return float(chance)


async def by_mcp(server: Running, question: str) -> dict[str, Any]:
    from tests.agent.mcp.client import over_http

    async with over_http(server.url) as client:
        done = await client.call_tool("ask", {"question": question, "database": "shop"})
    return dict(done.structured_content or {})


@pytest.mark.parametrize("question", [QUESTION, "total revenue by month"])
def test_all_doors_quote_one_figure(server: Running, question: str) -> None:
    """And none tells a success below even odds."""
    pytest.importorskip("mcp")
    answer = server.ask(question, preset="shop").of("answer")[-1]
    chance = quoted(answer)
    content = asyncio.run(by_mcp(server, question))
    assert (content["confidence"], content["verdict"]) == (chance, answer["verdict"])
    words = ("-m", "agent.main", question, "--db", demo_path("shop"))
    done = commands.run(*words, "--json")
    assert quoted(json.loads(done.stdout)) == chance
    assert done.returncode == (ANSWERED if answer["status"] == "success" else DOUBTFUL)
    explained = commands.run(*words, "--explain").stdout
    assert answer["verdict"][1:] in explained
    assert "the engine" in explained.casefold()
