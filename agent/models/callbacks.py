"""What is heard of a request to an endpoint: LangChain's handlers, a tracer's span, the prompt log, a recording.

In: the call and its messages, then its reply or the pieces of one. Out: a span, a line of the log, chat-model events to
the handlers of the surrounding run (`astream_events`, LangSmith), and the texts that a `recording` keeps.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables.config import var_child_runnable_config

from agent.models.calls import Call, call_span
from agent.models.prompt_log import PromptLog
from agent.models.quirks import Messages
from agent.models.replies import Reply, Tokens


class Observed:
    """Receives a reply, whole or piece by piece."""

    def __init__(self, run: AsyncCallbackManagerForLLMRun | None) -> None:
        self._run = run
        self._began = time.monotonic()
        self.first_word: float | None = None
        """Seconds to the first text."""
        self.replies: list[Reply] = []

    async def hear(self, reply: Reply, *, show: bool = False) -> None:
        """`show`: LangChain's handlers get this piece at once."""
        self.replies.append(reply)
        if not reply.text:
            return
        if self.first_word is None:
            self.first_word = time.monotonic() - self._began
        if show and self._run is not None:
            message = AIMessageChunk(content=reply.text, id=_message_id(self._run))
            await self._run.on_llm_new_token(reply.text, chunk=ChatGenerationChunk(message=message))

    @property
    def text(self) -> str:
        return "".join(reply.text for reply in self.replies)

    @property
    def tokens(self) -> Tokens | None:
        """Those that were reported last: in a stream they come with one of its last pieces."""
        return next((reply.tokens for reply in reversed(self.replies) if reply.tokens), None)

    @property
    def model(self) -> str | None:
        """The model that answered, as named by the server."""
        return next((reply.model for reply in self.replies if reply.model), None)


@asynccontextmanager
async def observed(call: Call, messages: Messages, log: PromptLog | None) -> AsyncIterator[Observed]:
    """Bracket one request. When it ends, with or without an error, it is in the prompt log if there is one."""
    started = time.monotonic()
    seen: Observed | None = None
    error: str | None = None
    try:
        with call_span(call) as reported:
            run = await _begun(call, messages)
            seen = Observed(run)
            try:
                yield seen
            except BaseException as raised:
                if run is not None:
                    await run.on_llm_error(raised)
                raise
            if run is not None:
                await _ended(run, seen)
            if (recorded := _recorded.get()) is not None:
                recorded.keep(call.kind, seen)
            tokens = seen.tokens
            reported(
                response__model=seen.model,
                usage__input_tokens=tokens.input if tokens else None,
                usage__output_tokens=tokens.output if tokens else None,
            )
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        if log is not None:
            tokens = seen.tokens if seen else None
            used = (tokens.input, tokens.output) if tokens else None
            log.write(call.kind, call.model, messages, started=started, tokens=used, error=error)


async def _begun(call: Call, messages: Messages) -> AsyncCallbackManagerForLLMRun | None:
    """The call as a run for LangChain's handlers; None where there are none."""
    config = var_child_runnable_config.get() or {}
    manager = AsyncCallbackManager.configure(inheritable_callbacks=config.get("callbacks"))
    if not manager.handlers:
        return None
    given: list[BaseMessage] = convert_to_messages(messages)
    serialized: dict[str, Any] = {"name": call.model, "id": ["text2sql", call.kind]}
    parameters = {"model": call.model, "_type": "openai-chat"}
    name = f"chat {call.model}"
    (run,) = await manager.on_chat_model_start(serialized, [given], name=name, invocation_params=parameters)
    return run


async def _ended(run: AsyncCallbackManagerForLLMRun, seen: Observed) -> None:
    usage = None
    if (tokens := seen.tokens) is not None:
        total = tokens.input + tokens.output
        usage = UsageMetadata(input_tokens=tokens.input, output_tokens=tokens.output, total_tokens=total)
    message = AIMessage(seen.text, usage_metadata=usage, id=_message_id(run))
    await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))


def _message_id(run: AsyncCallbackManagerForLLMRun) -> str:
    """One for the pieces and the whole, so that LangGraph's stream of messages does not show both."""
    return f"run-{run.run_id}"


WRITING = ("write_sql", "review", "step", "plan")


@dataclass(slots=True)
class Replies:
    """The text of the last reply of each kind of call."""

    texts: dict[str, str] = field(default_factory=dict)
    first_word_seconds: float | None = None
    """Of the first call."""

    @property
    def raw(self) -> str:
        """The last reply that wrote SQL; empty without one."""
        return next((self.texts[call] for call in WRITING if call in self.texts), "")

    def keep(self, kind: str, seen: Observed) -> None:
        self.texts[kind] = seen.text
        if self.first_word_seconds is None:
            self.first_word_seconds = seen.first_word


_recorded: ContextVar[Replies | None] = ContextVar("replies", default=None)


@contextmanager
def recording() -> Iterator[Replies]:
    """Keep the replies to this task and those that it starts."""
    replies = Replies()
    token = _recorded.set(replies)
    try:
        yield replies
    finally:
        _recorded.reset(token)
