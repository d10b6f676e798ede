"""What a client of POST /query sees: numbered events, the first at once, `done` last, and how it can go on."""

from __future__ import annotations

import json
import threading

import httpx
from httpx_sse import connect_sse

from tests.agent.server.running import Running, raw_query, read_until, run_and_thread, scripted, wait_until
from tests.openai_server import OpenAIServer, Reply, Request

QUESTION = "How many customers are there?"


def test_a_question_is_answered_in_numbered_events_that_no_proxy_holds_back(server: Running) -> None:
    streamed = server.ask(QUESTION)

    assert [number for number, _ in streamed.numbered] == list(range(1, len(streamed.numbered) + 1))
    assert streamed.names[0] == "run"
    assert streamed.names[-2:] == ["answer", "done"]
    assert streamed.of("run") == [
        {
            "run_id": streamed.run_id,
            "thread_id": streamed.thread_id,
            "preset": "shop",
            "model": "offline",
            "question": QUESTION,
            "turn": 1,
        }
    ]
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


def test_the_answer_comes_token_by_token(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")

    streamed = model_server.ask(QUESTION)

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
    with raw_query(model_server.port, {"question": QUESTION, "resumable": True}) as connection:
        read_until(connection, b'"event":"run"')
        endpoint.arrived.wait(10)

    assert endpoint.disconnected.wait(5)
    wait_until(lambda: model_server.get("/runs").json()["runs"][0]["status"] == "cancelled")


def test_a_run_can_be_cancelled_and_cancelled_again(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with raw_query(model_server.port, {"question": QUESTION}) as connection:
        head = read_until(connection, b'"event":"run"')
        run_id, _ = run_and_thread(head)
        endpoint.arrived.wait(10)

        answers = [model_server.post(f"/runs/{run_id}/cancel") for _ in range(2)]
        rest = read_until(connection, b'"event":"done"').decode()

    assert [(a.status_code, a.json()) for a in answers] == [(202, {"status": "cancelled"})] * 2
    assert '"kind":"cancelled"' in rest
    assert model_server.get(f"/runs/{run_id}").json()["status"] == "cancelled"
    assert model_server.post(f"/runs/{run_id}/cancel").json() == {"status": "cancelled"}


def test_a_second_question_waits_for_the_first_of_its_thread(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with raw_query(model_server.port, {"question": QUESTION}) as connection:
        head = read_until(connection, b'"event":"run"')
        _run_id, thread_id = run_and_thread(head)

        refused = model_server.post("/query", {"question": QUESTION, "thread_id": thread_id})

    assert (refused.status_code, refused.json()["error"]["kind"]) == (409, "busy")


def test_the_model_can_be_chosen(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")

    for model in ("offline", None):
        streamed = model_server.ask(QUESTION, model=model)
        assert [streamed.of(event)[0]["model"] for event in ("run", "answer")] == [model or "scripted"] * 2


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
