"""The server as a client meets it, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from experiments.recorded.answers import Answers, load_answers
from experiments.recorded.server import application, running
from tests.experiments.recorded.conftest import COUNT

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
