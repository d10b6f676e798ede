"""Request features that an endpoint rejected or ignored, remembered for the life of the process.

In: a refusal that names a request field, or a reply that ignored one. Out: a reduced request. There is one record per
endpoint and model, so each limitation is discovered only once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

Structure = Literal["json_schema", "json_object", "prompt"]
CapField = Literal["max_completion_tokens", "max_tokens"]

OUTPUT_TOKENS = 16_384
"""Maximum tokens of one reply of a model that thinks, its thinking included."""
SQL_TOKENS = 1_024
"""Maximum tokens of a plan, a query or a step, of a model that does not think; twice as many where that cut it off."""
OPINION_TOKENS = 768
SUMMARY_TOKENS = 1_536

_LESS: dict[Structure, Structure] = {"json_schema": "json_object", "json_object": "prompt"}
_STRUCTURE = re.compile(
    r"response.?format|json.?schema|json.?object|json.?mode|structured.?output|grammar|guided", re.IGNORECASE
)
_CAP = re.compile(
    r"max_completion_tokens|max_tokens|max_new_tokens|(?:in|for) the completion|context.?(?:length|window|size)",
    re.IGNORECASE,
)
_SYSTEM_ROLE = re.compile(
    r"(?:system|developer)\W{1,3}(?:role|messages?|instructions?|prompts?)\b|roles?\b.{0,60}\b(?:system|developer)\b|"
    r"conversation roles must alternate|first message.{0,20}must be.{0,20}user",
    re.IGNORECASE,
)
_TOO_MUCH = re.compile(r"context.?(?:length|window|size)|too large|at most|maximum", re.IGNORECASE)
_NO_TEMPERATURE = re.compile(r"(?:o\d|gpt-[5-9](?!.*chat))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quirks:
    structure: Structure = "json_schema"
    proven: bool = False
    """This structure has produced a JSON reply before."""
    temperature: bool = True
    cap: CapField | None = "max_completion_tokens"
    stream_usage: bool = True
    logprobs: bool = True
    system_role: bool = True
    """False: the instructions are put in front of the user's message."""
    effort: bool = True
    """The endpoint accepts `reasoning_effort`, if one is configured."""
    thinks_first: bool = False
    """Replies begin with thinking that has only a closing tag, because the server's chat template opened it."""
    thinks: bool = False
    """Replies hold thinking, which counts as output: the caps of steps would cut it off."""
    streams: bool = True
    """False: the server ignores the wish for a stream, or sends an empty one."""
    stream_proven: bool = False
    """A stream that was asked for in this way has come."""
    schema_tokens: int | None = None
    """Tokens of a schema, by our estimate, that fit the server's context; None: no prompt was too long yet."""

    def lesser_structure(self) -> Quirks | None:
        """The next weaker way to ask for JSON, or None after the last one or if this one is known to work."""
        weaker = _LESS.get(self.structure)
        return None if weaker is None or self.proven else replace(self, structure=weaker)

    def without(self, status: int | None, message: str, *, structured: bool) -> Quirks | None:
        """The request to try after a refusal with this status and message; None when nothing in the request is the
        cause."""
        if status not in (400, 404, 415, 422, 500, 501):
            return None
        if self.temperature and "temperature" in message:
            return replace(self, temperature=False)
        if self.effort and "reasoning_effort" in message:
            return replace(self, effort=False)
        if self.logprobs and "logprobs" in message:
            return replace(self, logprobs=False)
        if self.system_role and _SYSTEM_ROLE.search(message):
            return replace(self, system_role=False)
        if self.cap is not None and _CAP.search(message):
            other: CapField | None = "max_tokens" if self.cap == "max_completion_tokens" else None
            return replace(self, cap=None if _TOO_MUCH.search(message) else other)
        if self.stream_usage and ("stream_options" in message or "include_usage" in message):
            return replace(self, stream_usage=False)
        if structured and _STRUCTURE.search(message):
            return replace(self, proven=False).lesser_structure()
        return None

    def guess(
        self, status: int | None, failures: int, *, structured: bool, with_logprobs: bool = False
    ) -> Quirks | None:
        """The request to try after a refusal that names no cause. A 500 may be temporary, so it is retried unchanged
        first."""
        if status not in (400, 415, 422) and not (status in (500, 501) and failures >= 1):
            return None
        if self.logprobs and with_logprobs:
            return replace(self, logprobs=False)
        if structured and (less := self.lesser_structure()):
            return less
        if self.stream_proven or not self.streams:
            return None
        return replace(self, stream_usage=False) if self.stream_usage else replace(self, streams=False)


Messages = list[tuple[str, str]]
"""(role, text) pairs."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    messages: Messages
    quirks: Quirks
    schema: dict[str, Any] | None
    """Of the reply; None for plain text."""
    cap: int
    """Maximum tokens of the reply."""
    temperature: float = 0.0
    logprobs: bool = False
    """The log-probability of each token is wanted, too."""


_learned: dict[tuple[str, str], Quirks] = {}


def learned(base_url: str, model: str) -> Quirks:
    """The quirks known for this model at this endpoint. The model's name is used only for the first guess about
    temperature and thinking."""
    quirks = _learned.get((base_url, model))
    reasons = _NO_TEMPERATURE.match(model.rpartition("/")[2]) is not None
    return quirks or Quirks(temperature=not reasons, thinks=reasons)


def learn(base_url: str, model: str, quirks: Quirks) -> None:
    _learned[base_url, model] = quirks


def forget() -> None:
    """Forget all endpoints (between tests)."""
    _learned.clear()
