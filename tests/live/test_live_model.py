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
import sqlite3
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
from agent.models.quirks import OPINION_TOKENS, SQL_TOKENS, SUMMARY_TOKENS
from agent.runner import run
from eval.databases import open_database
from tests.asgi_server import serving
from tests.optional import needs_live_model
from text2sql import Thread
from text2sql.errors import QuestionFailed

pytestmark = needs_live_model

RUN_SECONDS = 60.0
SLACK_SECONDS = 30.0
"""For imports, statements and the summary by rules, on busy cores."""
QUESTIONS = ("How many customers are there?", "Which product has the highest price?")
BRIEF = {"max_tokens": 24, "max_completion_tokens": 24}
CAPS = {"plan": SQL_TOKENS, "write_sql": 2 * SQL_TOKENS, "review": SQL_TOKENS, "judge": OPINION_TOKENS}


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
            "TEXT2SQL_PROMPT_LOG": str(self.folder / "prompts.jsonl"),
            "TEXT2SQL_STATE_DIR": str(self.folder / "state"),
        }

    @property
    def settings(self) -> Settings:
        return Settings(_env_file=None, **self.variables)

    @property
    def brief(self) -> Settings:
        """Replies of a few tokens, for what does not depend on what they say."""
        return self.settings.changed(model={"extra_body": BRIEF}, limits={"run_seconds": 4 * RUN_SECONDS})

    def calls(self) -> list[dict[str, Any]]:
        log = self.folder / "prompts.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

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


async def test_a_conversation_goes_on(live: Live) -> None:
    thread = Thread(settings=live.brief)
    for text in (QUESTIONS[0], "only those from Germany"):
        try:
            believed((await thread.run(text)).model_dump())
        except QuestionFailed as failed:
            believed(failed.answer.model_dump())


@pytest.mark.parametrize("strategy", ["react", "full"])
async def test_a_strategy_of_many_calls_ends_in_time(live: Live, strategy: str) -> None:
    settings = live.settings.changed(judging={"strategy": strategy})
    started = time.monotonic()
    answer = await run(QUESTIONS[1], settings=settings)
    believed(answer.model_dump())
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


async def test_a_context_too_small_for_the_schema_is_told(live: Live) -> None:
    """Prompts of a run that asks for far more than 8,000 tokens are shortened until they fit."""
    tables = "".join(
        f"CREATE TABLE area_{n} ({', '.join(f'figure_{c}_of_area TEXT' for c in range(30))});" for n in range(40)
    )
    file = live.folder / "wide.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(tables)
    connection.close()
    settings = live.brief.changed(limits={"run_seconds": 4 * RUN_SECONDS, "schema_tokens": 24_000})
    with open_database(str(file)) as database:
        answer = await run("How many rows are in area_7?", database=database, settings=settings)
    assert any("TEXT2SQL_SCHEMA_TOKENS" in doubt for doubt in answer.doubts), answer


async def test_the_second_question_finds_the_database_in_the_cache(live: Live) -> None:
    settings = live.settings.changed(judging={"strategy": "cascade"}, limits={"run_seconds": 4 * RUN_SECONDS})
    first = "Whoever bought the most stuff back in the day?"
    second = "Any folks around that never got anything from us?"
    answers = [await run(question, settings=settings) for question in (first, second)]
    assert all(answer.attempts for answer in answers), answers
    assert answers[1].tokens.cached >= 0.8 * answers[1].tokens.input


def test_no_call_went_past_its_cap_and_the_cache_was_used(live: Live) -> None:
    calls = live.calls()
    assert calls
    for call in calls:
        if call["tokens"] is not None:
            assert call["tokens"]["output"] <= CAPS.get(call["call"], SUMMARY_TOKENS), call["call"]
    print(f"\n{len(calls)} calls, the longest {max(call['seconds'] for call in calls):.1f} s")
