"""A model behind any OpenAI-compatible endpoint: `OpenAIModel`.

In: the protocol's frozen requests. Out: its typed replies with their usage, or one of its errors, within the time that
the settings allow for one call, including repairs and waits. Prompts come from `agent.models.prompts`.
`agent.models.endpoint` makes the calls, `.structured` reads the replies.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from agent.models import prompts, structured
from agent.models.distrust import LOOP_CHARS, summary_flaws
from agent.models.endpoint import EndpointClient, Ledger
from agent.models.failures import RetryPolicy, redacted
from agent.models.protocol import (
    Capabilities,
    Endpoint,
    Judgement,
    JudgeRequest,
    Meter,
    ModelReplyError,
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
from agent.models.quirks import OPINION_TOKENS, OUTPUT_TOKENS, SQL_TOKENS, SUMMARY_TOKENS, Messages
from agent.models.replies import Distrusted, Reply, UnusableReply, VisibleStream, visible_text
from agent.state import single_task_plan

log = logging.getLogger(__name__)
T = TypeVar("T")

_WARM = 0.7
"""Temperature of all candidates except the first, if the endpoint accepts one."""
_REVIEWS = (0.0, 0.2, 0.3)
"""Temperature of the first, the second and all later reviews: what was said at 0 would be said again."""
_ECHO = 4_000
"""Maximum characters of an unusable reply that are sent back to the model."""
_INTERRUPTED = "\n\n*(The connection broke; the answer starts again.)*\n\n"
_CUT_OFF = "\n\n*(The answer was cut off at the model's length limit.)*"


class OpenAIModel:
    """Implements the `Model` protocol for an OpenAI-compatible endpoint. Safe to share between tasks of one event
    loop."""

    capabilities = Capabilities()

    def __init__(self, settings: Endpoint, *, retry: RetryPolicy | None = None, meter: Meter | None = None) -> None:
        self.name = settings.model
        self._settings = settings
        self._endpoint = EndpointClient(settings, retry or RetryPolicy(), meter)

    async def plan(self, request: PlanRequest) -> PlanReply:
        """In a conversation the reply also holds the standalone question, or a clarification to ask."""
        prompt = prompts.plan_prompt(request)
        schema = structured.plan_schema(
            with_sql=request.write_sql, in_conversation=prompts.in_conversation(request), translate=request.translate
        )
        if not prompts.in_conversation(request):
            plan, usage = await self._ask(prompt, schema, structured.plan_in)
            return PlanReply(plan, usage)
        (made, read_as, asked), usage = await self._ask(prompt, schema, structured.conversation_in)
        plan = made or single_task_plan(read_as or request.question, 0.0)
        return PlanReply(plan, usage, read_as, asked if request.may_ask else None)

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        """A refusal, or a reply without SQL that gives a reason, is returned as `abstained`."""
        try:
            temperature = _WARM if request.variant else 0.0
            schema = None if request.short else structured.SQL_SCHEMA
            prompt = prompts.short_prompt(request) if request.short else prompts.sql_prompt(request)
            ((sql, reasoning), logprobs), usage = await self._ask(
                prompt,
                schema,
                lambda reply: (structured.sql_in(reply), reply.logprobs),
                temperature,
                writes=True,
                logprobs=request.short,
            )
        except _Declined as declined:
            return SqlReply("", declined.refusal, abstained=True, usage=declined.usage or Usage())
        return SqlReply(sql, reasoning, abstained=not sql, usage=usage, logprobs=logprobs)

    async def next_step(self, request: StepRequest) -> StepReply:
        """A reply that is only SQL names no tool."""
        schema = structured.step_schema(request.allowed)
        (tool, thought, sql), usage = await self._ask(prompts.step_prompt(request), schema, structured.step_in)
        return StepReply(tool, thought, sql, usage)

    async def review(self, request: ReviewRequest) -> Review:
        temperature = _REVIEWS[min(request.round, len(_REVIEWS) - 1)]
        (accepted, reasoning, sql), usage = await self._ask(
            prompts.review_prompt(request), structured.REVIEW_SCHEMA, structured.review_in, temperature
        )
        return Review(accepted, reasoning, sql, usage)

    async def compose(self, prompt: prompts.Prompt, schema: dict[str, Any]) -> tuple[dict[str, object], Usage]:
        """A JSON object for a prompt of the caller's own."""
        return await self._ask(prompt, schema, structured.json_in, cap=OUTPUT_TOKENS)

    async def judge(self, request: JudgeRequest) -> Judgement:
        (score, reasoning), usage = await self._ask(
            prompts.judge_prompt(request), structured.JUDGE_SCHEMA, structured.judgement_in, cap=OPINION_TOKENS
        )
        return Judgement(score, reasoning, usage)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """After a cut-off stream, the answer is requested again in one piece. Text that was shown cannot be taken back,
        so unless the new text continues it, a sentence says that the answer starts again. A text that is no answer is
        given up while it comes."""
        messages = _messages(prompts.summary_prompt(request))
        ledger = Ledger(self._settings.seconds, cap=SUMMARY_TOKENS)
        shown = _ShownText(on_text, summary_flaws(request.question, request.results))
        async with self._endpoint.within(ledger):
            reply = await _write_answer(self._endpoint, messages, ledger, shown)
            if reply.refusal and not shown.text:
                raise _Declined(redacted(reply.refusal, self._endpoint.key))
            if shown.flawed:
                raise ModelReplyError(f"The model's answer is not to be believed: {shown.flawed}.")
            if not shown.text:
                raise ModelReplyError("The model sent an empty answer.")
            if reply.finish_reason == "length":
                shown.add(_CUT_OFF)
        return Summary(shown.text, self._endpoint.usage(ledger))

    async def close(self) -> None:
        """Close the connections. The model may be used again afterwards."""
        await self._endpoint.close()

    # --- one question to the model ---

    @property
    def schema_tokens(self) -> int | None:
        return self._endpoint.quirks().schema_tokens

    def learn_schema_tokens(self, tokens: int) -> None:
        """From now on, no longer schema is sent to this model."""
        self._endpoint.learn(replace(self._endpoint.quirks(), schema_tokens=tokens))

    async def _ask(
        self,
        prompt: prompts.Prompt,
        schema: dict[str, Any] | None,
        read: Callable[[Reply], T],
        temperature: float = 0.0,
        *,
        cap: int = SQL_TOKENS,
        writes: bool = False,
        logprobs: bool = False,
    ) -> tuple[T, Usage]:
        """Send the request, and repeat it when the reply is unusable: with room for its thinking if that was cut off,
        in a weaker mode while the endpoint's modes are unproven and no JSON came, or blanks without end, as of a server
        whose grammar allows them, then once more with the error. Only a query (`writes`) is worth another call after a
        reply that is not to be believed, or does not end. Without a schema, the reply is text."""
        ledger = Ledger(self._settings.seconds, temperature=temperature, logprobs=logprobs, cap=cap)
        async with self._endpoint.within(ledger):
            quirks = self._endpoint.quirks()
            repaired = False
            repair: Messages = []
            while True:
                messages = [*_messages(prompt, structured=quirks.structure != "prompt"), *repair]
                knew = quirks.thinks
                reply, quirks = await self._endpoint.call(messages, ledger, quirks, schema)
                if reply.refusal and not reply.text:
                    raise _Declined(redacted(reply.refusal, self._endpoint.key))
                try:
                    value = read(reply)
                except UnusableReply as error:
                    cut = reply.finish_reason == "length" and quirks.cap is not None
                    if cut and not knew and (quirks.thinks or not visible_text(reply.text)):
                        quirks = replace(quirks, thinks=True)
                        self._endpoint.learn(quirks)
                        continue
                    distrusted = isinstance(error, Distrusted)
                    blanks = len(reply.text) > LOOP_CHARS and not reply.text[-LOOP_CHARS:].strip()
                    usable = blanks or not (cut or distrusted or "{" in reply.text)
                    weaker = quirks.lesser_structure() if schema is not None and usable else None
                    if weaker is not None and self._settings.structured_output == "auto":
                        quirks = weaker
                    elif repaired or ((distrusted or cut) and not writes):
                        said = redacted(visible_text(reply.text), None)
                        why = f"{error} (it said: {said})" if said else str(error)
                        raise ModelReplyError(f"The model's reply can't be used: {why}.") from error
                    else:
                        repaired = True
                        ledger.cap = min(2 * ledger.cap, OUTPUT_TOKENS) if cut else ledger.cap
                    log.info("unusable reply, asking again: %s", error)
                    form = "one SQL statement in a ```sql block" if schema is None else json.dumps(schema)
                    asked = prompts.fill(prompts.template("repair").user, {"problem": str(error), "schema": form})
                    # What is not to be believed is not shown again: it would be copied once more.
                    echo = "" if distrusted else _sendable(visible_text(reply.text)[:_ECHO])
                    repair = [("assistant", echo), ("user", asked)] if echo else [("user", asked)]
                    continue
                self._endpoint.learn(quirks, proven=schema is not None)
                return value, self._endpoint.usage(ledger)


