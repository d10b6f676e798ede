"""The server as a client meets it, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from experiments.recorded.answers import Answers, load_answers
from experiments.recorded.faults import Faults
from experiments.recorded.server import application, bound, running, url_of
from tests.experiments.recorded.conftest import COUNT, HEAVY

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": COUNT}]}
TEXT = "```sql\nSELECT COUNT(*) FROM ships\n```"


@contextmanager
def client_of(recording: Path, questions: Path, **options: Any) -> Iterator[httpx.Client]:
    app = application(Answers(load_answers(recording, questions)), **options)
    with running(app) as url, httpx.Client(base_url=url, timeout=5.0, trust_env=False) as client:
        yield client


def test_a_completion_comes_whole_or_as_a_stream(recording: Path, questions: Path) -> None:
    with client_of(recording, questions) as client:
        whole = client.post("/chat/completions", json=ASKED).json()
        streamed = client.post("/chat/completions", json={**ASKED, "stream": True})

    assert whole["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
    ]
    assert (whole["object"], whole["model"]) == ("chat.completion", "m")
    assert streamed.headers["content-type"].startswith("text/event-stream")
    *events, last = [line.removeprefix("data: ") for line in streamed.text.split("\n\n") if line]
    choices = [json.loads(event)["choices"][0] for event in events]
    assert last == "[DONE]"
    assert "".join(choice["delta"].get("content", "") for choice in choices) == TEXT
    assert len(choices) > 3
    assert choices[-1]["finish_reason"] == "stop"


def test_models_are_listed_and_other_requests_refused_as_errors(recording: Path, questions: Path) -> None:
    with client_of(recording, questions) as client:
        models = client.get("/models").json()
        refused = {
            "unknown path": client.post("/responses", json={}),
            "no JSON": client.post("/chat/completions", content=b"{"),
            "no object": client.post("/chat/completions", content=b"[" * 100_000),
            "unknown question": client.post("/chat/completions", json={"messages": [{"role": "user", "content": "?"}]}),
        }

    assert [model["id"] for model in models["data"]] == ["recorded"]
    assert {name: reply.status_code for name, reply in refused.items()} == {
        "unknown path": 404,
        "no JSON": 400,
        "no object": 400,
        "unknown question": 404,
    }
    assert all(reply.json()["error"]["message"] for reply in refused.values())


@pytest.mark.parametrize("stream", [False, True])
def test_failures_reach_the_client_as_they_would_in_life(recording: Path, questions: Path, stream: bool) -> None:
    def post(kind: str) -> httpx.Response:
        with client_of(recording, questions, faults=Faults({kind: 1.0})) as client:
            return client.post("/chat/completions", json={**ASKED, "stream": stream})

    limited = post("429")
    assert (limited.status_code, limited.headers["retry-after"]) == (429, "1")
    assert post("500").status_code == 500
    broken = post("broken")
    assert broken.status_code == 200
    with pytest.raises(ValueError, match=r"Unterminated|Expecting|Extra data"):
        json.loads(broken.text.split("\n\n")[-1].removeprefix("data: "))
    with pytest.raises(httpx.RemoteProtocolError):
        post("cut")


def test_replies_can_be_slow_without_holding_each_other_up(recording: Path, questions: Path) -> None:
    with client_of(recording, questions, delay=0.5) as client:
        started = time.monotonic()
        sending = {"target": client.post, "args": ("/chat/completions",), "kwargs": {"json": ASKED}}
        threads = [threading.Thread(**sending) for _ in range(8)]  # type: ignore[arg-type]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = time.monotonic() - started

    assert 0.5 <= spent < 8 * 0.5


def test_a_port_that_is_taken_is_an_error(recording: Path, questions: Path) -> None:
    app = application(Answers(load_answers(recording, questions)))
    with bound() as busy:
        busy.listen()
        port = int(url_of(busy).rpartition(":")[2].removesuffix("/v1"))
        with pytest.raises(OSError, match="in use"), running(app, port):
            pass


def test_runs_under_way_at_once_do_not_mix_up_their_attempts(recording: Path, questions: Path) -> None:
    """Two conversations about one question, the requests of one between those of the other."""

    def ask(client: httpx.Client, failed: str) -> str:
        prompt = f"<question>\n{HEAVY}\n</question>" + (f"\n<failed_sql>\n{failed}\n</failed_sql>" if failed else "")
        body = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
        content = client.post("/chat/completions", json=body).json()["choices"][0]["message"]["content"]
        return str(content).strip("`").removeprefix("sql").strip()

    one, other = [""], [""]
    with client_of(recording, questions) as client:
        for _ in range(3):
            one.append(ask(client, one[-1]))
            other.append(ask(client, other[-1]))

    assert one == other
    assert len(set(one)) == 4
