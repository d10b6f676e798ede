"""Plain REST and HTTP+JSON over a real server, its card, tokens and command: what an evaluator sends and gets."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from eval.a2a.card_url import CardUrlUnusable, checked_card_url
from tests.agent.a2a.conftest import Slow, serving, task
from tests.agent.server.running import running, settings_for
from tests.commands import Process
from tests.pairs import rows, sections
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


SEPARATE = [{"text": "How many customers are there?"}, {"data": {"schema": {"customers": ["id"]}}}]
PARTS: list[Any] = [[{"kind": "data", "data": task()}], [{"text": FENCED}], SEPARATE]
IN_A_MESSAGE = {"message": {"parts": [{"type": "data", "data": task()}]}}


@pytest.mark.parametrize("body", [*({"parts": parts} for parts in PARTS), IN_A_MESSAGE, task()])
def test_a_message_carries_the_task_and_is_answered_in_parts_too(url: str, body: object) -> None:
    reply = post(url, "a2a/message", body).json()

    [part] = reply.pop("parts")
    assert reply["sql"] == COUNT
    assert part == {"kind": "data", "type": "data", "data": reply}


TOO_LONG = ({"question": "x" * 30_000}, "at most 20,000")


@pytest.mark.parametrize(("changed", "says"), [*rows("a2a/unanswered.jsonl"), TOO_LONG])
def test_what_cannot_be_answered_says_why(url: str, changed: dict[str, Any], says: str) -> None:
    reply = post(url, "generate", task(**changed))

    assert reply.status_code == (400 if "question" in says else 200)
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


ONE = {"A2A-Version": "1.0"}


def sql_in(content: dict[str, Any]) -> str:
    [artifact] = content["task"]["artifacts"]
    [part] = artifact["parts"]
    return json.loads(part["text"])["sql"].upper()


def test_a_task_over_http_and_json(url: str) -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"data": task()}]}

    reply = httpx.post(f"{url}message:send", json={"message": message}, headers=ONE, timeout=60)

    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/json"
    assert "COUNT" in sql_in(reply.json())


@pytest.mark.parametrize("path", ["agent-card.json", "agent.json"])
def test_the_card_offers_both_transports_to_both_protocols_and_says_since_when_it_is_so(url: str, path: str) -> None:
    reply = httpx.get(f"{url}.well-known/{path}")
    card = reply.json()

    offered = {(i["protocolBinding"], i["protocolVersion"]) for i in card["supportedInterfaces"]}
    assert offered == {(binding, version) for binding in ("JSONRPC", "HTTP+JSON") for version in ("1.0", "0.3")}
    assert (card["url"], card["preferredTransport"], card["skills"][0]["id"]) == (url, "JSONRPC", "text-to-sql")
    assert {i["url"].rstrip("/") for i in card["supportedInterfaces"]} == {url.rstrip("/")}
    assert "securitySchemes" not in card
    assert reply.headers["last-modified"].endswith("GMT")


def test_the_servers_root_and_endpoint_answer_with_and_without_the_last_slash(tmp_path: Path) -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": json.dumps(task())}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    with running(settings_for(tmp_path)) as server:
        for path in ("/a2a", "/a2a/", ""):
            reply = httpx.post(server.url + path, json=body, headers=ONE, timeout=60)
            assert reply.status_code == 200
            assert "COUNT" in sql_in(reply.json()["result"])
        rest = httpx.post(f"{server.url}/a2a/message:send", json={"message": message}, headers=ONE, timeout=60)
        page = httpx.get(server.url)
    assert "COUNT" in sql_in(rest.json())
    assert page.status_code == 200


def test_a_web_page_cannot_use_the_standalone_agent(url: str) -> None:
    foreign = ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Content-Type": "text/plain"})
    for headers in foreign:
        given = {"Content-Type": "application/json", **headers}
        assert httpx.post(f"{url}generate", content=json.dumps(task()), headers=given).status_code in (403, 415)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
    reply = httpx.post(url, content=json.dumps(body), headers={"Content-Type": "text/plain", **ONE})
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, -32005)


def test_the_standalone_agent_answers_to_the_name_in_its_card_and_to_those_configured() -> None:
    with serving(TEXT2SQL_SERVER_HOSTS="agent.internal") as url:
        for host, status in (("agent.internal", 200), ("127.0.0.1", 200), ("other.internal", 403)):
            assert httpx.get(f"{url}health", headers={"Host": host}).status_code == status


ROOT = Path(__file__).resolve().parents[3]
ENV = {**os.environ, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "COLUMNS": "120"}


@contextlib.contextmanager
def started(*arguments: str, **settings: str) -> Iterator[str]:
    """The first line of a process that listens; it is told to stop in the end."""
    words, pipe = ("-m", "agent.a2a", *arguments), subprocess.PIPE
    process = Process(*words, cwd=ROOT, env={**ENV, **settings}, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], 60)[0]
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_it_listens_on_loopback_says_so_and_stops_when_told() -> None:
    with started("--port", "0") as line:
        match = re.match(r"A2A at (http://127\.0\.0\.1:\d+/), card \1 \(the built-in offline engine answers\)", line)
        assert match
        card = httpx.get(match[1] + ".well-known/agent-card.json", timeout=30).json()
        assert card["url"] == match[1]


def test_with_tokens_only_the_card_and_the_health_are_open() -> None:
    task = {"task_id": "t", "question": "How many books are there?", "schema": "CREATE TABLE books (id INTEGER)"}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
    with (
        started("--port", "0", TEXT2SQL_TOKENS="bench=0123456789abcdef") as line,
        httpx.Client(base_url=line.split()[2].rstrip(","), timeout=60) as client,
    ):
        card = client.get(".well-known/agent-card.json").json()
        assert client.get("health").status_code == 200
        assert client.post("generate", json=task).status_code == 401
        assert client.post("", json=rpc).status_code == 401
        assert client.post("message:send", json={}, headers=ONE).status_code == 401
        wrong = client.post("generate", json=task, headers={"Authorization": "Bearer fedcba9876543210"})
        assert wrong.status_code == 401
        right = client.post("generate", json=task, headers={"Authorization": "Bearer 0123456789abcdef"})
        assert "COUNT" in right.json()["sql"].upper()
    [(name, scheme)] = card["securitySchemes"].items()
    assert scheme["httpAuthSecurityScheme"]["scheme"] == "Bearer"
    assert [list(needed["schemes"]) for needed in card["securityRequirements"]] == [[name]]


@pytest.mark.parametrize(("host", "here"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_listening_everywhere_the_card_says_the_name_of_the_machine(host: str, here: str) -> None:
    with started("--host", host, "--port", "0") as line:
        match = re.search(r":(\d+)/, card (http://\S+/) ", line)
        assert match
        card = httpx.get(f"http://{here}:{match[1]}/.well-known/agent-card.json", timeout=30).json()
        assert card["url"] == match[2] == f"http://{socket.gethostname()}:{match[1]}/"


def test_a_url_that_others_can_call_stands_in_the_card() -> None:
    for url in ("http://agent:9019/", "https://example.org/a2a", "http://[::1]:9019/"):
        assert checked_card_url(url) == url
    assert checked_card_url("http://agent:9019") == "http://agent:9019/"


@pytest.mark.parametrize("given", sections("a2a/card_urls.txt")["refused"][0])
def test_a_url_that_nobody_can_call_is_refused(given: str) -> None:
    with pytest.raises(CardUrlUnusable):
        checked_card_url(given)
