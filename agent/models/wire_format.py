"""What is read of a reply of a chat completion, or of a piece of a stream."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cached: int


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
    logprobs: tuple[float, ...] = ()
    """Of each of its tokens, where they were asked for and the server gives them."""
    stopped: str = ""
    """Why it was given up while it was being written."""
