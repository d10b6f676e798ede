"""What is read of a model's reply (`Reply`): the part that is meant for people (`visible_text`, and `VisibleStream`
while it comes), and the SQL or JSON in it (`extract_sql`, `extract_json`).

Pure functions. In: a raw reply (thinking blocks, fences, text before and after, broken JSON). Out: the text without its
thinking; the SQL or the JSON object, else `UnusableReply`, and never another exception. Each takes time proportional to
the length of the text and reads only the first `MAX_CHARS` characters. The shapes are pinned in tests/fixtures/replies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.models.lenient_json import CutOff, NotJson, read_value
from eval.errors import InputError

MAX_CHARS = 400_000
"""Maximum characters read; of a longer reply only the beginning is read."""

_MAX_STARTS = 40
"""Maximum positions at which an object is searched for, so that a text of only braces stays cheap."""
_MAX_CUT_OFF = 4
"""Maximum unclosed objects that are tried, each of which costs a pass over the text."""
_FENCE = re.compile(r"(```|~~~)(?:(?<=`)`*+|(?<=~)~*+)(.*?)(\1|\Z)", re.DOTALL)
_LABEL = re.compile(r"[ \t]{0,8}([A-Za-z][\w+-]{0,15})?(?=\s|$)[ \t]{0,8}")


@dataclass(frozen=True, slots=True)
class Tokens:
    input: int
    output: int
    cached: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a chat completion, or a piece of a stream."""

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


class UnusableReply(InputError):
    """The reply does not contain what was requested; the message tells the model what is wrong."""


class Distrusted(UnusableReply):
    """The reply has the right form, but its content gives it away (`agent.models.distrust`)."""


# --- what is meant for people ---

