"""The client of one OpenAI-compatible endpoint: one call with its retries, what the endpoint refuses, what was spent.

In: messages, a JSON Schema or none, and the `Ledger` of a protocol call. Out: a complete reply, or one of the
protocol's errors. `agent.models.quirks` records the request fields that the endpoint rejects.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent.models.calls import begin_delivery, written
from agent.models.distrust import TAIL, loop
from agent.models.failures import Failure, RetryPolicy, StreamCutOff, failure_of
from agent.models.protocol import (
    Endpoint,
    Meter,
    ModelAuthError,
    ModelError,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    PromptTooLong,
    Usage,
)
from agent.models.quirks import OUTPUT_TOKENS, ChatRequest, Messages, Quirks, learn, learned
from agent.models.replies import Reply, Tokens, begins_thinking, thinks
from eval.parallel import PACE, Pace

if TYPE_CHECKING:
    from agent.models.chat import Chat

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
_MOST_CHARACTERS = 8
"""Maximum average characters per token over a whole prompt."""
_LEAST_CONTEXT = 1_000
"""Minimum tokens that a server reads of any prompt; a server that reports fewer counts differently."""
_ADAPTATIONS = 8
"""Maximum number of refused fields that one call drops."""
_WATCHED = 160
"""Characters after which a text that is being written is looked at again."""
_pace = Pace()


@dataclass(slots=True)
class Ledger:
    """The usage of one protocol call so far, and how long its server may be silent."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    spent: Usage = field(default_factory=Usage)
    temperature: float = 0.0
    logprobs: bool = False
    cap: int = OUTPUT_TOKENS
    """Maximum tokens of a reply of a model that does not think."""
    warning: str = ""
    failure: Failure | None = None
    """The reason for the retry now in progress."""
    deadline: asyncio.Timeout | None = None
    _last: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that the server may stay silent from now on."""
        return self.seconds - (time.monotonic() - self._last)

    def heard(self) -> None:
        """A piece of a reply has come: the time allowed begins anew."""
        self._last = time.monotonic()
        if self.deadline is not None:
            self.deadline.reschedule(asyncio.get_running_loop().time() + self.seconds)


class EndpointClient:
    """Calls one endpoint. Safe to share between tasks of one event loop."""

    def __init__(self, settings: Endpoint, retry: RetryPolicy, meter: Meter | None) -> None:
        self.name = settings.model
        self.key = (settings.api_key or "").strip() or None
        self._settings = settings
        self._base_url = (settings.base_url or "").strip().rstrip("/") or OPENAI_URL
        self._retry = retry
        self._meter = meter
        self._chat: Chat | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def close(self) -> None:
        """Close the connections. The client may be used again afterwards."""
        chat, self._chat = self._chat, None
        if chat is not None and self._loop is asyncio.get_running_loop():
            await chat.close()

    async def call(
        self,
        messages: Messages,
        ledger: Ledger,
        quirks: Quirks,
        schema: dict[str, Any] | None,
        on_piece: Callable[[Reply], str] | None = None,
    ) -> tuple[Reply, Quirks]:
        """One complete reply, with retries, and the quirks that it was requested with. Raises ModelError.

        It comes as a stream, so that silence, and a model that repeats itself without end, are noticed and the server
        is told to stop. `on_piece` sees each piece, and may say why the reply is not worth going on with. A stream that
        breaks off or cannot be read is followed by the reply in one piece."""
        silent = broken = False

        async def once(quirks: Quirks) -> Reply:
            nonlocal silent, broken
            chat = await self.client()
            if self._settings.served is not None:
                ledger.heard()  # it may have had to load its model
            cap = OUTPUT_TOKENS if quirks.thinks or self._settings.reasoning_effort else ledger.cap
            asked = ChatRequest(messages, quirks, schema, cap, ledger.temperature, ledger.logprobs)
            if quirks.streams and not broken:
                pieces: list[Reply] = []
                try:
                    return await _gathered(chat.stream(asked), pieces, ledger, on_piece)
                except Exception as error:
                    told = any(p.text or p.thoughts or p.refusal or p.finish_reason or p.tokens for p in pieces)
                    unreadable = isinstance(error, StreamCutOff) or self.failure(error).error is ModelReplyError
                    if not (pieces and (unreadable or (told and self.failure(error).retry))):
                        raise
                    log.info("stream cut off, asking again in one piece")
                    silent, broken = not told, True
                    self._spend(None, ledger)
            return await chat.complete(asked)

        reply, quirks = await self.retried(once, ledger, quirks, structured=schema is not None)
        ledger.heard()
        self._spend(reply.tokens, ledger)
        if reply.tokens is not None and (warning := truncation(messages, reply.tokens.input, reply.tokens.cached)):
            log.warning("%s", warning)
            ledger.warning = warning
        if reply.finish_reason == "content_filter":
            raise ModelReplyError("The model's content filter stopped the reply.")
        learned = replace(
            quirks,
            streams=quirks.streams and not silent,
            stream_proven=quirks.stream_proven or (quirks.streams and not broken),
            thinks=quirks.thinks or bool(reply.thoughts) or thinks(reply.text),
            thinks_first=quirks.thinks_first or begins_thinking(reply.text),
        )
        return reply, learned

    async def retried(
        self, once: Callable[[Quirks], Awaitable[Reply]], ledger: Ledger, quirks: Quirks, *, structured: bool
    ) -> tuple[Reply, Quirks]:
        """The only retry loop: the result of `once`, and the quirks that it succeeded with. Raises ModelError."""
        failures = 0
        adaptable = structured and self._settings.structured_output == "auto"
        while True:
            await _turn(self._base_url, self._settings.requests_per_minute)
            if self._meter is not None:
                self._meter.before_call()
            cost, delivery = 0.0, begin_delivery() if self._meter is not None else None
            try:
                reply = await once(quirks)
                cost = self._cost(reply.tokens)
                return reply, quirks
            except ModelError:
                raise
            except Exception as error:  # noqa: BLE001 (each one is classified; none is dropped)
                failures += 1
                failure = self.failure(error)
            finally:
                if self._meter is not None and delivery is not None:
                    self._meter.after_call(cost, sent=delivery.sent)
            # Retry with a reduced request, wait and retry, or raise
            told = failure.sizes is not None and failure.sizes[1] + ledger.cap < failure.sizes[0]  # with no cap, too
            changed = None if told else quirks.without(failure.status, failure.reply, structured=adaptable)
            if changed is None and failure.error is not PromptTooLong:
                with_logprobs = ledger.logprobs
                changed = quirks.guess(failure.status, failures - 1, structured=adaptable, with_logprobs=with_logprobs)
            if changed is not None and failures <= _ADAPTATIONS:
                log.info("request refused (%s), trying with less: %s", failure.status, changed)
                quirks = changed
                continue
            wait = self._retry.wait(failure, failures, ledger.left)
            if wait is None:
                refused = failure.error(failure.message)
                # A server that limits requests, or an empty account, would refuse the next step's call, too.
                refused.final = failure.status in (401, 402, 403, 404, 429)
                if isinstance(refused, PromptTooLong):
                    refused.sizes = failure.sizes
                raise refused
            log.info("model call failed (%s), trying again in %.2f s", failure.message, wait)
            ledger.failure = failure
            await asyncio.sleep(wait)

    def failure(self, error: Exception) -> Failure:
        return failure_of(error, base_url=self._base_url, api_key=self.key)

    @asynccontextmanager
    async def within(self, ledger: Ledger) -> AsyncIterator[None]:
        """The block may go on while the server is not silent for longer than allowed; an error carries the usage so
        far."""
        try:
            async with asyncio.timeout(ledger.seconds) as ledger.deadline:
                yield
                return
        except TimeoutError:
            error: ModelError = ModelTimeout(f"The model sent nothing for {ledger.seconds:g} seconds.")
            if ledger.failure is not None:
                error = ledger.failure.error(ledger.failure.message)
        except ModelError as raised:
            error = raised
        error.usage = self.usage(ledger)
        raise error

    async def client(self) -> Chat:
        loop = asyncio.get_running_loop()
        # Start the server, or take note that it has been started again
        if self._settings.served is not None:
            base_url, key = await self._settings.served()
            if (base_url, key) != (self._base_url, self.key):
                await self.close()
                self._base_url, self.key = base_url, key
        if self._chat is None or self._loop is not loop:
            parts = urlsplit(self._base_url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ModelRefused("OPENAI_BASE_URL is not an address: it must begin with http:// or https://.")
            if not self.name:
                raise ModelRefused(f"{self._base_url} lists no models. Name one with TEXT2SQL_MODEL or --model.")
            if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
                raise ModelAuthError("OPENAI_API_KEY holds characters that no key has. Was it pasted whole and alone?")
            if self.key is None and self._base_url == OPENAI_URL:
                raise ModelAuthError("No key for the model. Set OPENAI_API_KEY, or OPENAI_BASE_URL for another server.")
            # One second of imports, which must not block the event loop.
            chat = await asyncio.to_thread(importlib.import_module, "agent.models.chat")
            if self._chat is None or self._loop is not loop:
                self._chat = chat.Chat(self._settings, self._base_url, self.key)
                self._loop = loop
        client: Chat = self._chat
        return client

    def quirks(self) -> Quirks:
        known = learned(self._base_url, self.name)
        wanted = self._settings.structured_output
        return known if wanted == "auto" else replace(known, structure=wanted, proven=True)

    def learn(self, quirks: Quirks, *, proven: bool = False) -> None:
        proven = proven or quirks.proven
        if self._settings.structured_output != "auto":
            known = learned(self._base_url, self.name)
            quirks, proven = replace(quirks, structure=known.structure), known.proven
        learn(self._base_url, self.name, replace(quirks, proven=proven))

    def _cost(self, tokens: Tokens | None) -> float:
        """Dollars of one reply, as far as it is known."""
        if tokens is None:
            return 0.0
        return (
            tokens.input * (self._settings.price_input or 0.0) + tokens.output * (self._settings.price_output or 0.0)
        ) / 1e6

    def _spend(self, tokens: Tokens | None, ledger: Ledger) -> None:
        """Tokens that a server doesn't report are counted as 0 and their cost as unknown, never estimated."""
        ledger.failure = None
        prices = (self._settings.price_input, self._settings.price_output)
        known = None not in prices and (tokens is not None or prices == (0.0, 0.0))
        cost = self._cost(tokens) if known else None
        read, written, cached = (tokens.input, tokens.output, tokens.cached) if tokens else (0, 0, 0)
        ledger.spent += Usage(1, read, written, cached, cost)

    def usage(self, ledger: Ledger) -> Usage:
        warnings = (ledger.warning,) if ledger.warning else ()
        return replace(ledger.spent, seconds=time.monotonic() - ledger.started, warnings=warnings)


