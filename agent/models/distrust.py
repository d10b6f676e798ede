"""What gives a model's text away as no reply, by its content: placeholders, the prompt's own words, leaked tags, loops.

In: a text that a model wrote, as a whole or while it is still being written. Out: why it is not to be believed, or an
empty text. The form of a reply proves nothing: under a JSON Schema a model that understands nothing still sends a plan,
a query and a score. Pure functions, and their time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

from agent.models.prompts import DATA_TAGS, template
from agent.models.replies import Distrusted
from agent.state import QueryResult

LOOP_CHARS = 240
"""Shortest repetition, in characters, that is no list or ruler of a table."""
LOOP_TIMES = 12
"""How often a group has to follow itself; an answer lists at most ten rows."""
COUNTING_TIMES = 16
"""The same of a group in which only numbers change: a query may have a column for each of twelve months."""
COUNTING_CHARS = 24
"""Shortest such group; lists of numbers and codes are shorter."""
TAIL = 4_000
"""Characters at the end of a text in which a loop is looked for."""
_LAST = 20
"""Characters at the end of every repetition that is looked for, fewer than it repeats."""
_LONG_COPY = 12
"""Words in a row from which a copy of the prompt is no coincidence."""

_FIELD = re.compile(r'^"\w+": (.{4,200})$', re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)
_DOTS = re.compile(r"\.\.\.|…")
_STAND_IN = re.compile(r"[\W_]{1,40}|[<\[{(][^<>\[\]{}()]{1,60}[>\]})]")
_DATA_TAG = re.compile(rf'</?(?:{DATA_TAGS})(?: \w+="[^"]*")*\s*/?>', re.IGNORECASE)
_NEXT_TURN = re.compile(
    r"<\|im_start\|>|<\|start_header_id\|>|<\|(?:user|system|assistant)\|>|</?start_of_turn>|\[/?INST\]|<<SYS>>|"
    r"^### (?:Instruction|Response|Input)\b",
    re.MULTILINE,
)


def trusted(text: str) -> str:
    """`text`, or Distrusted where it is no text of a model's own."""
    if why := flaw(text):
        raise Distrusted(f"the reply is not to be believed: {why}")
    return text


def trusted_sql(sql: str) -> str:
    """`sql`, or Distrusted where it is a template of a query."""
    dots = "its query is a template, with dots in place of names" if _DOTS.search(_QUOTED.sub("''", sql)) else ""
    if why := dots or _leak(sql) or loop(sql):
        raise Distrusted(f"the reply is not to be believed: {why}")
    return sql


def flaw(text: str) -> str:
    """Why a text of prose is not the model's own; an empty text has no flaw."""
    if text and _STAND_IN.fullmatch(text.strip()):
        return "it is a placeholder"
    return _copied(folded(text)) or _leak(text) or loop(text)


def _copied(words: str) -> str:
    """Whether a text is the description of a field, or a long passage, of our prompts."""
    descriptions, passages = _own_words()
    long = len(words.split()) >= _LONG_COPY
    return "it repeats the prompt" if words in descriptions or (long and f" {words} " in passages) else ""


def summary_flaws(question: str, results: Sequence[QueryResult]) -> Callable[[str], str]:
    """Tells of a summary, complete or still being written, why it is none: it hands on the prompt's data instead of an
    answer. It is asked at each piece that comes."""
    from agent.knowledge.preview import result_preview

    asked = folded(question)
    heads = {result_preview(r.columns, ()).partition("\n")[0] for r in results if r.columns}

    def flaw_of(text: str) -> str:
        words = folded(text)
        if why := _leak(text) or _copied(words) or loop(text):
            return why
        if words and words == asked:
            return "it repeats the question"
        return "it repeats the data of the prompt" if any(head in text for head in heads) else ""

    return flaw_of


def loop(text: str) -> str:
    """Whether a text ends in one group of characters over and over, as a model does that finds no end; it may count."""
    end = text[-TAIL:]
    if len(end) >= LOOP_CHARS and not end[-LOOP_CHARS:].strip():
        return "it goes on in blanks without end"
    if group := _repeated(end, LOOP_TIMES, 1):
        return f"it repeats {group.strip()[:40]!r} without end"
    group = _repeated(_NUMBER.sub("0", end), COUNTING_TIMES, COUNTING_CHARS)
    return f"it repeats {group.strip()[:40]!r} without end, counting" if group else ""


def _repeated(text: str, times: int, least: int) -> str:
    """The group of at least so many characters that a text ends in so many times; empty if there is none."""
    end = text[::-1]
    if end[:_LAST] not in end[1:]:
        return ""  # looked at with each piece of an answer; what repeats has its last letters once more before
    borders = [0] * len(end)
    length = 0
    for at in range(1, len(end)):  # the longest border of each prefix (Knuth, Morris and Pratt), which tells its period
        while length and end[at] != end[length]:
            length = borders[length - 1]
        length += end[at] == end[length]
        borders[at] = length
        period = at + 1 - length
        if period >= least and at + 1 >= max(LOOP_CHARS, times * period):
            return end[:period][::-1]
    return ""


def _leak(text: str) -> str:
    found = _DATA_TAG.search(text) or _NEXT_TURN.search(text)
    return f"it holds {found.group()[:40]!r}, which belongs to the prompt" if found else ""


def folded(text: str) -> str:
    """The words of a text in lower case, without what stands between them."""
    return " ".join(_WORD.findall(text.casefold()))


@cache
def _own_words() -> tuple[frozenset[str], str]:
    """The descriptions of fields in our prompts, whole and by their parts; and all prompts as words."""
    names = sorted(f.name.removesuffix(".txt") for f in resources.files("prompts").iterdir() if f.name.endswith(".txt"))
    texts = [text for name in names for text in (template(name).system, template(name).user)]
    described = [found for text in texts for found in _FIELD.findall(text)]
    parts = [part for found in described for part in (found, *re.split(r"[;,]\s", found))]
    long = frozenset(words for part in parts if len((words := folded(part)).split()) > 2)
    return long, f" {' '.join(map(folded, texts))} "
