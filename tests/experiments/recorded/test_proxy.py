"""Recording a server and replaying it with the server gone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.runner import Answer, run
from eval.databases.base import Database
from eval.scoring import efficiency
from experiments.recorded.exchanges import Exchanges, Recorder, load_exchanges
from experiments.recorded.proxy import HIDDEN, RecordingProxy
from experiments.recorded.server import application, running
from tests.experiments.recorded.conftest import ModelAt
from tests.openai_server import OpenAIServer, Reply, Request, chunks, completion, error

KEY = "sk-recorded-0123456789"
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def upstream() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@contextmanager
def recording_of(url: str, file: Path) -> Iterator[str]:
    with Recorder(file) as recorder, running(RecordingProxy(url, recorder).application()) as proxy:
        yield proxy


@contextmanager
def replaying(file: Path) -> Iterator[str]:
    with running(application(Exchanges(load_exchanges(file)[0]))) as url:
        yield url


def post(url: str, **more: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {KEY}"}
    return httpx.post(f"{url}/chat/completions", json={**ASKED, **more}, headers=headers, trust_env=False, timeout=5)


def as_a_model(request: Request) -> Reply:
    """A model that plans one task, fails at the first attempt, mends it, judges and summarises."""
    system = request.prompt
    if "Plan how to answer" in system:
        task = {"id": "a", "description": "Count the ships.", "depends_on": []}
        return completion({"plan_type": "single", "confidence": 0.8, "tasks": [task]})
    if "Judge whether the result" in system:
        return completion({"reasoning": "it counts them", "score": 0.9})
    if "Answer the question from the results" in system:
        return completion("There are **3** ships.")
    if "<failed_sql>" in system:
        return completion({"reasoning": "the table is ships", "sql": "SELECT COUNT(*) FROM ships"})
    return completion({"reasoning": "a guess", "sql": "SELECT COUNT(*) FROM boats"})


async def test_a_recorded_run_is_replayed_with_identical_answers_and_the_server_gone(
    file: Path, port: Database, model_at: ModelAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(efficiency, "FREE_MS", 60_000.0)  # a busy machine takes longer at one of the two

    async def answered(url: str) -> dict[str, Any]:
        answer: Answer = await run("How many ships are there?", database=port, model=model_at(url, api_key=KEY))
        fields = answer.model_dump(mode="json", exclude={"seconds"})
        for attempt in fields["attempts"]:
            del attempt["execution_time_ms"]
        return fields

    with OpenAIServer() as upstream:
        upstream.script(error(429, "slow down", headers={"retry-after-ms": "20"}), error(500, "hiccup"))
        upstream.otherwise = as_a_model
        with recording_of(upstream.url, file) as url:
            live = await answered(url)
        asked = len(upstream.requests)
    with replaying(file) as url:
        replayed = await answered(url)

    assert (live["rows"], live["answer"]) == ([[3]], "There are **3** ships.")
    assert [attempt["sql"] for attempt in live["attempts"]] == [
        "SELECT COUNT(*) FROM boats",
        "SELECT COUNT(*) FROM ships",
    ]
    assert live["tokens"]["input"] > 0
    assert replayed == live
    kept = load_exchanges(file)[0]
    assert len(kept) == asked
    assert [e.status for e in kept][:3] == [429, 500, 200]
    assert kept[0].headers == {"retry-after-ms": "20"}


def test_the_server_gets_the_key_and_the_recording_does_not(upstream: OpenAIServer, file: Path) -> None:
    upstream.script(completion("hello"), error(401, f"Incorrect API key provided: {KEY}"))

    with recording_of(upstream.url, file) as url:
        statuses = [post(url).status_code, post(url).status_code]

    assert statuses == [200, 401]
    assert [r.headers["authorization"] for r in upstream.requests] == [f"Bearer {KEY}"] * 2
    assert upstream.requests[0].headers["host"] == upstream.url.split("/")[2]
    kept = file.read_text()
    assert KEY not in kept
    assert "authorization" not in kept.lower()
    assert f"provided: {HIDDEN}" in json.loads(kept.splitlines()[2])["body"]


def test_a_stream_is_passed_on_as_it_comes(upstream: OpenAIServer, file: Path) -> None:
    upstream.script(chunks("one ", "two ", "three", pause=0.15))

    with (
        recording_of(upstream.url, file) as url,
        httpx.stream("POST", f"{url}/chat/completions", json={**ASKED, "stream": True}, trust_env=False) as reply,
    ):
        arrived = [(time.monotonic(), piece) for piece in reply.iter_text()]

    assert arrived[-1][0] - arrived[0][0] > 0.3
    with replaying(file) as url:
        assert post(url, stream=True).text == "".join(piece for _, piece in arrived)
