"""Read a participant's reply: the JSON object of the contract, in whatever form it arrives.

In: the parts of a reply, each a JSON object or a text (JSON, JSON in a fence or surrounded by words, or SQL alone).
Out: an `Answer`, without its time. Pure functions; nothing raises.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from eval.assessment.records import Answer

MAX_SQL = 100_000
"""Characters; a longer statement does not count as an answer."""
MAX_WORDS = 4_000
"""Characters of reasoning and of error texts that are kept."""
_MAX_STARTS = 40
"""Positions at which an object is searched for, so that a text consisting only of braces stays cheap."""
_SQL_KEYS = ("sql", "SQL", "query", "sql_query")
_FENCE = re.compile(r"```[ \t]*+\w{0,16}+[ \t]*+\r?\n?(.*?)```", re.DOTALL)
_QUERY = re.compile(r"\s*+(?:--[^\n]*+\n\s*+)*+\(*+\s*+(?:SELECT|WITH|VALUES)\b", re.IGNORECASE)


def read_answer(parts: Sequence[Any], task_id: str) -> Answer:
    texts = [part for part in parts if isinstance(part, str)]
    objects = list(objects_in(parts))
    if len(texts) > 1:
        objects += objects_in(["".join(texts)])
    best = next((o for o in objects if any(isinstance(o.get(key), str) and o[key].strip() for key in _SQL_KEYS)), None)
    best = best or next((o for o in objects if any(key in o for key in (*_SQL_KEYS, "error"))), None)
    if best is None:
        sql = next((s for text in [*texts, "".join(texts)] if (s := _sql_alone(text))), "")
        if not sql:
            return Answer(failure="unreadable", error="The reply holds neither JSON with an sql field nor SQL.")
        return _sized(Answer(sql=sql, note="The reply was SQL without JSON around it."))
    return _from_object(best, task_id)


def _from_object(reply: Mapping[str, Any], task_id: str) -> Answer:
    given = next((reply[key] for key in _SQL_KEYS if isinstance(reply.get(key), str)), "")
    sql = _sql_alone(given) or given.strip()
    named = reply.get("task_id")
    confidence = _amount(reply.get("confidence"))
    return _sized(
        Answer(
            sql=sql,
            reasoning=_words(reply.get("reasoning")),
            confidence=confidence if confidence is not None and confidence <= 1 else None,
            tokens=_tokens(reply),
            cost=_amount(next((reply[key] for key in ("cost", "cost_usd") if key in reply), None)),
            note="" if named is None or str(named) == task_id else "The reply names another task_id.",
            failure="" if sql else "no_sql",
            error="" if sql else _words(reply.get("error")) or "The reply contains no SQL.",
        )
    )


def _sized(answer: Answer) -> Answer:
    if len(answer.sql) > MAX_SQL:
        return Answer(failure="too_large", error=f"The SQL has more than {MAX_SQL:,} characters.")
    return answer


def objects_in(parts: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The JSON objects among the parts, and inside the parts that are texts (fenced, or surrounded by words)."""
    for part in parts:
        if isinstance(part, Mapping):
            yield part
        elif isinstance(part, str):
            yield from _in_text(part)


def _in_text(text: str, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    value = _json(text)
    if isinstance(value, Mapping):
        yield value
        return
    if isinstance(value, str) and depth < 2:
        yield from _in_text(value, depth + 1)
        return
    for fenced in _FENCE.finditer(text):
        inner = _json(fenced[1])
        if isinstance(inner, Mapping):
            yield inner
    decoder, at = json.JSONDecoder(strict=False), -1
    for _ in range(_MAX_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        at = end - 1
        if isinstance(value, Mapping):
            yield value


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _sql_alone(text: str) -> str:
    """A text that is a query, fenced or not; otherwise empty."""
    candidates = (*(fenced[1] for fenced in _FENCE.finditer(text)), text)
    return next((candidate.strip() for candidate in candidates if _QUERY.match(candidate)), "")


def _words(value: Any) -> str:
    return value[:MAX_WORDS] if isinstance(value, str) else "" if value is None else _dumped(value)[:MAX_WORDS]


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def _amount(value: Any) -> float | None:
    """A number that is not NaN, infinite or negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _tokens(reply: Mapping[str, Any]) -> int | None:
    """`tokens` as a number, or `tokens`/`usage` as an object with a total or with its summands."""
    given = reply.get("tokens", reply.get("usage"))
    if isinstance(given, Mapping):
        total = _amount(next((given[key] for key in ("total", "total_tokens") if key in given), None))
        if total is None:
            names = ("input", "output", "input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
            summands = [n for key in names if (n := _amount(given.get(key))) is not None]
            total = sum(summands) if summands else None
    else:
        total = _amount(given)
    return None if total is None else int(min(total, 1e15))