class _ShownText:
    """The pieces of an answer that were shown; `text` is their concatenation."""

    def __init__(self, on_text: Callable[[str], None] | None, flaw: Callable[[str], str]) -> None:
        """`flaw` tells why a text is no answer; nothing more is shown from there on."""
        self.on_text = on_text
        self._flaw = flaw
        self._pieces: list[str] = []
        self.flawed = ""

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> str:
        """Show the piece, or say why it is not shown."""
        if piece and not self.flawed:
            self.flawed = self._flaw(self.text + piece)
        if piece and not self.flawed:
            self._pieces.append(piece)
            if self.on_text is not None:
                self.on_text(piece)
        return self.flawed


async def _write_answer(endpoint: EndpointClient, messages: Messages, ledger: Ledger, shown: _ShownText) -> Reply:
    """One answer, shown piece by piece where somebody listens. One without anything to show is requested once more."""
    visible = VisibleStream(thinking=endpoint.quirks().thinks_first)
    raw: list[str] = []

    def on_piece(piece: Reply) -> str:
        raw.append(piece.text)
        return shown.add(visible.feed(piece.text))

    for listened in (shown.on_text is not None, False):
        heard = on_piece if listened else None
        reply, quirks = await endpoint.call(messages, ledger, endpoint.quirks(), None, heard)
        endpoint.learn(quirks)
        if reply.stopped:
            shown.flawed = reply.stopped
        elif listened and "".join(raw) == reply.text:
            shown.add(visible.feed("", final=True))
        elif (text := visible_text(reply.text)).startswith(shown.text):  # its beginning may already have been shown
            shown.add(text[len(shown.text) :])
        elif text:
            shown.add(_INTERRUPTED)
            shown.add(text)
        if shown.text or shown.flawed or reply.refusal:
            break
    return reply


class _Declined(ModelReplyError):
    """The model refused, using the `refusal` field."""

    def __init__(self, refusal: str) -> None:
        super().__init__(f"The model declined to answer: {refusal}")
        self.refusal = refusal


def _messages(prompt: prompts.Prompt, *, structured: bool = True) -> Messages:
    user = prompt.user if structured else prompt.unstructured or prompt.user
    said = [("system", prompt.system), ("user", user), *prompt.exchange]
    return [(role, _sendable(text)) for role, text in said]


def _sendable(text: str) -> str:
    """The text without lone surrogates, which broken database values may hold and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
