"""Dialogue without a model: rewrite a follow-up as a standalone question, and ask for clarification.

In: a plan request with its history and the user's reply to a clarification; the engine's reading. Out: a standalone
question, or a `Clarification` whose options the engine can read, each in a different way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.knowledge.effort import MOST_STEPS, TooTangled, limited
from agent.knowledge.values import ValueIndex, value_index
from agent.knowledge.vocabulary import vocabulary
from agent.models.protocol import PlanRequest
from agent.parser.abstention import spoken
from agent.parser.assumed_values import assumed_values
from agent.parser.engine import Reading, read
from agent.parser.follow_up import Turn as EarlierTurn
from agent.parser.follow_up import points_back, restate
from agent.parser.measures import AVERAGED
from agent.parser.utterance import Utterance
from agent.state import Clarification, Clarified, Turn
from eval.databases.base import Database
from eval.language.lexicon import FUNCTION_WORDS
from eval.schema import Schema

MAX_OPTIONS = 4
_TRIED = 10
"""The most candidates that are read: each costs a reading, a few milliseconds."""


def whole_question(request: PlanRequest, database: Database) -> str:
    """The request's question as a standalone question; unchanged when it needs no context."""
    texts = [request.question, *(turn.question for turn in request.history)]
    rows = database.holds_rows
    values = value_index(database, request.schema) if rows else assumed_values(texts, request.schema)
    question = completed(request.question, request.history, request.schema, values) or request.question
    if request.clarified is None:
        return question
    return _settled(question, request.clarified, request.schema, values)


def completed(question: str, earlier: Sequence[EarlierTurn], schema: Schema, values: ValueIndex) -> str | None:
    """The question completed by the turn before it; None when it stands alone: its words do not point back, and it is
    read better by itself."""
    restated = restate(question, earlier, schema, values)
    if restated is None or points_back(question):
        return restated
    alone, joined = (read(text, schema, values, threshold=0.0) for text in (question, restated))
    less_sure = not alone.not_understood and joined.confidence + _MARGIN < alone.confidence
    return None if joined.not_understood or less_sure else restated


_MARGIN = 0.1
"""How much more confidently a question must be read by itself to stand alone."""


# --- asking for clarification ---

_SUPERLATIVE = re.compile(
    r"\b(?:best|top|worst|biggest|leading|greatest|strongest|weakest|"
    r"most (?:important|valuable|successful|relevant))\b",
    re.IGNORECASE,
)


def may_be_ambiguous(reading: Reading) -> bool:
    """Whether a clarification may help: no reading had enough confidence, or the ranking measure was guessed."""
    return reading.abstained or bool(reading.features.get("measure guessed"))


def ambiguity(question: str, reading: Reading, schema: Schema, values: ValueIndex) -> Clarification | None:
    """The clarification for a question that the engine would decline: `the best customers` names no measure, and there
    are several to choose from. None when there are fewer than two answers to offer."""
    if not may_be_ambiguous(reading) or not _SUPERLATIVE.search(question):
        return None
    try:
        with limited(MOST_STEPS):
            options = _readable_options(question, schema, values)
    except TooTangled:
        return None
    return Clarification(question="By which measure?", options=options) if len(options) > 1 else None


def _readable_options(question: str, schema: Schema, values: ValueIndex) -> list[str]:
    """The question by each measure that its table can be ranked by, where the readings differ."""
    utterance = Utterance(question, schema, values)
    named = {m.tables[0][0].name for k in utterance.tables() if (m := utterance.items[k].mention) is not None}
    if len(named) != 1 or utterance.measures() or utterance.columns():
        return []
    options: dict[str, str] = {}
    body = question.strip().rstrip("?!. ")
    for tried, measure in enumerate(_measures(named.pop(), schema)):
        if tried >= _TRIED or len(options) >= MAX_OPTIONS:
            break
        option = f"{body} by {measure}"
        sql = read(option, schema, values).sql
        if sql:
            options.setdefault(sql, option)
    return list(options.values())


def _measures(entity: str, schema: Schema) -> Iterator[str]:
    """Measures by which the rows of a table can be ranked: its own numbers, the number of rows that belong to one row,
    and the totals of their numbers."""
    words = vocabulary(schema)
    children = [
        table
        for table in schema.tables
        if table.name in words.tables
        and table.name != entity
        and any(key.ref_table == entity for key in table.foreign_keys)
    ]
    for child in sorted(children, key=lambda table: words.tables[table.name].bridge):
        yield f"number of {words.tables[child.name].plural}"
        numbers = [column for column in words.by_table[child.name] if column.role == "number" and not column.foreign]
        for name in (spoken(column) for column in numbers[:2]):  # prices and ratings are averaged, amounts are summed
            said = set(name.split())
            whole = said & {"total", "sum", "average", "avg"}
            yield name if whole else f"average {name}" if said & AVERAGED else f"total {name}"
    for column in words.by_table[entity]:
        if column.role == "number":
            yield spoken(column)


# --- the user's reply ---

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "former": 1, "latter": 2, "last": -1}
_CHOICE = re.compile(r"(?:the |option |number |no\.? |#)*(?P<which>\d|[a-z]+)(?: one| option)?[.)]?\Z", re.IGNORECASE)


def _settled(question: str, clarified: Clarified, schema: Schema, values: ValueIndex) -> str:
    """The question combined with the user's reply to the clarification: a chosen option, words that match one option, a
    change to the question, or a different question."""
    reply = " ".join(clarified.reply.split())
    options = clarified.asked.options
    if option := _chosen(reply, options):
        return _with(question, option, schema, values)
    earlier = Turn(number=0, asked=question, question=question)
    changed = restate(reply, [earlier], schema, values)
    if changed is None and _ASKS.match(reply) and not read(reply, schema, values).abstained:
        return reply
    # The only option that contains all words of the reply
    words = _content(reply.casefold())
    sharing = [option for option in options if words and words <= _content(option.casefold())]
    if len(sharing) == 1:
        return _with(question, sharing[0], schema, values)
    for candidate in (changed, reply, f"{question.rstrip('?!. ')} {reply}", f"{question.rstrip('?!. ')} by {reply}"):
        if candidate and not read(candidate, schema, values).abstained:
            return candidate
    return changed or reply


def _chosen(reply: str, options: list[str]) -> str | None:
    """The option that a reply names literally or by its number."""
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


def _content(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text) if word not in FUNCTION_WORDS}


def _with(question: str, option: str, schema: Schema, values: ValueIndex) -> str:
    """The engine's own options are whole questions; a model's option may be a phrase that completes the question."""
    if not read(option, schema, values).abstained:
        return option
    return f"{question.rstrip('?!. ')} ({option})"
