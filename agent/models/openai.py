"""A model behind any OpenAI-compatible endpoint: `OpenAIModel`.

In: the protocol's frozen requests. Out: its typed replies with what they cost, or one of its errors within the time
that the settings allow for one call, repairs and waiting included. Prompts come from `agent.models.prompts`, JSON and
SQL are read by `agent.models.replies`, what the endpoint dislikes is learned in `agent.models.quirks`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from agent.models.failures import Failure, StreamCutOff, failure_of, redacted
from agent.models.prompts import (
    Prompt,
    fill,
    in_conversation,
    judge_prompt,
    plan_prompt,
    review_prompt,
    sql_prompt,
    step_prompt,
    summary_prompt,
    template,
)
from agent.models.protocol import (
    Judgement,
    JudgeRequest,
    ModelAuthError,
    ModelError,
    ModelRefused,
    ModelReplyError,
    ModelSettings,
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
from agent.models.replies import UnusableReply, extract_json, extract_sql
from agent.models.retrying import RetryPolicy
from agent.models.structured import (
    CONVERSATION_SCHEMA,
    JUDGE_SCHEMA,
    PLAN_SCHEMA,
    REVIEW_SCHEMA,
    SQL_SCHEMA,
    read_conversation,
    read_judgement,
    read_plan,
    read_review,
    read_sql,
    read_step,
    step_schema,
)
from agent.models.visible import VisibleStream, begins_thinking, visible_text
from agent.plans import single_task_plan
from agent.state import Clarification, QueryPlan

if TYPE_CHECKING:
    from agent.models.chat import Chat, Messages, Reply

log = logging.getLogger(__name__)
T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
_ADAPTATIONS = 8
"""Refused fields that one call gives up at most."""
_WARM = 0.7
"""Temperature of all candidates but the first, where the endpoint takes one."""
_ECHO = 4_000
"""Characters of an unusable reply that go back to the model."""
_INTERRUPTED = "\n\n*(The connection broke; the answer starts again.)*\n\n"
_CUT_OFF = "\n\n*(The answer was cut off at the model's length limit.)*"


@dataclass(slots=True)
class _Ledger:
    """What one protocol call has consumed so far, and until when it may go on."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    unreported: bool = False
    temperature: float = 0.0
    failure: Failure | None = None
    """What the attempt now under way is a retry of."""

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
    """Speaks the `Model` protocol with an OpenAI-compatible endpoint. Safe to share between tasks of one event loop."""

    offline = False

    def __init__(self, settings: ModelSettings, *, retry: RetryPolicy | None = None) -> None:
        self.name = settings.model
        self._settings = settings
        self._base_url = (settings.base_url or "").strip().rstrip("/") or OPENAI_URL
        self._key = (settings.api_key or "").strip() or None
        self._retry = retry or RetryPolicy()
        self._chat: Chat | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def plan(self, request: PlanRequest) -> PlanReply:
        """In a conversation the reply also says what the question means on its own, or what has to be asked back."""
        prompt = plan_prompt(request)
        if not in_conversation(request):
            plan, usage = await self._ask(prompt, PLAN_SCHEMA, _plan_in)
            return PlanReply(plan, usage)
        (made, read_as, asked), usage = await self._ask(prompt, CONVERSATION_SCHEMA, _conversation_in)
        plan = made or single_task_plan(read_as or request.question, 0.0)
        return PlanReply(plan, usage, read_as, asked if request.may_ask else None)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        """A reply without SQL that says why, and a refusal, come back as `abstained`."""
        try:
            temperature = _WARM if request.variant else 0.0
            (sql, reasoning), usage = await self._ask(sql_prompt(request), SQL_SCHEMA, _sql_in, temperature)
        except _Declined as declined:
            return SqlReply("", declined.refusal, abstained=True, usage=declined.usage or Usage())
        return SqlReply(sql, reasoning, abstained=not sql, usage=usage)

    async def next_step(self, request: StepRequest) -> StepReply:
        """A reply that is SQL alone names no tool."""
        schema = step_schema(request.allowed)
        (tool, thought, sql), usage = await self._ask(step_prompt(request), schema, _step_in)
        return StepReply(tool, thought, sql, usage)

    async def review(self, request: ReviewRequest) -> Review:
        (accepted, reasoning, sql), usage = await self._ask(review_prompt(request), REVIEW_SCHEMA, _review_in)
        return Review(accepted, reasoning, sql, usage)

    async def judge(self, request: JudgeRequest) -> Judgement:
        (score, reasoning), usage = await self._ask(judge_prompt(request), JUDGE_SCHEMA, _judgement_in)
        return Judgement(score, reasoning, usage)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """Streams when someone listens. A stream that is cut off is asked for again in one piece; what was shown can't
        be taken back, so unless the new text goes on from it, a sentence says that the answer starts again."""
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
        """Ask, and ask again when the reply is of no use: in a weaker mode while the endpoint's modes are unproven and
        no JSON came, then once more with what was wrong."""
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
        """None when the stream broke off, so that the answer is to be asked for in one piece."""
        from agent.models.chat import Reply

        quirks = self._quirks()
        visible = VisibleStream(thinking=quirks.thinks_first)
        finish: str | None = None
        refusal = ""
        tokens = None
        failures = 0
        while True:
            chat = await self._client()
            try:
                async with aclosing(chat.stream(messages, quirks)) as pieces:
                    async for piece in pieces:
                        shown.add(visible.feed(piece.text))
                        finish = piece.finish_reason or finish
                        refusal += piece.refusal
                        tokens = piece.tokens or tokens
            except Exception as error:  # noqa: BLE001 (each one is classified; none is dropped)
                failure = self._failure(error)
                unreadable = isinstance(error, StreamCutOff) or failure.error is ModelReplyError
                if unreadable or (shown.text and failure.retry):
                    ledger.add(Reply(""))
                    shown.add(visible.end())
                    log.info("stream cut off, asking again in one piece")
                    return None
                failures += 1
                quirks = await self._after(failure, failures, quirks, ledger, structured=False, streamed=True)
                continue
            shown.add(visible.end())
            self._learn(quirks)
            reply = Reply("", refusal=refusal, finish_reason=finish, tokens=tokens)
            ledger.add(reply)
            self._check_finish(reply)
            return reply

    async def _call(
        self, messages: Messages, ledger: _Ledger, quirks: Quirks, schema: dict[str, Any] | None
    ) -> tuple[Reply, Quirks]:
        """One complete reply and the quirks with which it was had; retries inside. Raises ModelError."""
        failures = 0
        while True:
            chat = await self._client()
            try:
                reply = await chat.complete(messages, quirks, schema, ledger.temperature)
            except Exception as error:  # noqa: BLE001 (each one is classified; none is dropped)
                failures += 1
                quirks = await self._after(
                    self._failure(error), failures, quirks, ledger, structured=schema is not None, streamed=False
                )
                continue
            ledger.add(reply)
            self._check_finish(reply)
            return reply, replace(quirks, thinks_first=quirks.thinks_first or begins_thinking(reply.text))

    async def _after(
        self, failure: Failure, failures: int, quirks: Quirks, ledger: _Ledger, *, structured: bool, streamed: bool
    ) -> Quirks:
        """Decide after a failed attempt: go on with less in the request, wait and go on, or raise."""
        adaptable = structured and self._settings.structured_output == "auto"
        changed = quirks.without(failure.status, failure.said, structured=adaptable, streamed=streamed)
        changed = changed or quirks.guess(failure.status, failures - 1, structured=adaptable, streamed=streamed)
        if changed is not None and failures <= _ADAPTATIONS:
            log.info("request refused (%s), trying with less: %s", failure.status, changed)
            return changed
        wait = self._retry.wait(failure, failures, ledger.left)
        if wait is None:
            raise failure.error(failure.message)
        log.info("model call failed (%s), trying again in %.2f s", failure.message, wait)
        ledger.failure = failure
        await asyncio.sleep(wait)
        return quirks

    def _failure(self, error: Exception) -> Failure:
        return failure_of(error, base_url=self._base_url, api_key=self._key)

    def _check_finish(self, reply: Reply) -> None:
        if reply.finish_reason == "content_filter":
            raise ModelReplyError("The model's content filter stopped the reply.")

    async def _within(self, ledger: _Ledger, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` within the time allowed; what it had cost goes along with an error."""
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
            # A second of imports, which must not hold up the event loop.
            chat = await asyncio.to_thread(importlib.import_module, "agent.models.chat")
            if self._chat is None or self._loop is not loop:
                self._chat = chat.Chat(self._settings, self._base_url, self._key)
                self._loop = loop
        found: Chat = self._chat
        return found

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

    def _usage(self, ledger: _Ledger) -> Usage:
        """Tokens that a server doesn't report are counted as 0 and their cost as unknown, never estimated."""
        prices = (self._settings.price_input, self._settings.price_output)
        cost: float | None = None
        if prices[0] is not None and prices[1] is not None and (not ledger.unreported or prices == (0.0, 0.0)):
            cost = (ledger.input * prices[0] + ledger.output * prices[1]) / 1e6
        if ledger.calls == 0:
            cost = 0.0
        seconds = time.monotonic() - ledger.started
        return Usage(ledger.calls, ledger.input, ledger.output, ledger.cached, cost, seconds)


class _Declined(ModelReplyError):
    """The model refused in the field made for it."""

    def __init__(self, refusal: str) -> None:
        super().__init__(f"The model declined to answer: {refusal}")
        self.refusal = refusal


class _Shown:
    """The pieces of an answer that went out; `text` is what they make when joined."""

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
        """Show `text`, of which the beginning may have been shown before."""
        shown = self.text
        if text.startswith(shown):
            self.add(text[len(shown) :])
        elif text:
            self.add(_INTERRUPTED)
            self.add(text)


def _messages(prompt: Prompt) -> Messages:
    return [("system", _sendable(prompt.system)), ("user", _sendable(prompt.user))]


def _sendable(text: str) -> str:
    """Lone surrogates, which broken values of a database may hold, have no place in UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _body(reply: Reply) -> str:
    """What to read: the content, else the reasoning, where a server sorted the whole reply in there."""
    return reply.text if visible_text(reply.text) or not reply.thoughts else reply.thoughts


def _complete(reply: Reply) -> str:
    if reply.finish_reason == "length":
        raise UnusableReply("the reply was cut off at the length limit; be brief")
    return _body(reply)


def _plan_in(reply: Reply) -> QueryPlan:
    return read_plan(extract_json(_complete(reply), keys=("tasks",)))


def _conversation_in(reply: Reply) -> tuple[QueryPlan | None, str, Clarification | None]:
    return read_conversation(extract_json(_complete(reply), keys=("tasks",)))


def _review_in(reply: Reply) -> tuple[bool, str, str]:
    return read_review(extract_json(_complete(reply), keys=("accept",)))


def _judgement_in(reply: Reply) -> tuple[float, str]:
    return read_judgement(extract_json(_complete(reply), keys=("score",)))


def _sql_in(reply: Reply) -> tuple[str, str]:
    """(sql, reasoning). A reply that is SQL with or without chat serves as well as the JSON that was asked for."""
    text = _complete(reply)
    try:
        sql, reasoning = read_sql(extract_json(text, keys=("sql",)))
    except UnusableReply as error:
        try:
            return extract_sql(text), ""
        except UnusableReply:
            raise error from None
    return (extract_sql(sql) if "```" in sql else sql.rstrip("; \n\t")), reasoning


def _step_in(reply: Reply) -> tuple[str, str, str]:
    text = _complete(reply)
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
    said = _sendable(visible_text(reply.text)[:_ECHO])
    return [("assistant", said), ("user", asked)] if said else [("user", asked)]


def _wrong(error: UnusableReply, reply: Reply) -> str:
    said = redacted(visible_text(reply.text), None)
    return f"{error} (it said: {said})" if said else str(error)
