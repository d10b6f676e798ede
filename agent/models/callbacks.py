"""Reports model calls to LangChain's callbacks: `astream_events`, LangSmith and other handlers of the graph's run; and
a handler of ours (`recording`), which keeps the replies as they came.

In: the messages of a call, then its text and tokens. Out: chat-model events to the handlers of the surrounding run, one
for each piece of a streamed reply among them. Without handlers, the only cost is the check.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManager, AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.context import register_configure_hook

from agent.models.replies import Tokens

FIRST_WORD = "first_word_seconds"
"""In the output of a call: seconds from its start to its first text."""


class Report:
    """Receives a reply, whole or piece by piece, and its tokens once they are known."""

    def __init__(self, run: AsyncCallbackManagerForLLMRun | None = None) -> None:
        """Without a run, nothing is kept."""
        self._run = run
        self._began = time.monotonic()
        self.message_id = f"run-{run.run_id}" if run else ""
        """One for the pieces and the whole, so that LangGraph's stream of messages does not show both."""
        self.first_word: float | None = None
        """Seconds to the first text."""
        self.text: list[str] = []
        self.tokens: Tokens | None = None

    def whole(self, text: str, tokens: Tokens | None) -> None:
        if self._run is not None:
            if text and self.first_word is None:
                self.first_word = time.monotonic() - self._began
            self.text.append(text)
            self.tokens = tokens or self.tokens

    async def piece(self, text: str, tokens: Tokens | None) -> None:
        """A piece of a streamed reply: the handlers get it at once."""
        if self._run is None:
            return
        self.whole(text, tokens)
        if text:
            message = AIMessageChunk(content=text, id=self.message_id)
            await self._run.on_llm_new_token(text, chunk=ChatGenerationChunk(message=message))


@asynccontextmanager
async def reported_call(call: str, model: str, messages: list[tuple[str, str]]) -> AsyncIterator[Report]:
    """Bracket one request to an endpoint."""
    config = var_child_runnable_config.get() or {}
    manager = AsyncCallbackManager.configure(inheritable_callbacks=config.get("callbacks"))
    if not manager.handlers:
        yield Report()
        return
    given: list[BaseMessage] = convert_to_messages(messages)
    serialized: dict[str, Any] = {"name": model, "id": ["text2sql", call]}
    (run,) = await manager.on_chat_model_start(
        serialized, [given], name=f"chat {model}", invocation_params={"model": model, "_type": "openai-chat"}
    )
    report = Report(run)
    try:
        yield report
    except BaseException as error:
        await run.on_llm_error(error)
        raise
    usage = None
    if report.tokens is not None:
        read, written = report.tokens.input, report.tokens.output
        usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    message = AIMessage("".join(report.text), usage_metadata=usage, id=report.message_id)
    generation = ChatGeneration(message=message)
    await run.on_llm_end(LLMResult(generations=[[generation]], llm_output={FIRST_WORD: report.first_word}))


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
