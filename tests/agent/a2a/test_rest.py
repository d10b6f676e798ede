"""Plain REST, over a real server: what an evaluator sends and gets."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import httpx
import pytest

from tests.agent.a2a.conftest import Slow, task
from tests.samples import ALL


def post(url: str, path: str, body: object) -> httpx.Response:
    return httpx.post(url + path, json=body, timeout=30)


def test_a_task_gets_its_sql_with_the_task_named(url: str) -> None:
    reply = post(url, "generate", task())

    assert reply.status_code == 200
    assert reply.json() == {
        "sql": "SELECT COUNT(*) AS customers FROM customers",
        "reasoning": "the number of rows (called customers) of customers. Not executed. About 9 in 10 such answers are "
        "right.",
        "task_id": "t1",
    }


COUNT = "SELECT COUNT(*) AS customers FROM customers"
FENCED = '```json\n{"question": "How many customers are there?", "schema": {"customers": ["id"]}}\n```'


@pytest.mark.parametrize(
    "body",
    [
        {"parts": [{"kind": "data", "data": task()}]},
        {"parts": [{"text": FENCED}]},
        {"parts": [{"text": "How many customers are there?"}, {"data": {"schema": {"customers": ["id"]}}}]},
        {"message": {"parts": [{"type": "data", "data": task()}]}},
        task(),
    ],
)
def test_a_message_carries_the_task_and_is_answered_in_parts_too(url: str, body: object) -> None:
    reply = post(url, "a2a/message", body).json()

    [part] = reply.pop("parts")
    assert reply["sql"] == COUNT
    assert part == {"kind": "data", "type": "data", "data": reply}


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"schema": {"t": ["a"]}, "task_id": "x"}, 400, "has no question"),
        ({"question": "  "}, 400, "has no question"),
        ([1, 2], 400, "JSON object"),
        (task(schema=None), 200, "has no schema"),
        (task(schema={"tables": []}), 200, "has no tables"),
        (task(dialect="cobol"), 200, "Unknown SQL dialect 'cobol'"),
        (task(schema={"tables": [{"name": "t", "columns": []}]}), 200, "The table 't' has no columns"),
        (task(question="Zorble the quux frobnicators?"), 200, "Zorble"),
        (task(question="x" * 30_000), 200, "at most 20,000"),
    ],
)
def test_what_cannot_be_answered_says_why(url: str, body: object, status: int, says: str) -> None:
    reply = post(url, "generate", body)

    assert reply.status_code == status
    assert reply.json()["sql"] == ""
    assert says in reply.json()["error"]
    assert "Traceback" not in reply.text


def test_what_is_no_json_too_large_or_without_parts_is_refused(url: str) -> None:
    broken = httpx.post(url + "generate", content=b'{"question": ')
    deep = httpx.post(url + "generate", content=b"[" * 200_000)
    large = httpx.post(url + "generate", content=b" " * (9 * 1024 * 1024))

    assert (broken.status_code, broken.json()["error"]) == (400, "The request is not JSON.")
    assert deep.status_code == 400
    assert large.status_code == 413
    assert post(url, "generate", task()).status_code == 200

    bodies: list[dict[str, object]] = [{}, {"parts": []}, {"parts": "text"}, {"parts": [{"kind": "file"}]}]
    for body in bodies:
        assert post(url, "a2a/message", body).status_code == 400


def test_the_server_says_what_and_how_it_is(url: str) -> None:
    about, health = httpx.get(url).json(), httpx.get(url + "health").json()

    assert about["name"] == "text2sql"
    assert health["status"] == "ok"
    assert health["model"] == "offline"
    assert httpx.get(url + "ready").status_code in (200, 503)


def test_a_client_that_goes_away_stops_its_run(slow: tuple[str, Slow]) -> None:
    url, model = slow
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(url + "generate", json=task(), timeout=httpx.Timeout(30, read=2))

    assert model.asked.is_set()
    assert model.stopped.wait(5)


def test_many_tasks_leave_no_file_and_no_thread(url: str) -> None:
    before = threading.active_count()
    for number in range(150 if ALL else 40):
        dialect = "duckdb" if number % 20 == 0 else "sqlite"
        assert post(url, "generate", task(task_id=str(number), dialect=dialect)).json()["task_id"] == str(number)

    assert threading.active_count() <= before + 64
    scratch = [*Path(tempfile.gettempdir()).glob("text2sql-scratch-*")]
    assert len(scratch) <= 8  # of tests that run beside this one
