"""One call to an OpenAI-compatible endpoint through langchain-openai, and what others hear of it. The import is slow;
only `agent.models.endpoint` imports this module.

In: messages and the request fields that the endpoint is known to accept. Out: a `Reply`, or the client library's own
exceptions. langchain-openai builds the client and the request, and reads the reply; the openai library sends it. Hidden
retries are off, timeouts and the address are explicit, and each client has its own connections, which are closed with
it. Of each call hear a tracer, the prompt log, and the handlers of a LangChain run around it (`astream_events`,
LangSmith).
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables.config import var_child_runnable_config
from langchain_openai import ChatOpenAI
from openai._streaming import ServerSentEvent
from pydantic import SecretStr

from agent.models.calls import Call, PromptLog, call_span, replies_kept
from agent.models.connections import Connections
from agent.models.failures import StreamCutOff
from agent.models.protocol import Endpoint
from agent.models.quirks import ChatRequest, Messages
from agent.models.replies import Reply, Tokens
from agent.models.structured import response_format

CONNECT_SECONDS = 10.0
_PATH = "/chat/completions"
_EVENTS = "text/event-stream"


class _Chunks(openai.AsyncStream[object]):
    """The chunks of a stream. An event without data (`retry: 3000`, `event: ping`) is dropped, as the specification of
    server-sent events asks; the library reads it as JSON and fails."""

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        async for event in super()._iter_events():
            if event.data.strip() and event.event != "ping":
                yield event


class _EndpointChat(ChatOpenAI):
    """langchain-openai's conversion of messages, replies and stream chunks. Keeps two fields that it drops:
    `reasoning_content` and, in streams, `refusal`."""

    def payload(self, messages: Messages) -> dict[str, Any]:
        return self._get_request_payload(messages)

    def reply(self, response: object) -> Reply:
        """May raise any exception if the response is not a reply."""
        read: Any = json.loads(response) if isinstance(response, str) else response  # JSON that is labelled as text
        generation = self._create_chat_result(read).generations[0]
        choice = read["choices"][0]
        return _reply(generation, choice.get("message"), read.get("model"), choice.get("logprobs"))

    def piece(self, chunk: Any) -> Reply | None:
        generation = self._convert_chunk_to_generation_chunk(chunk, AIMessageChunk, None)
        if generation is None:
            return None
        choice = (chunk.get("choices") or [{}])[0]
        return _reply(generation, choice.get("delta"), chunk.get("model"), choice.get("logprobs"))


class Chat:
    """The client for one endpoint, model and event loop."""

    def __init__(self, settings: Endpoint, base_url: str, api_key: str | None) -> None:
        address = urlsplit(base_url)
        query = dict(parse_qsl(address.query))
        headers = dict(settings.extra_headers)
        if api_key and "api-version" in query:  # Azure's classic endpoints expect the key in a separate header
            headers.setdefault("api-key", api_key)
        self._settings = settings
        timeout = openai.Timeout(settings.seconds, connect=min(CONNECT_SECONDS, settings.seconds))
        self._model = settings.model
        self._base_url = base_url
        self._log = PromptLog(Path(settings.prompt_log)) if settings.prompt_log else None
        self._connections = Connections(timeout)
        self._chat = _EndpointChat(
            model=settings.model,
            api_key=SecretStr(api_key or "not-needed"),
            base_url=urlunsplit(address._replace(query="")),
            default_query=query,
            default_headers=headers,
            timeout=timeout,
            max_retries=0,
            http_async_client=self._connections.first,
            use_responses_api=False,
        )
        self._connections.open(self._chat.root_async_client)

    async def complete(self, asked: ChatRequest) -> Reply:
        body = self._body(asked, {"stream": False})
        async with self._observed(asked) as seen:
            async with self._connections.one() as pool:
                response = await pool.client.post(_PATH, cast_to=httpx2.Response, body=body)
            reply = self._chat.reply(_content(response))
            await seen.hear(reply)
            return reply

    async def stream(self, asked: ChatRequest) -> AsyncGenerator[Reply, None]:
        """Pieces of the reply; the last one has a finish reason. A reply that comes whole, from a server that does not
        stream, is one piece. Raises StreamCutOff when the stream ends without a finish reason."""
        usage = {"stream_options": {"include_usage": True}} if asked.quirks.stream_usage else {}
        body = self._body(asked, {"stream": True, **usage})
        async with (
            self._observed(asked) as seen,
            self._connections.one() as pool,
            await pool.client.post(_PATH, cast_to=object, body=body, stream=True, stream_cls=_Chunks) as chunks,
        ):
            if not chunks.response.headers.get("content-type", _EVENTS).startswith(_EVENTS):
                await chunks.response.aread()
                reply = self._chat.reply(_content(chunks.response))
                await seen.hear(reply)
                yield reply
                return
            async for chunk in chunks:
                if (piece := self._chat.piece(chunk)) is not None:
                    await seen.hear(piece, show=asked.schema is None)  # pieces of JSON are nothing to show
                    yield piece
            if not any(piece.finish_reason for piece in seen.replies):
                raise StreamCutOff

    async def close(self) -> None:
        await self._connections.close()

    def _body(self, asked: ChatRequest, fields: dict[str, Any]) -> dict[str, Any]:
        """The request in JSON. The fields are added unchanged at the end, because langchain-openai renames fields that
        it handles itself."""
        quirks, schema = asked.quirks, asked.schema
        if quirks.effort and self._settings.reasoning_effort:
            fields["reasoning_effort"] = self._settings.reasoning_effort
        if quirks.cap is not None:
            fields[quirks.cap] = asked.cap
        if schema is not None and quirks.structure == "json_schema":
            fields["response_format"] = response_format(schema)
        elif schema is not None and quirks.structure == "json_object":
            fields["response_format"] = {"type": "json_object"}
        if quirks.temperature:
            fields["temperature"] = max(asked.temperature, self._settings.temperature)
        if asked.logprobs and quirks.logprobs:
            fields["logprobs"] = True
        sent = asked.messages
        if not quirks.system_role:  # the instructions are put in front of the first user message
            system = "\n\n".join(text for role, text in sent if role == "system")
            (role, first), *others = [(role, text) for role, text in sent if role != "system"]
            sent = [(role, f"{system}\n\n{first}"), *others]
        return {**self._chat.payload(sent), **fields, **self._settings.extra_body}

    def _observed(self, asked: ChatRequest) -> AbstractAsyncContextManager[Observed]:
        properties = (asked.schema or {}).get("properties", {})
        kind = next((kind for name, kind in _KINDS if name in properties), "summarize")
        return observed(Call(kind, self._model, self._base_url), asked.messages, self._log)


def _content(response: httpx2.Response) -> object:
    """JSON, or the text that came instead."""
    kind = response.headers.get("content-type", "*").split(";")[0]
    return json.loads(response.content) if kind.endswith("json") else response.text


_KINDS = (("tasks", "plan"), ("accept", "review"), ("sql", "write_sql"), ("score", "judge"))
"""(property of the reply, call) in order: the first property that is there tells the call."""


def _reply(generation: ChatGeneration, raw: object, model: object, logprobs: object) -> Reply:
    """`raw` and `logprobs`: of the message, or of a piece of it, as received."""
    kept = raw if isinstance(raw, dict) else {}
    thoughts, refusal = kept.get("reasoning_content") or kept.get("reasoning"), kept.get("refusal")
    reason = (generation.generation_info or {}).get("finish_reason")
    said = logprobs.get("content") if isinstance(logprobs, dict) else None
    told = [token.get("logprob") for token in said if isinstance(token, dict)] if isinstance(said, list) else []
    message, tokens = generation.message, None
    if isinstance(message, AIMessage) and (used := message.usage_metadata) is not None:
        details = used.get("input_token_details") or {}
        cached = sum(int(str(n)) for name, n in details.items() if name.endswith("cache_read") and n)
        tokens = Tokens(used["input_tokens"], used["output_tokens"], cached)
    return Reply(
        text=str(message.text),
        thoughts=thoughts if isinstance(thoughts, str) else "",
        refusal=refusal if isinstance(refusal, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        tokens=tokens,
        model=model if isinstance(model, str) else None,
        logprobs=tuple(float(one) for one in told if isinstance(one, int | float)),
    )


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
            if (kept := replies_kept.get()) is not None:
                kept.keep(call.kind, seen.text, seen.first_word)
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
