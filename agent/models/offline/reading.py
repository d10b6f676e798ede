"""The engine's door for programs: one question in, one `Reading` out, synchronously.

In: the question, the schema, the value index, the dialect. Out: syntax tree and SQL, how sure the engine is, the
interpretation in plain words, and what it did not understand. Deterministic: no network, no model, no randomness.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from agent.knowledge.values import EMPTY, ValueIndex
from agent.models.offline import explanation, ranking
from agent.models.offline.alternatives import rephrasings
from agent.models.offline.choosing import Draft
from agent.models.offline.evidence import meanings, split_evidence
from agent.models.offline.interpretation import Query
from agent.models.offline.joins import JoinPlan, join_graph
from agent.models.offline.lexicon import FUNCTION_WORDS, word_set
from agent.models.offline.linking import link
from agent.models.offline.looking import Look, foreseen
from agent.models.offline.mentions import Item
from agent.models.offline.reader import Reader
from agent.models.offline.tokens import Token, tokenize
from agent.models.offline.tree import TreeBuilder, Unreachable, readable
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
    """Questions near the one asked that the engine can answer, where it abstains."""
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
    place: int = 1,
    look: Look | None = None,
) -> Reading:
    """Read one question. Never raises for any text; below `threshold` (default: the engine's own) it abstains.

    `place` asks for the second, third … best reading; where there are not so many, the last one is given. External
    knowledge may follow the question after a blank line, as `Evidence: …`. `look` lets the confidence rest on the rows
    that a reading's statement returns, too.
    """
    text, knowledge = split_evidence(question.strip())
    if not re.search(r"\w", text):
        return _abstain("There is no question to read.")
    if len(text) > MAX_QUESTION:
        return _abstain(f"The question is longer than {MAX_QUESTION} characters; please ask it in fewer words.")
    if write := _WRITES.match(text):
        return _abstain(f"This asks to {write[1].lower()} data; only reading is possible here.")
    if not schema.tables:
        return _abstain("The database has no tables.")
    filled = any(t.row_count != 0 for t in schema.tables)
    door = _Door(schema, values, dialect or schema.dialect, today or dt.date.today(), look if filled else None)
    try:
        return door.read(text, knowledge[:MAX_QUESTION], ranking.THRESHOLD if threshold is None else threshold, place)
    except RecursionError:
        return _abstain("The question is nested too deeply to read.")


def _abstain(why: str, **more: object) -> Reading:
    return Reading("", None, 0.0, True, why, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Attempt:
    """One way to read a question, before it is told."""

    reader: Reader
    draft: Draft
    unread: tuple[str, ...]
    tree: exp.Expression | None = None
    features: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.0
    problem: str = ""


class _Door:
    """One schema with its values, to read questions against."""

    def __init__(
        self, schema: Schema, values: ValueIndex, dialect: Dialect, today: dt.date, look: Look | None = None
    ) -> None:
        self._words = vocabulary(schema)
        self._graph = join_graph(self._words)
        self._values, self._dialect, self._today, self._look = values, dialect, today, look

    def read(self, text: str, knowledge: str, threshold: float, place: int) -> Reading:
        """The reading at `place`, with questions to offer where it is not sure enough."""
        tokens = tokenize(text)
        known = meanings(knowledge, self._words) if knowledge else ()
        items = link(tokens, self._words, self._values, known)
        attempt = self._attempt(tokens, items)
        if attempt.confidence < _SURE:
            other = self._next(tokens, items, attempt)
            least = attempt.confidence + _MARGIN
            if other is not None and self._hollow(attempt) and not self._hollow(other):
                least = attempt.confidence - _MARGIN
            if other is not None and other.confidence > least and _says_as_much(other, attempt):
                features = {**other.features, "another reading taken": 1.0}
                attempt = replace(other, features=features, confidence=ranking.confidence(features))
            elif other is not None:
                features = {**attempt.features, "rival reading": max(0.0, other.confidence - attempt.confidence + 0.2)}
                attempt = replace(attempt, features=features, confidence=ranking.confidence(features))
        for _ in range(place - 1):
            further = self._next(tokens, items, attempt)
            if further is None or not (self._hollow(attempt) or self._nearly_as_likely(further, attempt)):
                break
            attempt = further
        reading = self._tell(self._looked_at(attempt), threshold)
        if reading.abstained and threshold > 0:
            return replace(reading, alternatives=rephrasings(attempt.reader, attempt.unread, self._answers(threshold)))
        return reading

    def _looked_at(self, attempt: _Attempt) -> _Attempt:
        """The attempt with what its rows say of it. They do not choose among readings: a join repeats rows, right or
        wrong; only that there are none, or only NULLs, speaks for another reading."""
        if attempt.tree is None:
            return attempt
        features = {**attempt.features, **(self._look(attempt.tree) if self._look else foreseen(attempt.tree))}
        if features["names shown"] and not features["joins"]:
            features["result repeats"] = 0.0  # two things of one name
        return replace(attempt, features=features, confidence=ranking.confidence(features))

    def _nearly_as_likely(self, other: _Attempt, first: _Attempt) -> bool:
        return self._looked_at(other).confidence >= self._looked_at(first).confidence - _WORSE

    def _hollow(self, attempt: _Attempt) -> bool:
        """Whether the attempt's statement was looked at and returns nothing."""
        seen = self._look(attempt.tree) if self._look is not None and attempt.tree is not None else {}
        return bool(seen.get("result empty") or seen.get("result null"))

    def _attempt(
        self, tokens: tuple[Token, ...], items: tuple[Item, ...], avoid: frozenset[object] = frozenset()
    ) -> _Attempt:
        reader = Reader(tokens, items, self._words, self._graph, self._values, self._today, avoid)
        draft = reader.read()
        unread = not_understood(tokens, items, draft)
        if not draft.query.select:
            about = ", ".join(f"“{w}”" for w in unread[:5])
            why = f"I could not tell what to show{f'; I do not know {about} here' if about else ''}."
            return _Attempt(reader, draft, unread, problem=why)
        builder = TreeBuilder(self._words, self._graph, frozenset(t.lower for t in tokens if t.kind == "word"))
        try:
            tree = builder.build(draft.query)
        except Unreachable as problem:
            return _Attempt(reader, draft, unread, problem=f"I see no way to combine these: {problem}.")
        unread = tuple(w for w in unread if not _explained_by_join(w, reader, builder.plans))
        features = ranking.features(draft, tokens, items, unread, builder.plans, self._words)
        return _Attempt(reader, draft, unread, tree, features, ranking.confidence(features))

    def _next(self, tokens: tuple[Token, ...], items: tuple[Item, ...], before: _Attempt) -> _Attempt | None:
        """The best reading that decides one close choice otherwise, and comes to another statement."""
        told = before.tree.sql(self._dialect) if before.tree is not None else ""
        options = []
        for choice in list(before.draft.close)[:_CLOSE_CHOICES]:
            option = self._attempt(tokens, items, before.reader.avoid | {choice})
            if option.tree is not None and option.tree.sql(self._dialect) != told:
                options.append(option)
        return max(options, key=lambda o: o.confidence, default=None)

    def _tell(self, attempt: _Attempt, threshold: float) -> Reading:
        if attempt.tree is None:
            return _abstain(attempt.problem, not_understood=attempt.unread)
        meaning = explanation.explain(attempt.draft.query, self._words, attempt.draft.notes)
        sql = readable(attempt.tree, self._dialect)
        if attempt.confidence >= threshold:
            return Reading(
                sql, attempt.tree, attempt.confidence, False, meaning, attempt.unread, (), attempt.features, sql
            )
        doubt = f" I did not understand {', '.join(f'“{w}”' for w in attempt.unread)}." if attempt.unread else ""
        why = f"I am not sure enough to answer.{doubt} My best guess was: {meaning}."
        return Reading("", None, attempt.confidence, True, why, attempt.unread, (), attempt.features, sql)

    def _answers(self, threshold: float) -> Callable[[str], bool]:
        """Whether a question is read with enough confidence."""

        def sure(question: str) -> bool:
            tokens = tokenize(question)
            attempt = self._attempt(tokens, link(tokens, self._words, self._values))
            return attempt.tree is not None and attempt.confidence >= threshold and not attempt.unread

        return sure


_SURE = 0.75
"""Below this confidence other readings are weighed against the first."""
_MARGIN = 0.08
"""How much more likely than the first another reading must be to replace it."""
_WORSE = 0.15
"""By how much less likely the next best reading may be; a first reading whose result holds nothing yields to any."""
_CLOSE_CHOICES = 6
"""Choices that are decided otherwise, one at a time, when another reading is asked for."""

_SAID = ("aggregates", "group", "conditions", "having", "ordered", "superlative", "negation", "subquery")


def _says_as_much(other: _Attempt, first: _Attempt) -> bool:
    """Whether another reading keeps every sort of clause that the first has: a likelier one may not just say less."""
    return all(other.features.get(name, 0.0) >= first.features.get(name, 0.0) for name in _SAID)


_PAST = word_set(
    "bought sold made wrote won took gave paid held ran sang built taught led flew sent went drove spoke met owned own "
    "owns play plays work works buy buys sell sells attend attends teach teaches take takes rent rents like likes "
    "write writes support supports visit visits join joins supply supplies appear appears offer offers belong belongs"
)


def _tables_named(reader: Reader, start: int, end: int) -> set[str]:
    """Tables that the words from `start` to `end` name, themselves or through a stored value."""
    found: set[str] = set()
    for k, item in enumerate(reader.items):
        if start <= item.start and item.end <= end and item.mention is not None:
            if reader.sorts[k] == "table":
                found.add(reader.table_of(k))
            elif reader.sorts[k] == "value":
                found.update(h.table for h in item.mention.values[:4])
    return found


def _explained_by_join(word: str, reader: Reader, plans: Sequence[JoinPlan]) -> bool:
    """A verb between two entities that foreign keys tie directly, or over one bridge, is what the join says."""
    lower = word.lower()
    at = next((k for k, t in enumerate(reader.tokens) if t.text == word), len(reader.tokens))
    if not (lower.endswith(("ed", "ing")) or lower in _PAST) or not plans or not plans[-1].steps:
        return False
    sides = [_tables_named(reader, 0, at), _tables_named(reader, at + 1, len(reader.tokens))]
    plan = plans[-1]
    unnamed = set(plan.tables) - sides[0] - sides[1]
    bridges = all(reader.vocabulary.tables[t].bridge for t in unnamed)
    met = [side & set(plan.tables) for side in sides]
    return bool(met[0] and met[1]) and met[0] != met[1] and len(unnamed) <= 1 and bridges


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
