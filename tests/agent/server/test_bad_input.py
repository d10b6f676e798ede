"""Whatever comes in, a client gets a clear refusal in one form, and the server goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.agent.server.running import Begun, Running, model_at, running, scripted, settings_for, wait_until
from tests.openai_server import OpenAIServer
from tests.pairs import rows, sections

INJECTIONS = sections("server/requests.txt")["injections"][0]


def refused(answer: httpx.Response) -> tuple[int, str]:
    error = answer.json()["error"]
    assert set(error) == {"kind", "message", "request_id"}
    assert error["message"]
    assert "Traceback" not in answer.text
    assert answer.headers["x-request-id"] == error["request_id"]
    return answer.status_code, error["kind"]


@pytest.fixture(autouse=True)
def healthy(server: Running) -> Iterator[None]:
    yield
    assert server.get("/health").json()["status"] == "ok"
    wait_until(lambda: server.get("/ready").json()["ready"])


JSON = {"Content-Type": "application/json"}


def test_a_body_that_is_no_json_or_holds_half_a_character(server: Running) -> None:
    broken, half = b"{question:", b'{"question": "how many \\ud800 customers"}'
    assert refused(httpx.post(f"{server.url}/query", content=broken, headers=JSON)) == (400, "bad_request")
    answer = httpx.post(f"{server.url}/query", content=half, headers=JSON, timeout=30)

    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert json.loads(answer.text.split("data: ")[-1])["event"] == "done"


@pytest.mark.parametrize("name", INJECTIONS)
def test_hostile_names_in_paths(server: Running, name: str) -> None:
    for path in (
        f"/schema/{name}",
        f"/schema/shop/{name}/sample",
        f"/schema/shop/customers/{name}/values",
        f"/runs/{name}",
        f"/threads/{name}",
    ):
        assert refused(server.get(path)) in ((404, "not_found"), (400, "bad_request"))
    assert server.get("/schema/shop/customers/sample?limit=1").status_code == 200


LARGE = [("POST", "/query", {"question": "x" * length}, 413, "too_large") for length in (30_000, 1_000_000)]
PRESETS = [("POST", "/query", {"question": "x", "preset": name}, 404, "not_found") for name in INJECTIONS]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"), [*rows("server/wrong_requests.jsonl"), *LARGE, *PRESETS]
)
def test_what_is_of_the_wrong_form_or_not_there(
    server: Running, method: str, path: str, body: object, status: int, kind: str
) -> None:
    assert refused(httpx.request(method, server.url + path, json=body, timeout=30)) == (status, kind)


@pytest.mark.parametrize("url", ["sqlite:////etc/passwd", "", "postgresql://ana:s3cr3t-word@127.0.0.1:59999/none"])
def test_a_database_that_may_not_be_connected(server: Running, url: str) -> None:
    answer = server.post("/databases", {"url": url})

    assert "s3cr3t-word" not in answer.text
    assert refused(answer) in ((403, "forbidden"), (400, "bad_request"))


def test_an_upload_tells_how_far_it_is_or_that_it_is_none(server: Running) -> None:
    def sent(content: bytes) -> list[dict[str, Any]]:
        files, headers = {"file": ("fees.csv", content)}, {"Accept": "text/event-stream"}
        answer = httpx.post(f"{server.url}/databases/upload", files=files, headers=headers, timeout=60)
        assert answer.status_code == 201
        return [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]

    *steps, last = sent(b"who,fee\na,5\nb,6\n")
    assert [step["doing"] for step in steps] == ["reading fees", "writing fees", "writing"]
    assert sorted(step["part"] for step in steps) == [step["part"] for step in steps]
    assert last["database"]["name"] == "fees.csv"
    assert sent(b"who,fee\na,5\nb,6\n") == [last]  # the same file again is the same database
    [refusal] = sent(b"\1\2")
    assert refusal["error"]["kind"] == "bad_request"
    broken = {"file": ("x.sqlite", b"SQLite format 3\0" + b"\xff" * 2000)}
    assert refused(httpx.post(f"{server.url}/databases/upload", files=broken, timeout=60)) == (400, "bad_request")
    assert refused(httpx.post(f"{server.url}/databases/upload", files={"other": b"x"})) == (400, "bad_request")
    assert refused(httpx.post(f"{server.url}/databases/upload", content=b"x")) == (415, "bad_request")


def test_as_many_runs_as_there_is_room_for(tmp_path: Path, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    config = settings_for(tmp_path, **model_at(endpoint), TEXT2SQL_MAX_RUNS=2)
    with running(config) as small:
        with Begun(small.port), Begun(small.port):
            answer = small.post("/query", {"question": "How many customers are there?"})
        assert refused(answer) == (503, "busy")
        assert int(answer.headers["retry-after"]) >= 1
