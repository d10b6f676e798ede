"""The programmatic entry point of the engine: one question in, one `Reading` out, synchronously.

In: the question, the schema, the value index, the dialect. Out: syntax tree and SQL, the confidence, the interpretation
in plain words, and the words not understood. Deterministic: no network, no model, no randomness.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from sqlglot import exp

from agent.knowledge.effort import MOST_STEPS, TooTangled, limited, spend
from agent.knowledge.values import EMPTY, ValueIndex
from agent.knowledge.vocabulary import vocabulary
from agent.parser import abstention, confidence, doubts, units
from agent.parser.abstention import rephrasings
from agent.parser.coverage import names_without_effect, not_understood, unaccounted
from agent.parser.entities import with_entities
from agent.parser.execution_probe import Look, StoredRows
from agent.parser.external_knowledge import Meaning, meanings, split_evidence
from agent.parser.implausible import doubted
from agent.parser.interpretation import Condition, Query
from agent.parser.joins import JoinPlan, join_graph
from agent.parser.measures import less_discounts
from agent.parser.periods import before
from agent.parser.question import Item, LinkedQuestion
from agent.parser.reader import read as read_items
from agent.parser.repairs import repaired
from agent.parser.schema_linking import link
from agent.parser.shapes import fitted
from agent.parser.sorts import linked_question
from agent.parser.sql_builder import TreeBuilder, Unreachable, readable
from agent.parser.state import Draft
from agent.parser.stored_states import qualified
from agent.parser.wording import Known, Wording, worded
from agent.runtime.form import asked_form
from agent.runtime.probability import OTHER_READING, STATED_DOUBT
from eval.engines import ENGINES
from eval.language.tokens import Token, tokenize
from eval.schema import WRITTEN_DIALECTS, Dialect, Schema, told_apart, within_namespace
from eval.sql.in_words import pieces
from eval.sql.translation import written_in
from eval.sql.types import ParsedQuery

MAX_QUESTION = 2_000
"""Characters; a longer question is not read."""

_WRITES = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(?:"
    r"(delete|drop|remove|insert|update|create|alter|truncate|erase|destroy|rename|grant|revoke|attach|modify|overwrite)"
    r"\b|(cancel|mark|close|reopen|approve|reject|refund|restore|archive|assign|reschedule|correct|add|send|pay|merge|"
    r"undo)\s+(?:the|all|this|that|these|those|every|each|my|our|an?)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """The engine's reading of a question."""

    sql: str
    """In the requested dialect; empty when the engine abstains."""
    tree: exp.Expression | None
    confidence: float
    """0..1: the estimated probability that the reading is right; see `confidence`."""
    abstained: bool
    interpretation: str
    """The interpretation in plain words; when the engine abstains, the reason."""
    not_understood: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    """When the engine abstains: similar questions that it can answer."""
    features: dict[str, float] = field(default_factory=dict)
    """The features behind the confidence."""
    guess: str = ""
    """The SQL that the engine would have given if its confidence had been high enough."""
    refused: bool = False
    """It abstains because the question asks for no rows: a change of data, a forecast, small talk."""


def read(
    question: str,
    schema: Schema,
    values: ValueIndex = EMPTY,
    dialect: Dialect | None = None,
    *,
    today: dt.date | None = None,
    threshold: float | None = None,
    evidence: str = "",
    place: int = 1,
    look: Look | None = None,
) -> Reading:
    """Read one question. A table's name that several namespaces have means the one on the search path, else that of the
    namespace in which the question can be read best; where two are as good, it abstains. A question that names a
    namespace is read with all tables. Takes and returns what `_read` does."""

    reading = partial(
        _read, question, dialect=dialect, today=today, threshold=threshold, evidence=evidence, place=place, look=look
    )
    apart = told_apart(schema)
    shared = [t for t in apart.tables if t.stored_name not in (None, t.name)]
    words = {word.casefold() for word in re.findall(r"\w+", question)}
    if not shared or any((t.namespace or "").casefold() in words for t in shared):
        return reading(apart, values)
    found: list[Reading] = []
    stored = {t.stored_name for t in shared}
    reached = [None for t in schema.tables if t.namespace is None and t.name in stored]
    for namespace in dict.fromkeys((*reached, *(t.namespace for t in shared))):
        homes = {
            (t.name, c.name): t.stored_name or t.name for t in shared if t.namespace == namespace for c in t.columns
        }
        found.append(reading(within_namespace(schema, namespace), values.moved(homes) if homes else values))
        if found[-1].sql and namespace is None:
            return found[-1]
    first, *others = sorted(found, key=lambda one: -one.confidence)
    if first.sql and any(o.sql and o.sql != first.sql and o.confidence > first.confidence - _ALIKE for o in others):
        named = " and ".join(dict.fromkeys(t.namespace or "" for t in shared))
        return _abstain(f"Tables of the same name are in {named}; please name the one that you mean.")
    return first


