"""Classifies failed calls: exceptions of the client library → `Failure`.

In: an exception out of `agent.models.chat`. Out: the error for the user (without key and HTML), whether a retry can
help, and the wait that the server asks for.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from agent.models.protocol import (
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
)
from eval.errors import Text2SQLError

_SAID_LENGTH = 300
_KEYS = re.compile(r"\b(?:(?:sk|pk|gsk|xai|key|hf)[-_]|Bearer\s)[A-Za-z0-9_\-*.]{6,200}")
_HTML = re.compile(r"\s{0,200}<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title>([^<]{1,200})</title>", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_(?:quota|credits)|billing_(?:not_active|hard_limit_reached)|access_terminated")
"""`code` or `type` of a 429 that waiting does not resolve. The message text is no criterion: the text of OpenAI's
ordinary rate limit also ends with the address of the billing page."""
_LOADING = re.compile(r"\b(?:loading|starting|warming|initiali[sz]ing|not (?:yet )?ready|being loaded)\b", re.I)
"""What servers say while they read a model's weights."""
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")
_TOKENS = re.compile(r"\b\d{3,9}\b|\b\d{1,3}(?:,\d{3}){1,2}\b")
_LEAST_CONTEXT = 512
"""Tokens; a smaller number in a refusal is no context size, but a status."""
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (?:length|window|size)|prompt is too long|too many tokens|"
    r"input.{0,20}too long",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Failure:
    error: type[ModelError]
    message: str
    retry: bool = False
    status: int | None = None
    reply: str = ""
    """The server's own message, used to find the field that it rejects."""
    wait: float | None = None
    """Seconds that the server asks to wait."""
    loading: bool = False
    """Whether the server is there and its model is not yet."""
    connected: bool = True
    sizes: tuple[int, int] | None = None
    """(tokens of the prompt, tokens that fit) of a prompt that is too long, if the server tells them."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter, the wait that the server asks for, and the deadline."""

    first_wait: float = 0.5
    """Seconds before the second attempt, doubled for each later attempt."""
    longest_wait: float = 8.0
    attempts: int = 5
    """Maximum attempts at a server that fails (5xx, connection cut)."""
    limited_attempts: int = 8
    """Maximum attempts at a server that limits requests and does not say for how long: with waits that go on doubling
    they last a little over the minute that most limits count."""
    connect_attempts: int = 3
    """Maximum attempts at a server that cannot be reached, usually because the address is wrong."""

    def wait(self, failure: Failure, failures: int, left: float) -> float | None:
        """Seconds to wait before the next attempt, or None when there should be none.

        `failures` counts the failed attempts so far (1 after the first), `left` is the time allowed in seconds. After a
        rate limit whose end the server tells, and while a model is loading, retries continue as long as time allows,
        whatever the number of attempts.
        """
        if not failure.retry:
            return None
        limited = failure.error is ModelRateLimited
        most = self.attempts if failure.connected else self.connect_attempts
        endures = failure.loading or (limited and failure.wait is not None)
        if failures >= (self.limited_attempts if limited else most) and not endures:
            return None
        longest = self.longest_wait * 4 if limited else self.longest_wait
        backoff = min(longest, self.first_wait * 2 ** min(failures - 1, 20))
        backoff *= random.uniform(0.75, 1.25)  # noqa: S311 (spreads load, guards nothing)
        seconds = max(backoff, failure.wait or 0.0)
        return seconds if seconds < left else None


class StreamCutOff(Text2SQLError):
    """A stream ended without a finish reason, so the reply may be incomplete."""


def failure_of(error: Exception, *, base_url: str, api_key: str | None) -> Failure:
    """Classify an exception. Exceptions that match no rule count as unreadable replies."""
    import openai

    parts = urlsplit(base_url)
    host = parts.hostname or base_url
    where = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"
    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, error.body, str(error.message), error.response.headers, where, api_key)
    root = _root(error)
    if isinstance(error, openai.APIConnectionError) and "Connect" in type(root).__name__:
        why = redacted(str(root) or type(root).__name__, api_key)
        message = f"The model server at {where} cannot be reached ({why}). Is OPENAI_BASE_URL right, and is it running?"
        return Failure(ModelUnavailable, message, retry=True, connected=False)
    if isinstance(error, openai.APITimeoutError):
        return Failure(ModelTimeout, f"The model at {where} did not answer in time.")
    if isinstance(error, openai.APIConnectionError | StreamCutOff):
        return Failure(ModelUnavailable, f"The connection to the model at {where} broke off.", retry=True)
    if isinstance(error, openai.APIError):
        return _of_body(error.body, str(error.message), where, api_key)
    reported = error.args[0] if len(error.args) == 1 and isinstance(error, ValueError) else None
    if isinstance(reported, dict):
        return _of_body(reported, "", where, api_key)
    message = f"The server at {where} sent no reply that an OpenAI-compatible API would send. Is OPENAI_BASE_URL right?"
    return Failure(ModelReplyError, message)


def _of_body(body: object, message: str, where: str, api_key: str | None) -> Failure:
    """An error inside a reply with status 200: some gateways put the real status into its `code`."""
    code = body.get("code") if isinstance(body, Mapping) else None
    status = int(code) if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600 else 500
    return _of_status(status, body, message, {}, where, api_key)


