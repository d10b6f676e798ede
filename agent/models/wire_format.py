"""The plain case of a chat completion, read and written without langchain-openai's messages.

In: the JSON of a reply or of a piece of a stream. Out: its parts, or None where anything is unusual; langchain-openai
reads those. Its typed copies cost more than the reading, and a stream has hundreds of pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.models.callbacks import Tokens


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    thoughts: str = ""
    """`reasoning_content`, if a server returns it separately."""
    refusal: str = ""
    finish_reason: str | None = None
    tokens: Tokens | None = None
    """None: not reported."""
    model: str | None = None
    """The model that answered, as named by the server."""
    stopped: str = ""
    """Why it was given up while it was being written."""


def plain_reply(response: object) -> Reply | None:
    if not isinstance(response, dict) or response.get("error"):
        return None
    choice = _only_choice(response)
    message = choice.get("message") if choice else None
    if choice is None or not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    used = response.get("usage")
    tokens = _plain_tokens(used, response.get("service_tier"))
    return None if used and tokens is None else _read(message, choice, tokens, response.get("model"))


def plain_piece(chunk: object) -> Reply | None:
    """A piece with text, or the last one; the one with the usage is left to the library."""
    if not isinstance(chunk, dict) or chunk.get("usage") or chunk.get("type"):
        return None
    choice = _only_choice(chunk)
    delta = choice.get("delta") if choice else None
    if choice is None or not isinstance(delta, dict) or delta.get("role", "assistant") != "assistant":
        return None
    return _read(delta, choice, None, chunk.get("model"))


def made_reply(text: str, raw: object, finish_reason: object, tokens: Tokens | None, model: object) -> Reply:
    """`raw`: the message, or a piece of it, as received."""
    kept = raw if isinstance(raw, dict) else {}
    thoughts = kept.get("reasoning_content") or kept.get("reasoning")
    refusal = kept.get("refusal")
    return Reply(
        text=text,
        thoughts=thoughts if isinstance(thoughts, str) else "",
        refusal=refusal if isinstance(refusal, str) else "",
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
        tokens=tokens,
        model=model if isinstance(model, str) else None,
    )


def _only_choice(response: dict[str, Any]) -> dict[str, Any] | None:
    choices = response.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        return None
    return choices[0] if isinstance(choices[0], dict) else None


def _read(message: dict[str, Any], choice: dict[str, Any], tokens: Tokens | None, model: object) -> Reply | None:
    text = message.get("content")
    if text is None:
        text = ""
    if not isinstance(text, str) or message.get("tool_calls") or message.get("function_call"):
        return None
    return made_reply(text, message, choice.get("finish_reason"), tokens, model)


def _plain_tokens(used: object, tier: object) -> Tokens | None:
    """None where no tokens are told, or in another way than by whole numbers."""
    if not isinstance(used, dict) or tier in ("priority", "flex"):
        return None
    details = used.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or 0 if isinstance(details, dict) else None
    read, written = used.get("prompt_tokens"), used.get("completion_tokens")
    if type(read) is not int or type(written) is not int or type(cached) is not int:
        return None
    return Tokens(read, written, cached)
