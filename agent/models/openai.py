"""A model behind any OpenAI-compatible endpoint: `OpenAIModel`.

In: the protocol's frozen requests. Out: its typed replies with their usage, or one of its errors, within the time that
the settings allow for one call, including repairs and waits. Prompts come from `agent.models.prompts`.
`agent.models.replies` parses JSON and SQL. `agent.models.quirks` records the request fields that the endpoint rejects.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from agent.models.failures import Failure, StreamCutOff, failure_of, redacted
from agent.models.judging import judged
from agent.models.prompts import (
    Prompt,
    fill,
    in_conversation,
    plan_prompt,
    review_prompt,
    sql_prompt,
    step_prompt,
    summary_prompt,
    template,
)
from agent.models.protocol import (
    Capabilities,
    Endpoint,
    Judgement,
    JudgeRequest,
    Meter,
    ModelAuthError,
    ModelError,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    PlanReply,
    PlanRequest,
    Review,
    ReviewRequest,
    SqlReply,
    SqlRequest,
    StepReply,
    StepRequest,
    Summary,
    SummaryRequest,
    Usage,
)
from agent.models.quirks import Quirks, Structure, learn, learned
from agent.models.replies import UnusableReply, complete_text, extract_json, extract_sql
from agent.models.retry_policy import RetryPolicy
from agent.models.sending import begin_sending
from agent.models.structured import (
    REVIEW_SCHEMA,
    SQL_SCHEMA,
    plan_schema,
    read_conversation,
    read_plan,
    read_review,
    read_sql,
    read_step,
    step_schema,
)
from agent.models.visible import VisibleStream, begins_thinking, visible_text
from agent.runtime.plans import single_task_plan
from agent.state import Clarification, QueryPlan

if TYPE_CHECKING:
    from agent.models.callbacks import Tokens
    from agent.models.chat import Chat, Messages, Reply

log = logging.getLogger(__name__)
T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
_MOST_CHARACTERS = 8
"""Maximum average characters per token over a whole prompt."""
_LEAST_CONTEXT = 1_000
"""Minimum tokens that a server reads of any prompt; a server that reports fewer counts differently."""
_ADAPTATIONS = 8
"""Maximum number of refused fields that one call drops."""
_WARM = 0.7
"""Temperature of all candidates except the first, if the endpoint accepts one."""
_ECHO = 4_000
"""Maximum characters of an unusable reply that are sent back to the model."""
_INTERRUPTED = "\n\n*(The connection broke; the answer starts again.)*\n\n"
_CUT_OFF = "\n\n*(The answer was cut off at the model's length limit.)*"


@dataclass(slots=True)
class _Ledger:
    """The usage of one protocol call so far, and its deadline."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    unreported: bool = False
    temperature: float = 0.0
    warning: str = ""
    failure: Failure | None = None
    """The reason for the retry now in progress."""

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.failure = None
        if reply.tokens is None:
            self.unreported = True
        else:
            self.input += reply.tokens.input
            self.output += reply.tokens.output
            self.cached += reply.tokens.cached