def _of_status(
    status: int, body: object, message: str, headers: Mapping[str, str], where: str, api_key: str | None
) -> Failure:
    reply = _server_text(body, message)
    shown = redacted(reply, api_key)
    inner = _error_in(body)
    codes = [str(inner.get(name)).lower() for name in ("code", "type")] if isinstance(inner, Mapping) else []
    if status in (401, 403):
        message = f"The key in OPENAI_API_KEY may not use this model at {where} (403). The server said: {shown}"
        if status == 401:
            message = f"The model server at {where} refused the key (401). Set OPENAI_API_KEY to a valid key. It said: {shown}"  # noqa: E501
        return Failure(ModelAuthError, message, status=status, reply=reply)
    if status == 402 or (status == 429 and any(map(_NO_QUOTA.fullmatch, codes))):
        message = f"The account behind OPENAI_API_KEY has no quota left at {where}. The server said: {shown}"
        return Failure(ModelRateLimited, message, status=status, reply=reply)
    if status == 429:
        message = f"The model server at {where} is limiting requests (429). It said: {shown}"
        # Google's servers ask to wait in the error's details: `{"retryDelay": "34s"}`
        details = inner.get("details") if isinstance(inner, Mapping) else None
        told = (
            [one.get("retryDelay") for one in details if isinstance(one, Mapping)] if isinstance(details, list) else []
        )
        delay = next(filter(None, (_DELAY.fullmatch(str(one)) for one in told)), None)
        wait = retry_after(headers) or (float(delay[1]) if delay else None)
        return Failure(ModelRateLimited, message, True, status, reply, wait)
    if status in (408, 409) or status >= 500:
        message = f"The model server at {where} failed ({status}). It said: {shown}"
        loading = status in (500, 503) and _LOADING.search(reply) is not None
        return Failure(ModelUnavailable, message, True, status, reply, retry_after(headers), loading)
    if 300 <= status < 400:
        message = f"The model server at {where} redirects ({status}), which is not followed. Set OPENAI_BASE_URL to the address that it leads to."  # noqa: E501
    elif _TOO_LONG.search(reply):
        message = f"The prompt is too long for the model: {shown}"
        # The first two numbers of tokens in the refusal of a prompt: what it has, and what fits, in either
        # order
        read = (int(n.replace(",", "")) for n in _TOKENS.findall(reply[:2000]))
        numbers = [n for n in read if n >= _LEAST_CONTEXT][:2]
        sizes = (max(numbers), min(numbers)) if len(set(numbers)) == 2 else None
        return Failure(PromptTooLong, message, status=status, reply=reply, sizes=sizes)
    elif status == 404:
        message = f"The model server at {where} does not know this model or address (404). Check TEXT2SQL_MODEL and OPENAI_BASE_URL (most end in /v1). It said: {shown}"  # noqa: E501
    else:
        message = f"The model server at {where} rejected the request ({status}). It said: {shown}"
    return Failure(ModelRefused, message, status=status, reply=reply)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` or `Retry-After` (seconds or HTTP date, RFC 9110); None if there is none or it is
    invalid."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    written = headers.get("retry-after")
    seconds = _number(written)
    if seconds is not None or not written:
        return seconds
    try:
        at = parsedate_to_datetime(written).timestamp()
        sent = headers.get("date")
        now = parsedate_to_datetime(sent).timestamp() if sent else time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, at - now)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def redacted(text: str, api_key: str | None) -> str:
    """`text` on one line, trimmed, without the key and without anything that looks like one."""
    if api_key and len(api_key) > 3:
        text = text.replace(api_key, "[key]")
    text = " ".join(_KEYS.sub("[key]", text[:4000]).split())
    return text if len(text) <= _SAID_LENGTH else text[:_SAID_LENGTH] + "…"


def _error_in(body: object) -> object:
    """The error object of a body, which some gateways wrap in a list (`[{"error": …}]`)."""
    if isinstance(body, list) and body:
        body = body[0]
    return body.get("error", body) if isinstance(body, Mapping) else body


def _server_text(body: object, message: str) -> str:
    if isinstance(body, Mapping | list):
        inner = _error_in(body)
        if not isinstance(inner, Mapping):
            return str(inner)[:2000]
        parts = (inner.get("message") or inner.get("detail"), inner.get("code"), inner.get("type"), inner.get("param"))
        return " ".join(str(part) for part in parts if part) or str(dict(inner))[:2000]
    text = body if isinstance(body, str) and body else message
    if _HTML.match(text):
        title = _TITLE.search(text[:4000])
        return f"an HTML page{f' titled {title.group(1).strip()!r}' if title else ''}"
    return text[:2000] or "nothing"


def _root(error: BaseException) -> BaseException:
    for _ in range(8):
        inner = error.__cause__ or error.__context__
        if inner is None or inner is error or type(inner).__module__.partition(".")[0] in ("httpcore", "httpcore2"):
            break
        error = inner
        if "Connect" in type(error).__name__ and "API" not in type(error).__name__:
            break
    return error
