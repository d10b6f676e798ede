"""Reports model calls to LangChain's callbacks: `astream_events`, LangSmith and other handlers of the graph's run.

In: the messages of a call, then its text and tokens. Out: chat-model events to the handlers of the surrounding run.
Without handlers, the only cost is the check.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables.config import var_child_runnable_config


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cached: int


Report = Callable[[str, Tokens | None], None]
"""Receives each piece of a reply, and the tokens once they are known."""


@asynccontextmanager
async def reported_call(call: str, model: str, messages: list[tuple[str, str]]) -> AsyncIterator[Report]:
    """Bracket one request to an endpoint."""
    config = var_child_runnable_config.get() or {}
    manager = AsyncCallbackManager.configure(inheritable_callbacks=config.get("callbacks"))
    text: list[str] = []
    used: list[Tokens] = []

    def report(piece: str, tokens: Tokens | None) -> None:
        text.append(piece)
        if tokens is not None:
            used.append(tokens)

    if not manager.handlers:
        yield report
        return
    given: list[BaseMessage] = convert_to_messages(messages)
    serialized: dict[str, Any] = {"name": model, "id": ["text2sql", call]}
    (run,) = await manager.on_chat_model_start(
        serialized, [given], name=f"chat {model}", invocation_params={"model": model, "_type": "openai-chat"}
    )
    try:
        yield report
    except BaseException as error:
        await run.on_llm_error(error)
        raise
    usage = None
    if used:
        total = used[-1].input + used[-1].output
        usage = UsageMetadata(input_tokens=used[-1].input, output_tokens=used[-1].output, total_tokens=total)
    message = AIMessage("".join(text), usage_metadata=usage)
    await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
