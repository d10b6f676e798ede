"""The content of a chat request: which prompt, which question, which failed query.

In: the body of a request to `chat/completions`. Out: an `Asked`. Only structure is read: the JSON Schema that the reply
must follow, the reply keys that the instructions of the prompt show, and the tags that delimit the question
and the failed query. The wording of a prompt is never read, so that prompts can be reworded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["plan", "step", "sql", "review", "judge", "summary"]

_KIND_OF_KEY: dict[str, Kind] = {"tasks": "plan", "score": "judge", "tool": "step", "accept": "review", "sql": "sql"}
"""The reply property that distinguishes its prompt from those listed after it."""
_KEY = re.compile(r'"(tasks|score|tool|accept|sql)"\s*:')
_DATA = re.compile(r"<(\w+)[^<>]*>.*?</\1>", re.DOTALL)
_QUESTION = re.compile(r"<question>\s*(.*?)\s*</question>", re.DOTALL)
_STEPS = re.compile(r"<steps>\s*(.*?)\s*</steps>", re.DOTALL)
_WRITTEN = re.compile(r"^\d+\. (?:generate_sql|repair_sql)\b", re.MULTILINE)
_ALLOWED = re.compile(r"<allowed>\s*(.*?)\s*</allowed>", re.DOTALL)
_CANDIDATE = re.compile(r'<candidate number="(\d{1,3})" />')
_FAILED = re.compile(r"<failed_sql>\s*(.*?)\s*</failed_sql>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    kind: Kind
    question: str
    """The text between the question's tags; if there are none, the whole last user message."""
    failed_sql: str
    """The query that the prompt quotes as rejected; empty on a first attempt."""
    prompt: str
    """The user message with the question."""
    structured: bool
    """The reply must be JSON."""
    written: int = 0
    """Queries among the steps that the prompt quotes."""
    candidate: int = 0
    """The index of this one among several first attempts, starting at 0."""
    allowed: tuple[str, ...] = ()
    """The tools that the next step may use."""


def asked(body: dict[str, Any]) -> Asked:
    """Read a request. Unknown forms count as a request for SQL. Raises ValueError when there is no user message."""
    users = [text for role, text in _messages(body) if role == "user"]
    if not users:
        raise ValueError("the request has no user message")
    # A repair ("your reply could not be used") follows the question as a separate user message.
    prompt = next((text for text in reversed(users) if _QUESTION.search(text)), users[-1])
    kind = _kind(body, prompt)
    return Asked(
        kind=kind or "sql",
        question=_last(_QUESTION, prompt) or prompt,
        failed_sql=_last(_FAILED, prompt),
        prompt=prompt,
        structured=kind not in (None, "summary"),
        candidate=int(_last(_CANDIDATE, prompt) or 0),
        written=len(_WRITTEN.findall(_last(_STEPS, prompt))),
        allowed=tuple(word.strip() for word in _last(_ALLOWED, prompt).split(",") if word.strip()),
    )


def _kind(body: dict[str, Any], prompt: str) -> Kind | None:
    """None: nothing determines the form of the reply."""
    for key in _schema_keys(body):
        if key in _KIND_OF_KEY:
            return _KIND_OF_KEY[key]
    shown = set(_KEY.findall(_DATA.sub("", prompt)))
    for key, kind in _KIND_OF_KEY.items():
        if key in shown:
            return kind
    return "summary" if "</doubts>" in prompt else None


def _schema_keys(body: dict[str, Any]) -> list[str]:
    part: Any = body
    for step in ("response_format", "json_schema", "schema", "properties"):
        part = part.get(step) if isinstance(part, dict) else None
    return [key for key in _KIND_OF_KEY if key in part] if isinstance(part, dict) else []


def _messages(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(role, text); content that arrives in parts is joined."""
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        if isinstance(content, list):
            content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        yield str(message.get("role")), content if isinstance(content, str) else ""


def _last(pattern: re.Pattern[str], text: str) -> str:
    matches = pattern.findall(text)
    return str(matches[-1]) if matches else ""
