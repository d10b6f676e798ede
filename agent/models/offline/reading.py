"""The engine's door for programs: one question in, one `Reading` out, synchronously.

In: the question, the schema, the value index, the dialect. Out: syntax tree and SQL, how sure the engine is, the
interpretation in plain words, and what it did not understand. Deterministic: no network, no model, no randomness.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

from sqlglot import exp

from agent.knowledge.values import EMPTY, ValueIndex
from agent.models.offline import explanation, ranking
from agent.models.offline.choosing import Draft
from agent.models.offline.interpretation import Query
from agent.models.offline.joins import join_graph
from agent.models.offline.lexicon import FUNCTION_WORDS
from agent.models.offline.linking import Item, link
from agent.models.offline.reader import Reader
from agent.models.offline.tokens import Token, tokenize
from agent.models.offline.tree import TreeBuilder, Unreachable
from agent.models.offline.vocabulary import Vocabulary, vocabulary
from eval.schema import Dialect, Schema

MAX_QUESTION = 2_000
"""Characters; a longer question is not read."""

_WRITES = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(delete|drop|remove|insert|update|create|alter|truncate|erase|destroy|"
    r"rename|grant|revoke|attach|modify|overwrite)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a question was understood."""

    sql: str
    """In the dialect asked for; empty when the engine abstains."""
    tree: exp.Expression | None
    confidence: float
    """0..1: the estimated probability that the reading is right; see `ranking`."""
    abstained: bool
    interpretation: str
    """In plain words; when the engine abstains, why."""
    not_understood: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    """Near names or questions to offer."""
    features: dict[str, float] = field(default_factory=dict)
    """What the confidence rests on."""
    guess: str = ""
    """The SQL that the engine would have given, had it not abstained for want of confidence."""


def read(
    question: str,
    schema: Schema,
    values: ValueIndex = EMPTY,
    dialect: Dialect | None = None,
    *,
    today: dt.date | None = None,
    threshold: float | None = None,
) -> Reading:
    """Read one question. Never raises for any text; below `threshold` (default: the engine's own) it abstains."""
    text = question.strip()
    if not re.search(r"\w", text):
        return _abstain("There is no question to read.")
    if len(text) > MAX_QUESTION:
        return _abstain(f"The question is longer than {MAX_QUESTION} characters; please ask it in fewer words.")
    if write := _WRITES.match(text):
        return _abstain(f"This asks to {write[1].lower()} data; only reading is possible here.")
    if not schema.tables:
        return _abstain("The database has no tables.")
    try:
        return _read(text, schema, values, dialect or schema.dialect, today or dt.date.today(), threshold)
    except RecursionError:
        return _abstain("The question is nested too deeply to read.")


def _abstain(why: str, **more: object) -> Reading:
    return Reading("", None, 0.0, True, why, **more)  # type: ignore[arg-type]


def _read(
    text: str, schema: Schema, values: ValueIndex, dialect: Dialect, today: dt.date, threshold: float | None
) -> Reading:
    words = vocabulary(schema)
    graph = join_graph(words)
    tokens = tokenize(text)
    items = link(tokens, words, values)
    reader = Reader(tokens, items, words, graph, values, today)
    draft = reader.read()
    unread = not_understood(tokens, items, draft)
    near = explanation.near_names(unread, words)
    if not draft.query.select:
        about = ", ".join(f"“{w}”" for w in unread[:5])
        why = f"I could not tell what to show{f'; I do not know {about} here' if about else ''}."
        return _abstain(why, not_understood=unread, alternatives=near)
    builder = TreeBuilder(words, graph, frozenset(t.lower for t in tokens if t.kind == "word"))
    try:
        tree = builder.build(draft.query)
    except Unreachable as problem:
        return _abstain(f"I see no way to combine these: {problem}.", not_understood=unread, alternatives=near)
    features = ranking.features(draft, tokens, items, unread, builder.plans, words)
    confidence = ranking.confidence(features)
    meaning = explanation.explain(draft.query, words, draft.notes)
    sql = tree.sql(dialect=dialect)
    limit = ranking.THRESHOLD if threshold is None else threshold
    if confidence < limit:
        doubt = f" I did not understand {', '.join(f'“{w}”' for w in unread)}." if unread else ""
        return Reading(
            "", None, confidence, True, f"I am not sure enough to answer.{doubt} My best guess was: {meaning}.",
            unread, near, features, sql,
        )  # fmt: skip
    return Reading(sql, tree, confidence, False, meaning, unread, near, features, sql)


def not_understood(tokens: tuple[Token, ...], items: tuple[Item, ...], draft: Draft) -> tuple[str, ...]:
    """Content words that the reading does not explain, in order."""
    found = []
    for item in items:
        positions = range(item.start, item.end)
        if item.kind == "sign" or any(p in draft.used for p in positions):
            continue
        words = [tokens[p].text for p in positions if tokens[p].lower not in FUNCTION_WORDS]
        if words and not item.is_keyword("and", "or", "relative", "also", "group", "distinct"):
            found.append(" ".join(words))
    return tuple(dict.fromkeys(found))


__all__ = ["MAX_QUESTION", "Query", "Reading", "Vocabulary", "read"]