async def _gathered(
    stream: AsyncGenerator[Reply, None],
    pieces: list[Reply],
    ledger: Ledger,
    on_piece: Callable[[Reply], str] | None,
) -> Reply:
    """The pieces of a stream, joined; as they come, they are added to `pieces`."""
    tail, unseen, stopped = "", 0, ""
    async with aclosing(stream) as coming:
        async for piece in coming:
            pieces.append(piece)
            text = piece.text or piece.thoughts
            if text or piece.refusal:
                ledger.heard()
                written()
                tail, unseen = (tail + text)[-TAIL:], unseen + len(text)
                if unseen >= _WATCHED:
                    unseen, stopped = 0, loop(tail)
                if on_piece is not None:
                    stopped = on_piece(piece) or stopped
            if stopped:
                break
    return Reply(
        "".join(piece.text for piece in pieces),
        "".join(piece.thoughts for piece in pieces),
        "".join(piece.refusal for piece in pieces),
        next((piece.finish_reason for piece in reversed(pieces) if piece.finish_reason), None),
        next((piece.tokens for piece in reversed(pieces) if piece.tokens), None),
        next((piece.model for piece in pieces if piece.model), None),
        tuple(one for piece in pieces for one in piece.logprobs),
        stopped,
    )


async def _turn(endpoint: str, per_minute: int) -> None:
    """Wait for this request's turn: at most so many a minute go to an endpoint, over all questions of this process, or
    in a worker of `eval.parallel` of the cluster, whose row of waiting requests is an actor. 0: without limit."""
    if per_minute <= 0:
        return
    shared = None
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        with suppress(ValueError):
            shared = ray.get_actor(PACE)
    wait = _pace.wait(endpoint, per_minute) if shared is None else await shared.wait.remote(endpoint, per_minute)
    if wait > 0:
        await asyncio.sleep(wait)


def truncation(messages: Messages, read: int, cached: int) -> str:
    """A warning if the server read far less than it was sent, else empty. Ollama truncates silently beyond its context
    (4,096 tokens by default). Ordinary text never has more than eight characters per token."""
    sent = sum(len(text) for _, text in messages)
    if cached or not _LEAST_CONTEXT <= read < sent / _MOST_CHARACTERS:
        return ""
    return (
        f"The model's server read only {read:,} tokens of a prompt of {sent:,} characters, so the model did not see "
        "all of it. Raise the server's context length (Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile)."
    )
