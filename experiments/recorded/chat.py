"""The wire format of a chat completions server: whole replies, server-sent events, and errors.

In: text, or a status and a message. Out: a `Sent`, the bytes of one HTTP reply in the pieces in which they are sent.
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

JSON = "application/json"
EVENTS = "text/event-stream"
_PIECE = 24
"""Characters of one streamed delta."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One HTTP reply."""

    pieces: tuple[bytes, ...]
    status: int = 200
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    """In addition to the content type."""
    cut: bool = False
    """The connection is dropped after the last piece, before the reply is complete."""


def completion(text: str, model: str, *, stream: bool) -> Sent:
    """A complete reply. Tokens are not reported: nobody counted them when the answer was recorded."""
    about = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
    if not stream:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return as_json({"object": "chat.completion", **about, "choices": [choice]})

    def event(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + _bytes({"object": "chat.completion.chunk", **about, "choices": [choice]}) + b"\n\n"

    deltas = [event({"content": text[i : i + _PIECE]}) for i in range(0, len(text), _PIECE)]
    pieces = (event({"role": "assistant", "content": ""}), *deltas, event({}, "stop"), b"data: [DONE]\n\n")
    return Sent(pieces, content_type=EVENTS)


def failure(status: int, message: str, code: str, headers: dict[str, str] | None = None) -> Sent:
    """An error in the format of OpenAI's API."""
    kind = "invalid_request_error" if status < 429 else "server_error" if status >= 500 else "rate_limit_error"
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return as_json(body, status, headers)


def as_json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Sent:
    return Sent((_bytes(value),), status, headers=headers or {})


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def as_object(raw: bytes) -> dict[str, Any] | None:
    """The body of a request or a reply; None when it is not a JSON object."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def content_of(raw: bytes) -> str:
    """The text of a completion or of one streamed delta; empty when there is none."""
    body = as_object(raw)
    try:
        choice = body["choices"][0] if body else {}
        text = (choice.get("message") or choice.get("delta") or {}).get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        return ""
    return text if isinstance(text, str) else ""
