"""One call to an OpenAI-compatible endpoint through langchain-openai. Heavy to import: only `agent.models.openai` does.

In: messages and the request fields that the endpoint is known to take. Out: a `Reply`, or the client library's own
exceptions. langchain-openai makes the client, the request and what is read of a reply; the call itself goes without
callbacks and typed copies of every reply, which nobody asks for and which took a third of its processor time. Hidden
retries are off, time-outs and the address explicit, and each client has its own connections, so that closing it closes
them.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import openai
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent.models.calls import call_span
from agent.models.connections import Connections
from agent.models.failures import StreamCutOff
from agent.models.prompt_log import PromptLog
from agent.models.protocol import ModelSettings
from agent.models.quirks import OUTPUT_TOKENS, Quirks

CONNECT_SECONDS = 10.0

_PATH = "/chat/completions"
_Chunks = openai.AsyncStream[object]

Messages = list[tuple[str, str]]
"""(role, text) pairs."""


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    thoughts: str = ""
    """`reasoning_content`, where a server keeps it apart."""
    refusal: str = ""
    finish_reason: str | None = None
    tokens: Tokens | None = None
    """None: not reported."""


class _EndpointChat(ChatOpenAI):
    """What langchain-openai makes of messages, replies and pieces of replies; two fields that it drops are kept:
    `reasoning_content` and, in streams, `refusal`."""

    def body(self, messages: Messages, fields: dict[str, Any]) -> dict[str, Any]:
        """The request in JSON. The fields are laid on top as they are: what langchain-openai is shown, it renames."""
        return {**self._get_request_payload(messages), **fields}

    def reply(self, response: object) -> Reply:
        """Raises what cannot be told beforehand, where the response is no reply."""
        read = json.loads(response) if isinstance(response, str) else response  # JSON that is labelled as text
        generation = self._create_chat_result(cast("dict[str, Any]", read)).generations[0]
        return _reply(generation, read["choices"][0].get("message"))  # type: ignore[index]

    def piece(self, chunk: Any) -> Reply | None:
        generation = self._convert_chunk_to_generation_chunk(chunk, AIMessageChunk, None)
        if generation is None:
            return None
        choices = chunk.get("choices")
        return _reply(generation, choices[0].get("delta") if choices else None)


class Chat:
    """The client for one endpoint, model and event loop."""

    def __init__(self, settings: ModelSettings, base_url: str, api_key: str | None) -> None:
        timeout = openai.Timeout(settings.seconds, connect=min(CONNECT_SECONDS, settings.seconds))
        self._model = settings.model
        self._log = PromptLog(Path(settings.prompt_log)) if settings.prompt_log else None
        self._connections = Connections(timeout)
        self._chat = _EndpointChat(
            model=settings.model,
            api_key=SecretStr(api_key or "not-needed"),
            base_url=base_url,
            timeout=timeout,
            max_retries=0,
            http_async_client=self._connections.first,
            use_responses_api=False,
        )
        self._connections.open(self._chat.root_async_client)

    async def complete(
        self, messages: Messages, quirks: Quirks, schema: dict[str, Any] | None, temperature: float = 0.0
    ) -> Reply:
        body = self._chat.body(messages, {"stream": False, **_fields(quirks, schema, temperature)})
        with self._logged(_call_kind(schema), messages) as seen:
            async with self._connections.one() as client:
                response = await client.post(_PATH, cast_to=object, body=body)
            reply = self._chat.reply(response)
            seen.append(reply.tokens)
            return reply

    async def stream(self, messages: Messages, quirks: Quirks) -> AsyncGenerator[Reply, None]:
        """Pieces of the reply; the last one has a finish reason. Raises StreamCutOff when none ever does."""
        finished = False
        usage = {"stream_options": {"include_usage": True}} if quirks.stream_usage else {}
        body = self._chat.body(messages, {"stream": True, **usage, **_fields(quirks, None)})
        with self._logged(_call_kind(None), messages) as seen:
            async with (
                self._connections.one() as client,
                await client.post(_PATH, cast_to=object, body=body, stream=True, stream_cls=_Chunks) as chunks,
            ):
                async for chunk in chunks:
                    if (piece := self._chat.piece(chunk)) is not None:
                        finished = finished or bool(piece.finish_reason)
                        seen.append(piece.tokens)
                        yield piece
            if not finished:
                raise StreamCutOff

    async def close(self) -> None:
        await self._connections.close()

    @contextmanager
    def _logged(self, call: str, messages: Messages) -> Iterator[list[Tokens | None]]:
        """Bracket a request; once it has ended, however it did, write what was sent, where a log is kept."""
        seen: list[Tokens | None] = []
        started = time.monotonic()
        error: str | None = None
        try:
            with call_span(call, self._model):
                yield seen
        except BaseException as raised:
            error = type(raised).__name__
            raise
        finally:
            used = next((tokens for tokens in reversed(seen) if tokens), None)
            tokens = (used.input, used.output) if used else None
            if self._log is not None:
                self._log.write(call, self._model, messages, started=started, tokens=tokens, error=error)


def _call_kind(schema: dict[str, Any] | None) -> str:
    """Which call of the protocol asks for a reply like this."""
    asked = (schema or {}).get("properties", {})
    return (
        "plan"
        if "tasks" in asked
        else "review"
        if "accept" in asked
        else "write_sql"
        if "sql" in asked
        else "judge"
        if "score" in asked
        else "summarize"
    )


def _fields(quirks: Quirks, schema: dict[str, Any] | None, temperature: float = 0.0) -> dict[str, Any]:
    """Request fields beside the messages."""
    fields: dict[str, Any] = {}
    if quirks.cap is not None:
        fields[quirks.cap] = OUTPUT_TOKENS
    if schema is not None and quirks.structure == "json_schema":
        fields["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        }
    elif schema is not None and quirks.structure == "json_object":
        fields["response_format"] = {"type": "json_object"}
    if quirks.temperature:
        fields["temperature"] = temperature
    return fields


def _reply(generation: ChatGeneration, raw: object) -> Reply:
    """`raw`: the message, or a piece of it, as it came."""
    kept = raw if isinstance(raw, dict) else {}
    thoughts = kept.get("reasoning_content") or kept.get("reasoning")
    refusal = kept.get("refusal")
    reason = (generation.generation_info or {}).get("finish_reason")
    return Reply(
        text=str(generation.message.text),
        thoughts=thoughts if isinstance(thoughts, str) else "",
        refusal=refusal if isinstance(refusal, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        tokens=_tokens(generation.message),
    )


def _tokens(message: BaseMessage) -> Tokens | None:
    used = message.usage_metadata if isinstance(message, AIMessage) else None
    if used is None:
        return None
    details = used.get("input_token_details") or {}
    cached = sum(int(str(n)) for name, n in details.items() if name.endswith("cache_read") and n)
    return Tokens(used["input_tokens"], used["output_tokens"], cached)
