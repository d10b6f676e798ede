"""One call to an OpenAI-compatible endpoint through langchain-openai. Heavy to import: only `agent.models.openai` does.

In: messages and the request fields that the endpoint is known to take. Out: a `Reply`, or the client library's own
exceptions. Hidden retries are off, time-outs and the address explicit, and each client has its own connections, so
that closing it closes them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import openai
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent.models.calls import call_span
from agent.models.failures import StreamCutOff
from agent.models.prompt_log import PromptLog
from agent.models.protocol import ModelSettings
from agent.models.quirks import OUTPUT_TOKENS, Quirks

CONNECT_SECONDS = 10.0

# Advice on langchain-openai's own options, printed when an endpoint refuses a schema; we go on without the schema.
warnings.filterwarnings(
    "ignore", message="This model does not support OpenAI's structured output", category=UserWarning
)
warnings.filterwarnings("ignore", message="Invalid schema for OpenAI's structured output", category=UserWarning)

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
    """Keeps two fields that ChatOpenAI drops: `reasoning_content` and, in streams, `refusal`."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        raw = response if isinstance(response, dict) else response.model_dump(warnings=False)
        for generation, choice in zip(result.generations, raw.get("choices") or (), strict=False):
            _keep(generation.message, choice.get("message"))
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        generation = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        choices = chunk.get("choices")
        if generation is not None and choices:
            _keep(generation.message, choices[0].get("delta"))
        return generation


def _keep(message: BaseMessage, raw: object) -> None:
    if isinstance(raw, dict):
        thoughts = raw.get("reasoning_content") or raw.get("reasoning")
        if isinstance(thoughts, str):
            message.additional_kwargs["reasoning_content"] = thoughts
        if isinstance(raw.get("refusal"), str):
            message.additional_kwargs["refusal"] = raw["refusal"]


class Chat:
    """The client for one endpoint, model and event loop."""

    def __init__(self, settings: ModelSettings, base_url: str, api_key: str | None) -> None:
        timeout = openai.Timeout(settings.seconds, connect=min(CONNECT_SECONDS, settings.seconds))
        self._model = settings.model
        self._log = PromptLog(Path(settings.prompt_log)) if settings.prompt_log else None
        self._http = openai.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=True)
        self._chat = _EndpointChat(
            model=settings.model,
            api_key=SecretStr(api_key or "not-needed"),
            base_url=base_url,
            timeout=timeout,
            max_retries=0,
            http_async_client=self._http,
            use_responses_api=False,
            stream_chunk_timeout=None,
        )

    async def complete(
        self, messages: Messages, quirks: Quirks, schema: dict[str, Any] | None, temperature: float = 0.0
    ) -> Reply:
        with self._logged(_call_kind(schema), messages) as seen:
            try:
                reply = _reply(await self._chat.ainvoke(messages, stream=False, **_fields(quirks, schema, temperature)))
            except UserWarning as warning:
                # Where warnings are errors, the advice takes the place of the refusal that it is about.
                if isinstance(warning.__context__, Exception):
                    raise warning.__context__ from None
                raise
            seen.append(reply.tokens)
            return reply

    async def stream(self, messages: Messages, quirks: Quirks) -> AsyncGenerator[Reply, None]:
        """Pieces of the reply; the last one has a finish reason. Raises StreamCutOff when none ever does."""
        finished = False
        chunks = self._chat.astream(messages, stream_usage=quirks.stream_usage, **_fields(quirks, None))
        with self._logged(_call_kind(None), messages) as seen:
            async with aclosing(cast("AsyncGenerator[AIMessageChunk, None]", chunks)) as received:
                async for chunk in received:
                    piece = _reply(chunk)
                    finished = finished or bool(piece.finish_reason)
                    seen.append(piece.tokens)
                    yield piece
            if not finished:
                raise StreamCutOff

    async def close(self) -> None:
        await self._http.aclose()

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
    """Request fields beside the messages. What langchain-openai would rename or treat specially goes by `extra_body`:
    a `response_format` that it sees makes it raise on replies that can still be repaired."""
    body: dict[str, Any] = {}
    if quirks.cap is not None:
        body[quirks.cap] = OUTPUT_TOKENS
    if schema is not None and quirks.structure == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        }
    elif schema is not None and quirks.structure == "json_object":
        body["response_format"] = {"type": "json_object"}
    fields: dict[str, Any] = {"extra_body": body} if body else {}
    if quirks.temperature:
        fields["temperature"] = temperature
    return fields


def _reply(message: BaseMessage) -> Reply:
    kept = message.additional_kwargs
    reason = message.response_metadata.get("finish_reason")
    return Reply(
        text=str(message.text),
        thoughts=kept.get("reasoning_content", ""),
        refusal=kept.get("refusal", ""),
        finish_reason=reason if isinstance(reason, str) else None,
        tokens=_tokens(message),
    )


def _tokens(message: BaseMessage) -> Tokens | None:
    used = message.usage_metadata if isinstance(message, AIMessage) else None
    if used is None:
        return None
    details = used.get("input_token_details") or {}
    cached = sum(int(str(n)) for name, n in details.items() if name.endswith("cache_read") and n)
    return Tokens(used["input_tokens"], used["output_tokens"], cached)
