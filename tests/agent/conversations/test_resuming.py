"""A process that is killed at the start of any step: asked again, the run goes on there. No step and no call of a model
that had ended is done twice, and the answer is the same.

Run as a program, this file is the process that is killed: `STATE DATABASE CALLS KILLED_AT`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import open_checkpointer
from agent.events import Event
from agent.models.protocol import Judgement, JudgeRequest, PlanReply, PlanRequest, SqlReply, SqlRequest
from agent.runner import stream
from agent.runtime.context import RunContext
from tests import commands
from tests.samples import sampled
from text2sql.testing import ScriptedModel

MODULE = "tests.agent.conversations.test_resuming"
ROOT = Path(__file__).resolve().parents[3]
QUESTION = "List the names of all customers"
FIRST, RIGHT = (
    "SELECT nam FROM customers",
    "SELECT a.name FROM customers AS a, customers AS b, customers AS c ORDER BY a.name",
)
"""The second returns more rows than a thread keeps."""


class Counting(ScriptedModel):
    """Writes down each call that ended; the first query of a run fails."""

    def __init__(self, calls: Path) -> None:
        super().__init__(FIRST, relevance=0.9)
        self._calls = calls

    def _ended(self, call: str) -> None:
        with self._calls.open("a") as file:
            file.write(call + "\n")

    async def plan(self, request: PlanRequest) -> PlanReply:
        reply = await super().plan(request)
        self._ended("plan")
        return reply

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        reply = await super().write_sql(request)
        self._ended(f"sql {request.attempt}")
        return SqlReply(FIRST if request.attempt == 1 else RIGHT, "because", usage=reply.usage)

    async def judge(self, request: JudgeRequest) -> Judgement:
        reply = await super().judge(request)
        self._ended("judge")
        return reply


async def turn(state: Path, url: str, database: str, calls: Path, **more: Any) -> list[Event]:
    """The events of a turn."""
    config = Settings.model_validate({"TEXT2SQL_STATE_DIR": str(state), "TEXT2SQL_STATE_URL": url or None})
    async with open_checkpointer(config.state) as checkpointer:
        thread = Conversation("t", checkpointer, **more)
        options: Any = {"database": database, "model": Counting(calls), "settings": config, "conversation": thread}
        return [event async for event in stream(QUESTION, **options)]


def kill_at(step: int) -> None:
    """End this process when that step begins."""
    announced, begun = RunContext.announce, []

    def announce(self: RunContext, node: str, *more: Any) -> None:
        if node not in self._running:
            begun.append(node)
        if len(begun) == step:
            os._exit(9)
        announced(self, node, *more)

    RunContext.announce = announce  # type: ignore[assignment,method-assign]


def steps_of(events: list[Event]) -> list[str]:
    return [event.node for event in events if event.event == "node" and event.status == "running"]


def answer_of(events: list[Event]) -> dict[str, Any]:
    [answer] = [event.data for event in events if event.event == "answer"]
    return answer.model_dump(include={"status", "sql", "rows", "answer", "score"})


@pytest.mark.parametrize("kept", sampled(["postgres", "sqlite"], 2))
async def test_a_killed_run_goes_on_with_the_step_that_it_did_not_end(
    kept: str, request: pytest.FixtureRequest, tmp_path: Path, shop_file: Path
) -> None:
    calls = tmp_path / "whole"
    url = request.getfixturevalue("postgres_url") if kept == "postgres" else ""
    whole = await turn(tmp_path / "state", "", str(shop_file), calls)
    expected_calls, expected_steps = calls.read_text().splitlines(), steps_of(whole)
    assert len(answer_of(whole)["rows"]) == 64
    assert {"planner", "retry_handler", "summarizer"} < set(expected_steps)

    for killed_at in sampled(range(2, len(expected_steps) + 1), 2):
        calls = tmp_path / f"calls {killed_at}"
        calls.touch()
        words = [str(tmp_path / f"state {killed_at}"), url, str(shop_file), str(calls), str(killed_at)]
        assert (await asyncio.to_thread(commands.run, "-m", MODULE, *words, cwd=ROOT)).returncode == 9

        again = await turn(Path(words[0]), url, str(shop_file), calls, before=1, go_on=True, turn=2)

        assert answer_of(again) == answer_of(whole), expected_steps[killed_at - 1]
        assert steps_of(again) == expected_steps[killed_at - 1 :]
        assert [e.data.step for e in again if e.event == "resumed"] == [expected_steps[killed_at - 1]]
        assert calls.read_text().splitlines() == expected_calls
        if url:
            async with open_checkpointer(Settings.model_validate({"TEXT2SQL_STATE_URL": url}).state) as checkpointer:
                await checkpointer.adelete_thread("t")


if __name__ == "__main__":
    state, url, database, calls, killed_at = sys.argv[1:]
    kill_at(int(killed_at))
    asyncio.run(turn(Path(state), url, database, Path(calls)))
