"""The agent with a real, very small model under llama.cpp's server: sloppy replies are seen through, nothing hangs.

TEXT2SQL_TEST_MODEL_SERVER is the path of `llama-server`, TEXT2SQL_TEST_MODEL that of a GGUF file,
TEXT2SQL_TEST_CHAT_TEMPLATE (if the file has none) that of a chat template. The model is no writer of SQL, so nothing is
said of its answers but that they are honest. `-s` prints the figures.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.config import Settings
from agent.models.distrust import flaw, trusted_sql
from agent.runner import run
from tests.asgi_server import serving
from tests.optional import needs_live_model

pytestmark = needs_live_model

RUN_SECONDS = 60.0
SLACK_SECONDS = 30.0
"""For imports, statements and the summary by rules, on busy cores."""
QUESTIONS = ("How many customers are there?", "Which product has the highest price?")


@dataclass(frozen=True)
class Live:
    address: str
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "OPENAI_API_KEY": "",
            "TEXT2SQL_MODEL": "live",
            "TEXT2SQL_RUN_SECONDS": str(RUN_SECONDS),
            "TEXT2SQL_STATE_DIR": str(self.folder / "state"),
        }

    @property
    def settings(self) -> Settings:
        return Settings(_env_file=None, **self.variables)

    def idle(self) -> bool:
        slots = httpx.get(f"{self.address}/slots", trust_env=False, timeout=30).json()
        return not any(slot["is_processing"] for slot in slots)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [os.environ["TEXT2SQL_TEST_MODEL_SERVER"], "-m", os.environ["TEXT2SQL_TEST_MODEL"]]
    command += ["--host", "127.0.0.1", "--port", str(port), "-c", "8192", "-np", "1", "-t", "1", "--jinja"]
    command += ["--swa-full", "--slots"]
    if template := os.environ.get("TEXT2SQL_TEST_CHAT_TEMPLATE"):
        command += ["--chat-template-file", template]
    with (folder / "server.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        address = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 120
        while not _ready(address):
            assert server.poll() is None, (folder / "server.log").read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.5)
        yield Live(address, folder)
        server.terminate()


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", trust_env=False, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def believed(answer: dict[str, Any]) -> None:
    """What the user sees as an answer is neither a template nor the prompt."""
    for attempt in answer.get("attempts") or []:
        if attempt["status"] == "success":
            assert trusted_sql(attempt["sql"])
    if answer["status"] in ("success", "doubtful"):
        assert not flaw(answer["answer"]), answer["answer"]
    tokens = answer["tokens"]
    print(f"\n{answer['status']}: {answer['seconds']:.1f} s, {tokens['calls']} calls, {tokens['input']} in, "
          f"{tokens['cached']} cached, {tokens['output']} out")  # fmt: skip


def test_a_server_streams_a_question_and_its_follow_up(live: Live) -> None:
    from agent.server.app import create_app

    with serving(lambda _: create_app(live.settings)) as url, httpx.Client(base_url=url, trust_env=False) as client:
        started = time.monotonic()
        reply = client.post("/query", json={"question": QUESTIONS[0]}, timeout=RUN_SECONDS + SLACK_SECONDS)
        events = [json.loads(line[5:]) for line in reply.text.splitlines() if line.startswith("data:")]
        assert events[-1]["event"] == "done"
        believed(next(e["data"] for e in events if e["event"] == "answer"))
        assert time.monotonic() - started < RUN_SECONDS + SLACK_SECONDS


async def test_a_run_that_is_cancelled_stops_the_server(live: Live) -> None:
    running = asyncio.create_task(run(QUESTIONS[1], settings=live.settings))
    until = time.monotonic() + RUN_SECONDS
    while await asyncio.to_thread(live.idle):
        assert time.monotonic() < until
        await asyncio.sleep(0.2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    until = time.monotonic() + 30
    while not await asyncio.to_thread(live.idle):
        assert time.monotonic() < until
        await asyncio.sleep(0.2)
