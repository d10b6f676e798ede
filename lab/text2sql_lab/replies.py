"""Replies of a model as they came: a handler of LangChain's callbacks that keeps them while the lab measures.

In: the chat-model events that `agent.models.callbacks` reports within `recording`. Out: the text of the last reply of
each kind of call, and the seconds to the first word.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult
from langchain_core.tracers.context import register_configure_hook

from agent.models.callbacks import FIRST_WORD

WRITING = ("write_sql", "review", "step", "plan")


class Replies(AsyncCallbackHandler):
    """Keeps the text of the last reply of each kind of call."""

    def __init__(self) -> None:
        self._calls: dict[UUID, str] = {}
        self.texts: dict[str, str] = {}
        self.first_word_seconds: float | None = None
        """Of the first call."""

    @property
    def raw(self) -> str:
        """The last reply that wrote SQL; empty without one."""
        return next((self.texts[call] for call in WRITING if call in self.texts), "")

    async def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        del messages
        self._calls[run_id] = str(serialized["id"][-1])

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self.texts[self._calls.pop(run_id, "")] = response.generations[0][0].text
        if self.first_word_seconds is None:
            self.first_word_seconds = (response.llm_output or {}).get(FIRST_WORD)


_heard: ContextVar[Replies | None] = ContextVar("replies", default=None)
register_configure_hook(_heard, inheritable=True)


@contextmanager
def recording() -> Iterator[Replies]:
    replies = Replies()
    token = _heard.set(replies)
    try:
        yield replies
    finally:
        _heard.reset(token)