_ALIKE = 0.05
"""Difference of confidence below which the tables of two namespaces may be meant alike."""


def _read(
    question: str,
    schema: Schema,
    values: ValueIndex,
    dialect: Dialect | None,
    *,
    today: dt.date | None,
    threshold: float | None,
    evidence: str,
    place: int,
    look: Look | None,
) -> Reading:
    """Read one question. Never raises for any text; below `threshold` (default: the engine's own) it abstains.

    `place` asks for the second, third … best reading; if there are fewer, the last one is returned. `evidence` is
    external knowledge, in statements such as `big means size > 5`; it may also follow the question after a blank line,
    as `Evidence: …`. With `look`, the confidence also depends on the rows that a reading's statement returns.
    """
    text, knowledge = split_evidence(question.strip())
    knowledge = "; ".join(filter(None, (knowledge, evidence)))
    if not re.search(r"\w", text):
        return _abstain("There is no question to read.")
    if len(text) > MAX_QUESTION:
        return _abstain(f"The question is longer than {MAX_QUESTION} characters; please ask it in fewer words.")
    if write := _WRITES.match(text):
        asked_for = (write[1] or write[2]).lower()
        return _abstain(f"This asks to {asked_for} data; only reading is possible here.", refused=True)
    if not schema.tables:
        return _abstain("The database has no tables.")
    filled = any(t.row_count != 0 for t in schema.tables)
    target = dialect or schema.dialect
    rewritten = target in WRITTEN_DIALECTS
    parser = _Parser(
        replace(schema, dialect="duckdb") if rewritten else schema,
        values,
        "duckdb" if rewritten else target,
        today or dt.date.today(),
        look if filled else None,
    )
    try:
        with limited(MOST_STEPS):
            asked = asked_form(text, parser.names)
            reading = parser.read(
                asked.text, knowledge[:MAX_QUESTION], confidence.THRESHOLD if threshold is None else threshold, place
            )
        if asked.note and reading.tree is not None:
            reading = replace(reading, interpretation=f"{reading.interpretation}; {asked.note}")
        return _rewritten(reading, target, schema) if rewritten else reading
    except TooTangled as end:
        return _abstain(str(end))
    except RecursionError:
        return _abstain("The question is nested too deeply to read.")


def _rewritten(reading: Reading, dialect: Dialect, schema: Schema) -> Reading:
    """The reading in a dialect that only writes: it was made with DuckDB's functions."""
    if reading.tree is None:
        return replace(reading, guess="")
    tree = written_in(reading.tree, dialect, schema)
    if tree is None:
        return _abstain(f"This cannot be written for {ENGINES[dialect].title}.", reading.not_understood)
    sql = readable(tree, dialect)
    return replace(reading, tree=tree, sql=sql if reading.sql else "", guess=sql)


def _abstain(why: str, not_understood: tuple[str, ...] = (), *, refused: bool = False) -> Reading:
    return Reading("", None, 0.0, True, why, not_understood, refused=refused)


@dataclass(frozen=True)
class _Attempt:
    """One way to read a question, before it becomes a `Reading`."""

    wording: Wording
    question: LinkedQuestion
    draft: Draft
    unread: tuple[str, ...]
    tree: exp.Expression | None = None
    features: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.0
    problem: str = ""
    plans: tuple[JoinPlan, ...] = ()
    rival: Query | None = None
    """The next best reading's query."""

    def with_features(self, features: dict[str, float], rival: Query | None = None) -> _Attempt:
        """The attempt with further features, and the confidence that follows from all."""
        features = {**self.features, **features}
        sure = confidence.confidence(features)
        return replace(self, features=features, confidence=sure, rival=rival or self.rival)


