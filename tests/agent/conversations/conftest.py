"""A thread on the small shop, kept in a file, in PostgreSQL or in memory; and a talk on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import memory_checkpointer, open_checkpointer
from agent.runner import Answer, run
from eval.databases.base import Database
from tests.settings import overridden

Talk = Callable[..., Coroutine[Any, Any, Answer]]


@pytest.fixture
def kept(config: Settings, tmp_path: Path) -> Settings:
    """Settings with a state in a file."""
    return overridden(config, state_dir=str(tmp_path / "state"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On every store, unless the module names its `STORES`."""
    if "checkpointer" in metafunc.fixturenames:
        stores = getattr(metafunc.module, "STORES", ["file", "postgres", "memory"])
        metafunc.parametrize("checkpointer", stores, indirect=True)


@pytest.fixture
async def checkpointer(request: pytest.FixtureRequest, kept: Settings) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    if request.param == "memory":
        yield memory_checkpointer()
        return
    if request.param == "postgres":
        kept = overridden(kept, state_url=request.getfixturevalue("postgres_url"))
    async with open_checkpointer(kept.state) as opened:
        yield opened


@pytest.fixture
def talk(shop: Database, config: Settings, checkpointer: BaseCheckpointSaver[Any], request: Any) -> Talk:
    """Say something on a thread of this test's own; keywords go to the Conversation."""

    async def answer_to(words: str, model: object = "offline", thread: str = "", **more: Any) -> Answer:
        thread_id = f"{request.node.name}{thread}"
        conversation = Conversation(thread_id, checkpointer, **more)
        return await run(words, database=shop, model=model, settings=config, conversation=conversation)  # type: ignore[arg-type]

    return answer_to