_THINK = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_THINK_TAG = re.compile(rf"<(/?)(?:{_THINK})>|\[(/?)THINK\]", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s{0,4}final(?:\s{0,4}<\|constrain\|>\s{0,4}\w{0,16})?\s{0,4}<\|message\|>")
_MESSAGE = "<|message|>"
_BEGUN_TAG = re.compile(r"<[^<>\]\n]{0,34}\Z")
_BEGUN_MARK = re.compile(r"\[[^\[>\]\n]{0,34}\Z")
_TOKEN = re.compile(r"<\|[a-zA-Z0-9_]{1,32}\|>")
_BARE_HARMONY = re.compile(r"\s{0,20}analysis")
_EDGES = "\ufeff\u200b\u2060 \t\r\n\f\v\xa0"


def visible_text(text: str) -> str:
    """The reply without its thinking: think blocks (paired, unclosed, or closed only) and the channels of the harmony
    format. Empty when the reply is only thinking."""
    text = _final_channel(text[:MAX_CHARS])
    kept: list[str] = []
    depth = 0
    at = 0
    for tag in _THINK_TAG.finditer(text):
        if tag.group(1) or tag.group(2):
            if depth == 0:
                kept.clear()
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                kept.append(text[at : tag.start()])
            depth += 1
        at = tag.end()
    if depth == 0:
        kept.append(text[at:])
    return "".join(kept).strip(_EDGES)


def begins_thinking(text: str) -> bool:
    """Whether the first think tag closes a block that the text never opened."""
    first = _THINK_TAG.search(text[:MAX_CHARS])
    return first is not None and bool(first.group(1) or first.group(2))


def thinks(text: str) -> bool:
    """Whether the text holds thinking, in think tags or in a channel of the harmony format."""
    return _THINK_TAG.search(text[:MAX_CHARS]) is not None or "<|channel|>analysis" in text[:MAX_CHARS]


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    last = None
    for last in pattern.finditer(text):  # noqa: B007
        pass
    return last


def _final_channel(text: str) -> str:
    if (last := _last_match(_FINAL, text)) is not None:
        text = text[last.end() :]
        end = text.find("<|")
        return text if end < 0 else text[:end]
    if "<|channel|>" in text and _MESSAGE in text:
        text = text.rpartition(_MESSAGE)[2]
    elif _BARE_HARMONY.match(text) and "assistantfinal" in text:
        text = text.rpartition("assistantfinal")[2]
    return _TOKEN.sub("", text)


class VisibleStream:
    """`visible_text` for a text that comes in pieces: `feed` returns what may be shown now, with `final` the rest.

    A possibly incomplete marker is held back. When a block is closed that was never opened, the text already shown
    cannot be withdrawn; only the marker is dropped.
    """

    _HOLD = 80
    """Longer than any marker."""
    _OPEN = re.compile(rf"<(?:{_THINK})>|\[THINK\]|<\|channel\|>", re.IGNORECASE)
    _CLOSE = re.compile(rf"</(?:{_THINK})>|\[/THINK\]|{_FINAL.pattern}", re.IGNORECASE)
    _NOISE = re.compile(rf"</(?:{_THINK})>|\[/THINK\]|<\|[a-zA-Z0-9_]{{1,32}}\|>", re.IGNORECASE)

    def __init__(self, *, thinking: bool = False) -> None:
        """`thinking`: the text begins inside a block that the server's template opened."""
        self._buffer = ""
        self._hidden = thinking
        self._started = False

    def feed(self, piece: str, *, final: bool = False) -> str:
        self._buffer += piece
        shown: list[str] = []
        while True:
            if self._hidden:
                close = self._CLOSE.search(self._buffer)
                if close is None:
                    self._buffer = "" if final else self._buffer[-self._HOLD * 2 :]
                    break
                self._buffer = self._buffer[close.end() :]
                self._hidden = False
                continue
            final_channel = _FINAL.search(self._buffer)
            opening = self._OPEN.search(self._buffer)
            if final_channel and opening and opening.start() >= final_channel.start():
                shown.append(self._NOISE.sub("", self._buffer[: final_channel.start()]))
                self._buffer = self._buffer[final_channel.end() :]
            elif opening:
                shown.append(self._NOISE.sub("", self._buffer[: opening.start()]))
                self._buffer = self._buffer[opening.start() :]
                if self._buffer.startswith("<|channel|>") and not final and len(self._buffer) < self._HOLD:
                    break
                self._buffer = self._buffer[opening.end() - opening.start() :]
                self._hidden = True
            else:
                self._buffer = self._NOISE.sub("", self._buffer)
                end = "" if final else self._buffer[-self._HOLD :]
                begun = _BEGUN_TAG.search(end) or _BEGUN_MARK.search(end)  # may be the beginning of a marker
                cut = len(self._buffer) - (len(begun.group()) if begun else 0)
                shown.append(self._buffer[:cut])
                self._buffer = self._buffer[cut:]
                break
        text = "".join(shown)
        if not self._started:
            text = text.lstrip(_EDGES)
            self._started = bool(text)
        return text


def _readings(text: str) -> Iterator[str]:
    """The visible text, and if that is empty, the content of the unclosed thinking block."""
    visible = visible_text(text)
    if visible:
        yield visible
    else:
        yield _THINK_TAG.sub("\n", _TOKEN.sub("\n", text[:MAX_CHARS])).strip(_EDGES)


class _Fence(NamedTuple):
    language: str
    body: str
    closed: bool


def _fences(text: str) -> Iterator[_Fence]:
    """Blocks between triple backticks or tildes, in order."""
    for fence in _FENCE.finditer(text):
        inner = fence[2]
        label = _LABEL.match(inner)
        language = (label.group(1) or "").lower() if label else ""
        if language in _SQL_STARTS:
            language, label = "", None
        yield _Fence(language, inner[label.end() if label else 0 :].strip(_EDGES), bool(fence[3]))


# --- JSON ---


def extract_json(text: str, *, keys: Sequence[str] = ()) -> dict[str, object]:
    """The JSON object in a reply. Of several, the last that has all `keys`, else the last one.

    Repaired on the way: fences, chat around it, comments, trailing commas, single quotes, unquoted keys, raw newlines
    and unescaped quotes in strings, a JSON text inside a JSON string, an object alone in a list. An object that is
    cut off is not repaired. Raises UnusableReply.
    """
    # Valid JSON may hold anything in its strings, even thinking tags, so it is parsed before they are searched for.
    sound = list(_sound_objects(text[:MAX_CHARS].strip(_EDGES), depth=0))
    if sound:
        return sound[0]
    for reading in _readings(text):
        objects = list(_objects(reading, depth=0))
        wanted = [o for o in objects if all(k in o for k in keys)]
        if wanted or objects:
            return (wanted or objects)[-1]
        if "{" in reading:
            raise UnusableReply("the reply holds a JSON object that is broken or cut off")
    raise UnusableReply("the reply contains no JSON object" if text.strip() else "the reply is empty")


def _sound_objects(text: str, depth: int) -> Iterator[dict[str, object]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from _as_objects(value, depth)


def _objects(text: str, depth: int) -> Iterator[dict[str, object]]:
    sound = list(_sound_objects(text, depth))
    if sound:
        yield from sound
        return
    at = 0
    cut_off = 0
    for _ in range(_MAX_STARTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            value, at = read_value(text, at)
        except NotJson as error:
            at += 1
            cut_off += isinstance(error, CutOff)
            if cut_off == _MAX_CUT_OFF:
                break
            continue
        if isinstance(value, dict) and value:
            yield value
    if depth == 0 and text[:1] in "\"'":
        try:
            value, _end = read_value(text, 0)
        except NotJson:
            return
        yield from _as_objects(value, depth)


def _as_objects(value: object, depth: int) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        yield value[0]
    elif isinstance(value, str) and depth < 2:
        yield from _objects(value.strip(), depth + 1)


# --- SQL ---

_SQL_STARTS = {"select", "with", "values"}
_STATEMENT = (
    "select|with|values|insert|update|delete|drop|create|alter|truncate|attach|pragma|copy|merge|replace|grant|call|set"
)
_READS = re.compile(r"[\s(]{0,40}(?:select|with|values)\b", re.IGNORECASE)
_ANY_STATEMENT = re.compile(rf"[\s(]{{0,40}}(?:{_STATEMENT})\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s{0,200}(?:--[^\n]{0,2000}(?:\n|$)|/\*.{0,4000}?\*/)", re.DOTALL)
_SQL_LANGUAGE = re.compile(r"(?:sql|sqlite3?|postgres(?:ql)?|psql|mysql|mariadb|duckdb|spark(?:sql)?|tsql)?")
_BREAK = re.compile(
    r"""'[^']*'|"[^"]*"|(?!```)`[^`]*`|--[^\n]*|/\*.*?(?:\*/|\Z)|"""
    r"(?P<end>;)|(?P<fence>```|`)|\n[ \t\r]*(?=(?P<blank>\n))",
    re.DOTALL,
)
"""Semicolons, fences and blank lines outside quotes and comments."""
_LINE_START = re.compile(
    r"(?:[ \t]{0,40}+(?:[>*\-]|\d{1,2}[.)])?[ \t]{0,8}+)"
    r"(?:\*{0,2}[A-Za-z][A-Za-z ]{0,24}:\*{0,2}[ \t]{0,8})?"
    r"(?:(?:sqlite|mysql|duckdb)>[ \t]{0,8}|\w{1,32}=[#>][ \t]{0,8})?"
    r"`?(\({0,8}[ \t]{0,8}(?:SELECT\s{1,40}\S|WITH\s{1,40}(?:RECURSIVE\s{1,40})?[\w\"`\[\]]{1,80}\s{0,40}"
    r"(?:\([^()]{0,500}\)\s{0,40})?AS\s{0,40}(?:(?:NOT\s{1,40})?MATERIALIZED\s{0,40})?\(|VALUES\s{0,40}\())",
    re.IGNORECASE,
)
_INLINE = re.compile(r"`\s{0,8}((?:SELECT|WITH)\s[^`]{1,8000})`", re.IGNORECASE)
_UPPER_SELECT = re.compile(r"\b(?:SELECT|WITH\s{1,8}\w{1,64}\s{1,8}AS\s{0,8}\()")
_TAGGED = re.compile(r"<(?:sql|query|sql_query|answer)>", re.IGNORECASE)
_CONTINUES = re.compile(
    r"\s{0,200}(?:--|/\*|[),]|(?:select|from|where|and|or|on|using|join|inner|left|right|full|cross|natural|group|having|"
    r"order|limit|offset|union|intersect|except|window|when|then|else|end|case|with|fetch|as)\b)",
    re.IGNORECASE,
)
_PROSE_SELECT = re.compile(r"[\s(]{0,40}select\s{1,40}(?:the|a|an|all the|only the|every)\s", re.IGNORECASE)


def extract_sql(text: str) -> str:
    """The SQL statement(s) in a reply, without fences, labels, explanation and trailing semicolon.

    Of several fenced blocks, the last complete one that reads (SELECT, WITH, VALUES) wins over an example before it and
    over a CREATE INDEX after it. Statements after a semicolon are kept, so that the guard can judge them. Raises
    UnusableReply.
    """
    for written in dict.fromkeys((text, text.replace(r"\n", "\n"))):  # the escapes of JSON, escaped once more
        for reading in _readings(written):
            sql = _sql_in(reading, depth=0)
            if sql:
                return sql
    raise UnusableReply("the reply contains no SQL statement" if text.strip() else "the reply is empty")


def _sql_in(text: str, depth: int) -> str:
    if depth < 2 and (text[:1] in "{[\"'" or "```json" in text):
        for candidate in reversed(list(_objects(text, 0))):
            for key in ("sql", "SQL", "query", "sql_query", "statement"):
                inner = candidate.get(key)
                if isinstance(inner, str) and inner.strip():
                    return _sql_in(inner.strip(_EDGES), depth + 1) or _tidy(inner)
    fences = list(_fences(text))
    reading = [f for f in fences if _is_read(f.body)]
    if reading:
        closed = [f for f in reading if f.closed]
        return _tidy((closed or reading)[-1].body)
    for fence in reversed(fences):
        if _SQL_LANGUAGE.fullmatch(fence.language) and _ANY_STATEMENT.match(_without_comments(fence.body)):
            return _tidy(fence.body)
        if _SQL_LANGUAGE.fullmatch(fence.language) and (inner := _plain_sql(fence.body)):
            return inner
    if (tag := _last_match(_TAGGED, text)) is not None:
        body = text[tag.end() :].partition("</")[0].strip(_EDGES)
        if _is_read(body):
            return _tidy(body)
    return _plain_sql(text)


def _is_read(body: str) -> bool:
    return bool(_READS.match(_without_comments(body)))


def _without_comments(body: str) -> str:
    at = 0
    while comment := _COMMENT.match(body, at):
        at = comment.end()
    return body[at:]


def _plain_sql(text: str) -> str:
    """SQL in text without fences: a line that begins like a query, else one in backticks, else an upper-case SELECT."""
    position = 0
    for line in text.splitlines(keepends=True):
        start = _LINE_START.match(text, position)
        if start and not _PROSE_SELECT.match(start.group(1) + text[start.end() : start.end() + 20]):
            return _until_prose(text[start.start(1) :])
        position += len(line)
    if (inline := _last_match(_INLINE, text)) is not None:
        return _tidy(inline.group(1))
    if _ANY_STATEMENT.match(_without_comments(text)) and not _READS.match(text) and ";" in text:
        return _until_prose(text)
    upper = _UPPER_SELECT.search(text)
    if upper is not None and not _PROSE_SELECT.match(text[upper.start() : upper.start() + 60]):
        return _until_prose(text[upper.start() :])
    return ""


def _until_prose(text: str) -> str:
    """Cut an explanation off: after a semicolon that no statement follows, or after a blank line that no clause
    follows."""
    for found in _BREAK.finditer(text):
        at = found.end() if found["blank"] else found.start()
        if (
            found["fence"]
            or (found["end"] and not _ANY_STATEMENT.match(_without_comments(text[at + 1 : at + 400])))
            or (found["blank"] and not _CONTINUES.match(text, at) and not _ANY_STATEMENT.match(text[at : at + 100]))
        ):
            return _tidy(text[:at])
    return _tidy(text)


def _tidy(sql: str) -> str:
    return sql.strip(_EDGES).rstrip("; \t\r\n").strip(_EDGES)


def complete_text(reply: Reply) -> str:
    """The text to parse of a reply that was not cut off: the content, else the reasoning, because some servers put the
    whole reply there."""
    if reply.finish_reason == "length":
        raise UnusableReply("the reply was cut off at the length limit; be brief")
    if reply.stopped:
        raise Distrusted(f"the reply is not to be believed: {reply.stopped}")
    return reply.text if visible_text(reply.text) or not reply.thoughts else reply.thoughts
