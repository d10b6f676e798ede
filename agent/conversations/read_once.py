"""A thread's state is read once a turn, although two steps of the turn ask for it.

In: the checkpointer's reading. Out: its result, kept within `one_turn` until something is written. The lease of the run
is the lock of its thread, so nobody else writes in between. Outside of `one_turn` nothing is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple, copy_checkpoint

Config = Any
"""LangChain's RunnableConfig; only `agent.models` imports that library."""

_read: ContextVar[dict[str, CheckpointTuple | None] | None] = ContextVar("read", default=None)


@contextmanager
def one_turn(empty_thread: str | None = None) -> Iterator[None]:
    """`empty_thread`: the id of a thread that was just created, of which there is nothing to read."""
    token = _read.set({} if empty_thread is None else {empty_thread: None})
    try:
        yield
    finally:
        _read.reset(token)


async def read_once(config: Config, read: Callable[[], Awaitable[CheckpointTuple | None]]) -> CheckpointTuple | None:
    """The latest checkpoint of a thread; one that is named by its id is always read."""
    known, wanted = _read.get(), config["configurable"]
    if known is None or wanted.get("checkpoint_id") or wanted.get("checkpoint_ns"):
        return await read()
    thread_id = str(wanted["thread_id"])
    if thread_id not in known:
        known[thread_id] = await read()
    kept = known[thread_id]
    return kept and kept._replace(checkpoint=copy_checkpoint(kept.checkpoint))


def forget_read(config: Config) -> None:
    known = _read.get()
    if known is not None:
        known.pop(str(config["configurable"]["thread_id"]), None)