class _Parser:
    """One schema with its values, against which questions are read."""

    def __init__(self, schema: Schema, values: ValueIndex, dialect: Dialect, today: dt.date, look: Look | None) -> None:
        self._existing = vocabulary(schema, values.stored_forms)
        self._dialect = dialect
        self._entities = with_entities(schema, values)
        words = vocabulary(self._entities.schema, self._entities.values.stored_forms)
        self._known = Known(words, self._entities.values, today)
        self._graph = join_graph(words)
        self._rows = StoredRows(look, self._entities, words, self._graph)

    def names(self, word: str) -> bool:
        """Whether a table or column has this word, a lemma, in its name."""
        return word in self._existing.holders

    def read(self, text: str, knowledge: str, threshold: float, place: int) -> Reading:
        """The reading at `place`, with similar questions to offer when its confidence is too low."""
        if reply := abstention.not_about_rows(text, self._existing):
            return _abstain(reply, refused=True)
        attempt = self._best(text, knowledge, place)
        if attempt.draft.any_year and (years := self._rows.years_since_data(attempt.draft.assumed)):
            earlier = copy(self)
            earlier._known = replace(self._known, today=before(self._known.today, years, "year"))
            return earlier._finished(earlier._best(text, knowledge, place), threshold)
        return self._finished(attempt, threshold)

    def _best(self, text: str, knowledge: str, place: int, first: _Attempt | None = None) -> _Attempt:
        """The likeliest attempt, or with `place` a further one; `first` is the text's first one where it is known."""
        known = meanings(knowledge, self._known.vocabulary) if knowledge else ()
        spend(len(text) // 4)
        wording = first.wording if first is not None else worded(text, self._known)
        attempt = first or self._first(wording, known)
        if wording.shape is not None and attempt.tree is None:
            attempt = self._first(Wording(text), known)
        if attempt.confidence < OTHER_READING:
            attempt = self._likelier(attempt)
        for _ in range(place - 1):
            further = self._next(attempt)
            if further is None:
                break
            least = 0.0 if self._hollow(attempt) else self._looked_at(attempt).confidence - _WORSE
            if self._looked_at(further).confidence < least:
                break
            attempt = further
        return attempt

    def _first(self, wording: Wording, known: Sequence[Meaning] = ()) -> _Attempt:
        """The attempt with the likeliest meaning of each word."""
        words, values, today = self._known.vocabulary, self._known.values, self._known.today
        tokens = units.apart(tokenize(wording.text), values.find)
        items = qualified(tokens, link(tokens, words, values, known), words, values, today)
        return self._attempt(wording, tokens, items)

    def _likelier(self, first: _Attempt) -> _Attempt:
        """The next best attempt if it is much likelier, otherwise the first one."""
        other = self._next(first)
        if other is None or "date_averaged" in other.draft.doubts.keys() - first.draft.doubts.keys():
            return first  # nobody means the average of dates
        filled = self._hollow(first) and not self._hollow(other)
        least = first.confidence + (-_MARGIN if filled else _MARGIN)
        kept = all(other.features.get(name, 0.0) >= first.features.get(name, 0.0) for name in _CLAUSES)
        if other.confidence > least and kept:
            return other.with_features({"another reading taken": 1.0}, first.draft.query)
        return first.with_features(
            {"rival reading": max(0.0, other.confidence - first.confidence + 0.2)}, other.draft.query
        )

    def _next(self, first: _Attempt) -> _Attempt | None:
        """The best reading that makes one close choice differently and leads to a different statement."""
        q = first.question
        options = (
            self._attempt(first.wording, q.tokens, q.items, q.avoid | {choice})
            for choice in list(first.draft.close)[:_CLOSE_CHOICES]
        )
        different = (o for o in options if o.tree is not None and o.tree != first.tree)
        return max(different, key=lambda o: o.confidence, default=None)

    def _finished(self, attempt: _Attempt, threshold: float) -> Reading:
        """The reading of an attempt, with similar questions to offer when its confidence is too low."""
        reading = self._as_reading(self._looked_at(attempt), threshold)
        if reading.abstained and threshold > 0:
            try:
                offered = rephrasings(attempt.question, attempt.draft, attempt.unread, self._answers(threshold))
            except TooTangled:
                return reading
            return replace(reading, alternatives=offered)
        return reading

    def _looked_at(self, attempt: _Attempt) -> _Attempt:
        """The attempt with observations on its rows. They do not choose among readings, because a join repeats rows
        whether it is right or wrong. Only an empty result, or one with only NULLs, favours another reading."""
        if attempt.tree is None:
            return attempt
        observed = self._rows.observed(attempt.tree)
        query, columns = attempt.draft.query, self._known.vocabulary.columns
        by_key = any(e.column and not e.part and columns[e.column].primary for e in query.group)
        if attempt.features["names shown"] and (query.each_once or by_key or not attempt.features["joins"]):
            observed = {**observed, "result repeats": 0.0}  # two things with the same name
        return attempt.with_features(observed)

    def _hollow(self, attempt: _Attempt) -> bool:
        return attempt.tree is not None and self._rows.hollow(attempt.tree)

    def _attempt(
        self, wording: Wording, tokens: Sequence[Token], items: Sequence[Item], avoid: frozenset[object] = frozenset()
    ) -> _Attempt:
        words, today = self._known.vocabulary, self._known.today
        columns = sum(len(x.mention.columns) for x in items if x.mention is not None)
        spend(20 * len(items) + len(items) ** 2 // 15 + columns // 2)
        q = linked_question(tokens, items, words, self._graph, self._known.values, today, avoid)
        draft = read_items(q)
        unread = (*not_understood(q, draft), *wording.lost)
        if not draft.query.select:
            problem = abstention.nothing_shown(q, wording.in_asked_words(unread))
            return _Attempt(wording, q, draft, unread, problem=problem)
        draft.notes.extend(wording.notes)
        if wording.doubt:
            draft.doubt("wording_guessed")
            draft.guess = wording.doubt
        if wording.shape is not None and not fitted(draft.query, wording.shape, words):
            return _Attempt(wording, q, draft, unread, problem="I could not tell what to compute.")
        # Note the compared periods that depend on today's date
        for span in wording.shape.periods if wording.shape is not None else ():
            if span.relative:
                dated = next(c.left.column for c in draft.query.where[-1] if isinstance(c, Condition))
                draft.assumed.extend([(dated, span.start)] if dated is not None else [])
                draft.any_year = draft.any_year or span.any_year
        repaired(draft, q)
        less_discounts(draft, words, self._rows.observed_of)
        doubted(draft, q)
        builder = TreeBuilder(words, self._graph, frozenset(t.lower for t in tokens if t.kind == "word"))
        try:
            tree = self._rows.written(builder.build(draft.query))
        except Unreachable as problem:
            return _Attempt(wording, q, draft, unread, problem=f"I see no way to combine these: {problem}.")
        missing, tied = unaccounted(unread, q, draft, builder.plans)
        features = confidence.features(draft, q, (*missing, *tied), builder.plans)
        joined = () if self._entities.sources and tree.find(exp.Join) is None else tuple(builder.plans)
        if not joined:
            features |= dict.fromkeys(("joins", "unnamed tables", "condition in another table"), 0.0)
        features["words left out"] = float(len(missing))
        query = draft.query
        clauses = query.where or query.group or query.order or query.having or query.limit is not None or query.shape
        counted = [e.function for e in query.select] == ["count"]
        # The query lists or counts all rows of one table
        only_rows = not (clauses or builder.plans[-1].steps) and (counted or "shown_by_default" in draft.doubts)
        features["only rows, words left out"] = float(bool(missing) and only_rows)
        features["relational verbs"] = float(len(tied))
        features["measure guessed"] = float(wording.guessed)
        features["shaped"] = float(draft.query.shape is not None)
        features["names without effect"] = float(names_without_effect(q, builder.plans, draft.query))
        return _Attempt(wording, q, draft, missing, tree, features, confidence.confidence(features), plans=joined)

    def _as_reading(self, attempt: _Attempt, threshold: float) -> Reading:
        unread = attempt.wording.in_asked_words(attempt.unread)
        if attempt.tree is None:
            return _abstain(attempt.problem, unread)
        sure = attempt.confidence >= threshold
        notes = [*attempt.draft.notes, *self._rows.beyond_data(attempt.draft.assumed)]
        if sure and attempt.confidence < STATED_DOUBT and not attempt.unread:
            sentence = doubts.doubt_sentence(attempt.question, attempt.draft, list(attempt.plans), attempt.rival)
            notes.append(f"{doubts.MARK}{sentence}")
        said = [text for _, text in pieces(ParsedQuery("", self._dialect, attempt.tree))]
        meaning = "; ".join((", ".join(said), *notes))
        sql = readable(attempt.tree, self._dialect)
        return Reading(
            sql if sure else "",
            attempt.tree if sure else None,
            attempt.confidence,
            not sure,
            meaning if sure else abstention.not_sure(attempt.question, attempt.draft, unread, meaning),
            unread,
            features=attempt.features,
            guess=sql,
        )

    def _answers(self, threshold: float) -> Callable[[str], bool]:
        """A function that tells whether a question is read without a doubt, and its answer is not empty. What it told
        of a database is kept."""
        least = max(threshold, STATED_DOUBT)
        known = _verified(self._entities.schema, self._entities.values, self._known.today, least)

        def sure(attempt: _Attempt) -> bool:
            return attempt.tree is not None and attempt.confidence >= least and not attempt.unread

        def answers(question: str) -> bool:
            if question not in known:
                if len(known) >= _MOST_VERIFIED:
                    known.clear()
                attempt = self._first(worded(question, self._known))
                if sure(attempt):
                    attempt = self._looked_at(self._best(question, "", 1, attempt))
                known[question] = sure(attempt) and not self._hollow(attempt)
            return known[question]

        return answers


@lru_cache(maxsize=8)
def _verified(*_database: Hashable) -> dict[str, bool]:
    """Of one database: which questions are read without a doubt, as far as they were tried."""
    return {}


_MOST_VERIFIED = 500
_MARGIN = 0.08
"""How much more likely another reading must be than the first to replace it."""
_WORSE = 0.15
"""How much less likely the next best reading may be; a first reading with an empty result is replaced by any other."""
_CLOSE_CHOICES = 6
"""The number of choices that are changed, one at a time, when another reading is requested."""
_CLAUSES = ("aggregates", "group", "conditions", "having", "ordered", "superlative", "negation", "subquery")
"""Clauses that a likelier reading must keep: it must not simply say less."""
