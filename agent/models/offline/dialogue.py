"""Dialogue without a model: a question made whole from the turns before it, and a question asked back.

In: a plan request with its history and what was said to a clarification; the engine's reading. Out: the question that
stands alone; or a `Clarification` whose options the engine has been found to read, each in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.knowledge.values import ValueIndex, value_index
from agent.models.offline.alternatives import plural, spoken
from agent.models.offline.followup import restate
from agent.models.offline.lexicon import FUNCTION_WORDS
from agent.models.offline.reading import Reading, read
from agent.models.offline.utterance import Utterance
from agent.models.offline.vocabulary import vocabulary
from agent.models.protocol import PlanRequest
from agent.state import Clarification, Clarified, Turn
from eval.schema import Schema

MAX_OPTIONS = 4
_TRIED = 10
"""Candidates read at most: each costs a reading, some milliseconds."""


def whole_question(request: PlanRequest) -> str:
    """What the request's question means on its own; the question itself where it needs nothing else."""
    values = value_index(request.database, request.schema)
    question = restate(request.question, request.history, request.schema, values) or request.question
    if request.clarified is None:
        return question
    return _settled(question, request.clarified, request.schema, values)


# --- asking back ---

_SUPERLATIVE = re.compile(
    r"\b(?:best|top|worst|biggest|leading|greatest|strongest|weakest|"
    r"most (?:important|valuable|successful|relevant))\b",
    re.IGNORECASE,
)


def ambiguity(question: str, reading: Reading, schema: Schema, values: ValueIndex) -> Clarification | None:
    """What to ask back about a question that the engine would decline: `the best customers` names no measure, and
    there are several to go by. None where it has fewer than two answers to offer."""
    if not reading.abstained or not _SUPERLATIVE.search(question):
        return None
    said = Utterance(question, schema, values)
    named = {m.tables[0][0].name for k in said.tables() if (m := said.items[k].mention) is not None}
    if len(named) != 1 or said.measures() or said.columns():
        return None
    found: dict[str, str] = {}
    body = question.strip().rstrip("?!. ")
    for tried, measure in enumerate(_measures(named.pop(), schema)):
        if tried >= _TRIED or len(found) >= MAX_OPTIONS:
            break
        option = f"{body} by {measure}"
        sql = read(option, schema, values, schema.dialect).sql
        if sql:
            found.setdefault(sql, option)
    if len(found) < 2:
        return None
    return Clarification(question="By which measure?", options=list(found.values()))


def _measures(entity: str, schema: Schema) -> Iterator[str]:
    """Measures by which the rows of a table can be ranked: its own numbers, how many rows belong to one, and the
    totals of their numbers."""
    words = vocabulary(schema)
    children = [
        table
        for table in schema.tables
        if table.name in words.tables
        and table.name != entity
        and any(key.ref_table == entity for key in table.foreign_keys)
    ]
    for child in sorted(children, key=lambda table: words.tables[table.name].bridge):
        yield f"number of {plural(words, child.name)}"
        numbers = [column for column in words.by_table[child.name] if column.role == "number" and not column.foreign]
        yield from (_summed(spoken(column)) for column in numbers[:2])
    for column in words.by_table[entity]:
        if column.role == "number":
            yield spoken(column)


def _summed(name: str) -> str:
    """A number of many rows as one: prices and ratings are averaged, amounts added up."""
    words = set(name.split())
    if words & {"total", "sum", "average", "avg"}:
        return name
    return f"average {name}" if words & _AVERAGED else f"total {name}"


_AVERAGED = frozenset(("price", "rating", "score", "rate", "age", "percent", "percentage", "ratio", "temperature"))

# --- what was said to it ---

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "former": 1, "latter": 2, "last": -1}
_CHOICE = re.compile(r"(?:the |option |number |no\.? |#)*(?P<which>\d|[a-z]+)(?: one| option)?[.)]?\Z", re.IGNORECASE)


def _settled(question: str, clarified: Clarified, schema: Schema, values: ValueIndex) -> str:
    """The question with what the user said to the clarification: a chosen option, words that fit one, a change to the
    question, or another question altogether."""
    reply = " ".join(clarified.reply.split())
    options = clarified.asked.options
    if option := _chosen(reply, options):
        return _with(question, option, schema, values)
    earlier = Turn(number=0, asked=question, question=question)
    changed = restate(reply, [earlier], schema, values)
    if changed is None and _ASKS.match(reply) and not read(reply, schema, values, schema.dialect).abstained:
        return reply
    if option := _fitting(reply, options):
        return _with(question, option, schema, values)
    for candidate in (changed, reply, f"{question.rstrip('?!. ')} {reply}", f"{question.rstrip('?!. ')} by {reply}"):
        if candidate and not read(candidate, schema, values, schema.dialect).abstained:
            return candidate
    return changed or reply


def _chosen(reply: str, options: list[str]) -> str | None:
    """The option that a reply names word for word or by its number."""
    plain = reply.strip(" .!?\"'").casefold()
    for option in options:
        if option.strip(" .!?\"'").casefold() == plain:
            return option
    if place := _CHOICE.match(plain):
        which = place["which"]
        number = int(which) if which.isdecimal() else _ORDINALS.get(which, 0)
        if number == -1 or 1 <= number <= len(options):
            return options[number - 1 if number > 0 else -1]
    return None


_ASKS = re.compile(r"(?:how|which|what|who|where|when|list|show|give|count|find|is|are|do|does)\b", re.IGNORECASE)


def _fitting(reply: str, options: list[str]) -> str | None:
    """The one option that has all words of the reply."""
    words = _content(reply.casefold())
    sharing = [option for option in options if words and words <= _content(option.casefold())]
    return sharing[0] if len(sharing) == 1 else None


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text) if word not in FUNCTION_WORDS}


def _with(question: str, option: str, schema: Schema, values: ValueIndex) -> str:
    """An option of the engine's own is a whole question; a model's may be a phrase that completes the question."""
    if not read(option, schema, values, schema.dialect).abstained:
        return option
    return f"{question.rstrip('?!. ')} ({option})"