class OpenAIModel:
    """Implements the `Model` protocol for an OpenAI-compatible endpoint. Safe to share between tasks of one event
    loop."""

    capabilities = Capabilities()

    def __init__(self, settings: Endpoint, *, retry: RetryPolicy | None = None, meter: Meter | None = None) -> None:
        self.name = settings.model
        self._settings = settings
        self._base_url = (settings.base_url or "").strip().rstrip("/") or OPENAI_URL
        self._key = (settings.api_key or "").strip() or None
        self._retry = retry or RetryPolicy()
        self._meter = meter
        self._chat: Chat | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def plan(self, request: PlanRequest) -> PlanReply:
        """In a conversation the reply also holds the standalone question, or a clarification to ask."""
        prompt = plan_prompt(request)
        schema = plan_schema(with_sql=request.write_sql, in_conversation=in_conversation(request))
        if not in_conversation(request):
            plan, usage = await self._ask(prompt, schema, _plan_in)
            return PlanReply(plan, usage)
        (made, read_as, asked), usage = await self._ask(prompt, schema, _conversation_in)
        plan = made or single_task_plan(read_as or request.question, 0.0)
        return PlanReply(plan, usage, read_as, asked if request.may_ask else None)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        """A refusal, or a reply without SQL that gives a reason, is returned as `abstained`."""
        try:
            temperature = _WARM if request.variant else 0.0
            (sql, reasoning), usage = await self._ask(sql_prompt(request), SQL_SCHEMA, _sql_in, temperature)
        except _Declined as declined:
            return SqlReply("", declined.refusal, abstained=True, usage=declined.usage or Usage())
        return SqlReply(sql, reasoning, abstained=not sql, usage=usage)

    async def next_step(self, request: StepRequest) -> StepReply:
        """A reply that is only SQL names no tool."""
        schema = step_schema(request.allowed)
        (tool, thought, sql), usage = await self._ask(step_prompt(request), schema, _step_in)
        return StepReply(tool, thought, sql, usage)

    async def review(self, request: ReviewRequest) -> Review:
        (accepted, reasoning, sql), usage = await self._ask(review_prompt(request), REVIEW_SCHEMA, _review_in)
        return Review(accepted, reasoning, sql, usage)

    async def compose(self, prompt: Prompt, schema: dict[str, Any]) -> tuple[dict[str, object], Usage]:
        """A JSON object for a prompt of the caller's own."""
        return await self._ask(prompt, schema, _object_in)

    async def judge(self, request: JudgeRequest) -> Judgement:
        return await judged(request, self._ask)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """Streams if there is a listener. After a cut-off stream, the answer is requested again in one piece. Text that
        was shown cannot be taken back, so unless the new text continues it, a sentence says that the answer starts
        again."""
        messages = _messages(summary_prompt(request))
        ledger = _Ledger(self._settings.seconds)
        shown = _Shown(on_text)

        async def work() -> None:
            reply = await self._summary(messages, ledger, shown)
            if reply.refusal and not shown.text:
                raise _Declined(redacted(reply.refusal, self._key))
            if not shown.text:
                raise ModelReplyError("The model sent an empty answer.")
            if reply.finish_reason == "length":
                shown.add(_CUT_OFF)

        await self._within(ledger, work())
        return Summary(shown.text, self._usage(ledger))

    async def close(self) -> None:
        """Close the connections. The model may be used again afterwards."""
        chat, self._chat = self._chat, None
        if chat is not None and self._loop is asyncio.get_running_loop():
            await chat.close()

    # --- one question to the model ---

    async def _ask(
        self, prompt: Prompt, schema: dict[str, Any], read: Callable[[Reply], T], temperature: float = 0.0
    ) -> tuple[T, Usage]:
        ledger = _Ledger(self._settings.seconds, temperature=temperature)
        value = await self._within(ledger, self._structured(_messages(prompt), schema, read, ledger))
        return value, self._usage(ledger)

    async def _structured(
        self, messages: Messages, schema: dict[str, Any], read: Callable[[Reply], T], ledger: _Ledger
    ) -> T:
        """Send the request, and repeat it when the reply is unusable: in a weaker mode while the endpoint's modes are
        unproven and no JSON came, then once more with the error."""
        quirks = self._quirks()
        repaired = False
        conversation = messages
        while True:
            reply, quirks = await self._call(conversation, ledger, quirks, schema)
            if reply.refusal and not reply.text:
                raise _Declined(redacted(reply.refusal, self._key))
            try:
                value = read(reply)
            except UnusableReply as error:
                cut = reply.finish_reason == "length" and quirks.cap is not None
                weaker = None if cut or "{" in reply.text else quirks.lesser_structure()
                if weaker is not None and self._settings.structured_output == "auto":
                    quirks = weaker
                elif repaired:
                    raise ModelReplyError(f"The model's reply can't be used: {_wrong(error, reply)}.") from error
                else:
                    repaired = True
                    quirks = replace(quirks, cap=None) if cut else quirks
                log.info("unusable reply, asking again: %s", error)
                conversation = [*messages, *_repair(error, reply, schema)]
                continue
            self._learn(quirks, proven=True)
            return value

    async def _summary(self, messages: Messages, ledger: _Ledger, shown: _Shown) -> Reply:
        if shown.listened:
            streamed = await self._streamed(messages, ledger, shown)
            if streamed is not None and (shown.text or streamed.refusal):
                return streamed
        for _ in range(2):
            reply, quirks = await self._call(messages, ledger, self._quirks(), None)
            self._learn(quirks)
            text = visible_text(reply.text)
            if text or reply.refusal:
                break
        shown.restart(text)
        return reply

    async def _streamed(self, messages: Messages, ledger: _Ledger, shown: _Shown) -> Reply | None:
        """None when the stream broke off and the answer has to be requested in one piece."""
        visible = VisibleStream(thinking=self._quirks().thinks_first)

        async def once(quirks: Quirks) -> Reply | None:
            try:
                return await self._one_stream(messages, quirks, visible, shown)
            except Exception as error:
                failure = self._failure(error)
                unreadable = isinstance(error, StreamCutOff) or failure.error is ModelReplyError
                if unreadable or (shown.text and failure.retry):
                    log.info("stream cut off, asking again in one piece")
                    return None
                raise

        reply, quirks = await self._retried(once, ledger, self._quirks(), structured=False, streamed=True)
        shown.add(visible.end())
        if reply is None:
            ledger.add(_reply_type()(""))
            return None
        self._learn(quirks)
        return self._received(reply, messages, ledger)

    async def _one_stream(self, messages: Messages, quirks: Quirks, visible: VisibleStream, shown: _Shown) -> Reply:
        """Show the pieces of one stream; returns its remaining data once it has ended."""
        finish: str | None = None
        refusal = ""
        tokens = None
        async with aclosing((await self._client()).stream(messages, quirks)) as pieces:
            async for piece in pieces:
                shown.add(visible.feed(piece.text))
                finish = piece.finish_reason or finish
                refusal += piece.refusal
                tokens = piece.tokens or tokens
        return _reply_type()("", refusal=refusal, finish_reason=finish, tokens=tokens)

    async def _call(
        self, messages: Messages, ledger: _Ledger, quirks: Quirks, schema: dict[str, Any] | None
    ) -> tuple[Reply, Quirks]:
        """One complete reply, with retries, and the quirks that it was requested with. Raises ModelError."""

        async def once(quirks: Quirks) -> Reply:
            return await (await self._client()).complete(messages, quirks, schema, ledger.temperature)

        reply, quirks = await self._retried(once, ledger, quirks, structured=schema is not None, streamed=False)
        self._received(reply, messages, ledger)
        return reply, replace(quirks, thinks_first=quirks.thinks_first or begins_thinking(reply.text))

    async def _retried(
        self,
        once: Callable[[Quirks], Awaitable[T]],
        ledger: _Ledger,
        quirks: Quirks,
        *,
        structured: bool,
        streamed: bool,
    ) -> tuple[T, Quirks]:
        """The only retry loop: the result of `once`, and the quirks that it succeeded with. Raises ModelError."""
        failures = 0
        while True:
            if self._meter is not None:
                self._meter.before_call()
            cost, sending = 0.0, begin_sending()
            try:
                found = await once(quirks)
                cost = self._cost(getattr(found, "tokens", None))
                return found, quirks
            except ModelError:
                raise
            except Exception as error:  # noqa: BLE001 (each one is classified; none is dropped)
                failures += 1
                failure = self._failure(error)
            finally:
                if self._meter is not None:
                    self._meter.after_call(cost, sent=sending.sent)
            quirks = await self._after(failure, failures, quirks, ledger, structured=structured, streamed=streamed)

    def _received(self, reply: Reply, messages: Messages, ledger: _Ledger) -> Reply:
        ledger.add(reply)
        if reply.tokens is not None and (warning := truncation(messages, reply.tokens.input, reply.tokens.cached)):
            log.warning("%s", warning)
            ledger.warning = warning
        if reply.finish_reason == "content_filter":
            raise ModelReplyError("The model's content filter stopped the reply.")
        return reply

    async def _after(
        self, failure: Failure, failures: int, quirks: Quirks, ledger: _Ledger, *, structured: bool, streamed: bool
    ) -> Quirks:
        """Decide after a failed attempt: retry with a reduced request, wait and retry, or raise."""
        adaptable = structured and self._settings.structured_output == "auto"
        changed = quirks.without(failure.status, failure.said, structured=adaptable, streamed=streamed)
        changed = changed or quirks.guess(failure.status, failures - 1, structured=adaptable, streamed=streamed)
        if changed is not None and failures <= _ADAPTATIONS:
            log.info("request refused (%s), trying with less: %s", failure.status, changed)
            return changed
        wait = self._retry.wait(failure, failures, ledger.left)
        if wait is None:
            refused = failure.error(failure.message)
            refused.final = failure.status in (401, 403, 404)
            raise refused
        log.info("model call failed (%s), trying again in %.2f s", failure.message, wait)
        ledger.failure = failure
        await asyncio.sleep(wait)
        return quirks

    def _failure(self, error: Exception) -> Failure:
        return failure_of(error, base_url=self._base_url, api_key=self._key)

    async def _within(self, ledger: _Ledger, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` within the time allowed; an error carries the usage so far."""
        try:
            async with asyncio.timeout(ledger.seconds):
                return await work
        except TimeoutError:
            error: ModelError = ModelTimeout(f"The model did not finish its reply within {ledger.seconds:g} seconds.")
            if ledger.failure is not None:
                error = ledger.failure.error(ledger.failure.message)
        except ModelError as raised:
            error = raised
        error.usage = self._usage(ledger)
        raise error

    # --- what is known ---

    async def _client(self) -> Chat:
        loop = asyncio.get_running_loop()
        if self._chat is None or self._loop is not loop:
            parts = urlsplit(self._base_url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ModelRefused("OPENAI_BASE_URL is not an address: it must begin with http:// or https://.")
            if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
                raise ModelAuthError("OPENAI_API_KEY holds characters that no key has. Was it pasted whole and alone?")
            if self._key is None and self._base_url == OPENAI_URL:
                raise ModelAuthError("No key for the model. Set OPENAI_API_KEY, or OPENAI_BASE_URL for another server.")
            # One second of imports, which must not block the event loop.
            chat = await asyncio.to_thread(importlib.import_module, "agent.models.chat")
            if self._chat is None or self._loop is not loop:
                self._chat = chat.Chat(self._settings, self._base_url, self._key)
                self._loop = loop
        client: Chat = self._chat
        return client

    def _quirks(self) -> Quirks:
        known = learned(self._base_url, self.name)
        wanted = self._settings.structured_output
        forced: dict[str, Structure] = {"json_schema": "json_schema", "json_object": "json_object", "prompt": "prompt"}
        return replace(known, structure=forced[wanted], proven=True) if wanted in forced else known

    def _learn(self, quirks: Quirks, *, proven: bool = False) -> None:
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

    def _usage(self, ledger: _Ledger) -> Usage:
        """Tokens that a server doesn't report are counted as 0 and their cost as unknown, never estimated."""
        prices = (self._settings.price_input, self._settings.price_output)
        cost: float | None = None
        if prices[0] is not None and prices[1] is not None and (not ledger.unreported or prices == (0.0, 0.0)):
            cost = (ledger.input * prices[0] + ledger.output * prices[1]) / 1e6
        if ledger.calls == 0:
            cost = 0.0
        seconds = time.monotonic() - ledger.started
        warnings = (ledger.warning,) if ledger.warning else ()
        return Usage(ledger.calls, ledger.input, ledger.output, ledger.cached, cost, seconds, warnings)


class _Declined(ModelReplyError):
    """The model refused, using the `refusal` field."""

    def __init__(self, refusal: str) -> None:
        super().__init__(f"The model declined to answer: {refusal}")
        self.refusal = refusal


class _Shown:
    """The pieces of an answer that were shown; `text` is their concatenation."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []

    @property
    def listened(self) -> bool:
        return self._on_text is not None

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            if self._on_text is not None:
                self._on_text(piece)

    def restart(self, text: str) -> None:
        """Show `text`, whose beginning may already have been shown."""
        shown = self.text
        if text.startswith(shown):
            self.add(text[len(shown) :])
        elif text:
            self.add(_INTERRUPTED)
            self.add(text)


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


def _reply_type() -> type[Reply]:
    from agent.models.chat import Reply

    return Reply


def _messages(prompt: Prompt) -> Messages:
    return [("system", _sendable(prompt.system)), ("user", _sendable(prompt.user))]


def _sendable(text: str) -> str:
    """The text without lone surrogates, which broken database values may hold and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _plan_in(reply: Reply) -> QueryPlan:
    return read_plan(extract_json(complete_text(reply), keys=("tasks",)))


def _conversation_in(reply: Reply) -> tuple[QueryPlan | None, str, Clarification | None]:
    return read_conversation(extract_json(complete_text(reply), keys=("tasks",)))


def _review_in(reply: Reply) -> tuple[bool, str, str]:
    return read_review(extract_json(complete_text(reply), keys=("accept",)))


def _object_in(reply: Reply) -> dict[str, object]:
    return extract_json(complete_text(reply))


def _sql_in(reply: Reply) -> tuple[str, str]:
    """(sql, reasoning). A reply that is SQL, with or without surrounding text, is accepted in place of the requested
    JSON."""
    text = complete_text(reply)
    try:
        sql, reasoning = read_sql(extract_json(text, keys=("sql",)))
    except UnusableReply as error:
        try:
            return extract_sql(text), ""
        except UnusableReply:
            raise error from None
    return (extract_sql(sql) if "```" in sql else sql.rstrip("; \n\t")), reasoning


def _step_in(reply: Reply) -> tuple[str, str, str]:
    text = complete_text(reply)
    try:
        tool, thought, sql = read_step(extract_json(text, keys=("tool", "sql")))
    except UnusableReply as error:
        try:
            return "", "", extract_sql(text)
        except UnusableReply:
            raise error from None
    return tool, thought, (extract_sql(sql) if "```" in sql else sql.rstrip("; \n\t"))


def _repair(error: UnusableReply, reply: Reply, schema: dict[str, Any]) -> Messages:
    asked = fill(template("repair").user, {"problem": str(error), "schema": json.dumps(schema)})
    echo = _sendable(visible_text(reply.text)[:_ECHO])
    return [("assistant", echo), ("user", asked)] if echo else [("user", asked)]


def _wrong(error: UnusableReply, reply: Reply) -> str:
    text = redacted(visible_text(reply.text), None)
    return f"{error} (it said: {text})" if text else str(error)
