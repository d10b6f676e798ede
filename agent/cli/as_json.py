"""The object that `--json` prints: the contract's fields first, then the other fields of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eval.jsonl import encode

if TYPE_CHECKING:
    from agent.runner import Answer

FIELDS = (
    "question",
    "status",
    "sql",
    "columns",
    "rows",
    "truncated",
    "score",
    "dimensions",
    "answer",
    "abstained",
    "attempts",
    "plan",
    "seconds",
    "tokens",
    "model",
)
"""The contract's, in its order; always there."""


def answer_object(answer: Answer) -> dict[str, Any]:
    """The answer as JSON values."""
    fields = answer.model_dump(mode="json", exclude={"attempts": {"__all__": {"data"}}})
    return {name: fields[name] for name in FIELDS} | {k: v for k, v in fields.items() if k not in FIELDS}


def answer_line(answer: Answer) -> str:
    """The answer as one line of JSON, safe to show on a terminal."""
    return encode(answer_object(answer))
