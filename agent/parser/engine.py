"""The programmatic entry point of the engine: one question in, one `Reading` out, synchronously.

In: the question, the schema, the value index, the dialect. Out: syntax tree and SQL, the confidence, the interpretation
in plain words, and the words not understood. Deterministic: no network, no model, no randomness.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from sqlglot import exp

from agent.knowledge.values import EMPTY, ValueIndex
from agent.knowledge.vocabulary import Vocabulary, vocabulary
from agent.parser import confidence, declining, doubts, explanation
from agent.parser.alternatives import rephrasings
from agent.parser.cancelled_rows import note_cancelled
from agent.parser.coverage import names_without_effect, not_understood, unaccounted
from agent.parser.date_arithmetic import before
from agent.parser.discounts import less_discounts
from agent.parser.entities import with_entities
from agent.parser.execution_probe import Look, foreseen
from agent.parser.external_knowledge import Meaning, meanings, split_evidence
from agent.parser.implausible import doubted
from agent.parser.interpretation import ColumnKey, Condition, Expression, Query
from agent.parser.joins import JoinPlan, join_graph
from agent.parser.mentions import Item
from agent.parser.qualifiers import qualified
from agent.parser.question import LinkedQuestion, linked_question
from agent.parser.reader import read as read_items
from agent.parser.repairs import repaired
from agent.parser.schema_linking import link
from agent.parser.shapes import fitted
from agent.parser.side_by_side import beside, two_figures
from agent.parser.sql_builder import TreeBuilder, Unreachable, readable
from agent.parser.sql_names import identifier, table_named
from agent.parser.state import Draft
from agent.parser.wording import Known, Wording, worded
from agent.runtime.probability import OTHER_READING, STATED_DOUBT
from eval.engines import ENGINES
from eval.language.tokens import Token, tokenize
from eval.schema import WRITTEN_DIALECTS, Column, Dialect, Schema, Table
from eval.sql.written_forms import written_in

MAX_QUESTION = 2_000
"""Characters; a longer question is not read."""

_WRITES = re.compile(
    r"^\W*(?:please\s+|can you\s+|could you\s+)?(delete|drop|remove|insert|update|create|alter|truncate|erase|destroy|"
    r"rename|grant|revoke|attach|modify|overwrite)\b",
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
        return _abstain(f"This asks to {write[1].lower()} data; only reading is possible here.")
    if not schema.tables:
        return _abstain("The database has no tables.")
    filled = any(t.row_count != 0 for t in schema.tables)
    target = dialect or schema.dialect
    executable = replace(schema, dialect="duckdb") if target in WRITTEN_DIALECTS else schema
    parser = _Parser(
        executable,
        values,
        executable.dialect if executable is not schema else target,
        today or dt.date.today(),
        look if filled else None,
    )
    try:
        reading = parser.read(
            text, knowledge[:MAX_QUESTION], confidence.THRESHOLD if threshold is None else threshold, place
        )
        return reading if executable is schema else _rewritten(reading, target, schema)
    except RecursionError:
        return _abstain("The question is nested too deeply to read.")


def _rewritten(reading: Reading, dialect: Dialect, schema: Schema) -> Reading:
    """The reading in a dialect that only writes: it was made with DuckDB's functions."""
    if reading.tree is None:
        return replace(reading, guess="")
    tree = written_in(reading.tree, dialect, schema)
    if tree is None:
        return _abstain(f"This cannot be written for {ENGINES[dialect].title}.", not_understood=reading.not_understood)
    sql = readable(tree, dialect)
    return replace(reading, tree=tree, sql=sql if reading.sql else "", guess=sql)


def _abstain(why: str, **more: object) -> Reading:
    return Reading("", None, 0.0, True, why, **more)  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Attempt:
    """One way to read a question, before it becomes a `Reading`."""

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


class _Parser:
    """One schema with its values, against which questions are read."""

    def __init__(
        self, schema: Schema, values: ValueIndex, dialect: Dialect, today: dt.date, look: Look | None = None
    ) -> None:
        self._existing = vocabulary(schema, values.date_forms)
        self._dialect, self._today, self._look = dialect, today, look
        self._entities = with_entities(schema, values)
        self._values = self._entities.values
        self._words = vocabulary(self._entities.schema, self._values.date_forms)
        self._graph = join_graph(self._words)

    def read(self, text: str, knowledge: str, threshold: float, place: int) -> Reading:
        """The reading at `place`, with similar questions to offer when its confidence is too low."""
        if reply := declining.not_about_rows(text, self._existing):
            return _abstain(reply)
        attempt = self._beside(text, knowledge, place) or self._best(text, knowledge, place)
        if attempt.draft.any_year and (years := self._years_since_data(attempt.draft)):
            earlier = copy(self)
            earlier._today = before(self._today, years, "year")
            return earlier._finished(earlier._best(text, knowledge, place), threshold)
        return self._finished(attempt, threshold)

    def _beside(self, text: str, knowledge: str, place: int) -> _Attempt | None:
        """The attempt that shows two figures side by side, if the text asks for two; as sure as the less sure one."""
        two = two_figures(text, self._words)
        if two is None:
            return None
        pair = [self._best(question, knowledge, place) for question in two.questions]
        if any(a.tree is None or a.unread for a in pair):
            return None
        left, right = (a.tree.copy() for a in pair if a.tree is not None)
        tree = beside(left, right, two.names)
        if tree is None:
            return None
        other = explanation.explain(pair[1].draft.query, self._words, ())
        first = min(pair, key=lambda a: a.confidence)
        draft = pair[0].draft
        draft.notes.append(f"beside it: {other}")
        draft.assumed.extend(pair[1].draft.assumed)
        features = dict(first.features)
        if two.doubt:
            draft.guess = two.doubt
            features["doubt wording_guessed"] = 1.0
        return replace(pair[0], tree=tree, features=features, confidence=confidence.confidence(features))

    def _best(self, text: str, knowledge: str, place: int) -> _Attempt:
        """The likeliest attempt, or with `place` a further one."""
        wording = worded(text, Known(self._words, self._values, self._today))
        if wording.shape is not None and not self._shapes(wording):
            wording = Wording(text)
        tokens = tokenize(wording.text)
        known = meanings(knowledge, self._words) if knowledge else ()
        items = self._linked(tokens, known)
        attempt = self._attempt(tokens, items, wording=wording)
        if attempt.confidence < OTHER_READING:
            other = self._next(tokens, items, attempt, wording)
            if other is not None and "date_averaged" in other.draft.doubts.keys() - attempt.draft.doubts.keys():
                other = None  # nobody means the average of dates
            least = attempt.confidence + _MARGIN
            if other is not None and self._hollow(attempt) and not self._hollow(other):
                least = attempt.confidence - _MARGIN
            if other is not None and other.confidence > least and _keeps_clauses(other, attempt):
                features = {**other.features, "another reading taken": 1.0}
                rival = attempt.draft.query
                attempt = replace(other, features=features, confidence=confidence.confidence(features), rival=rival)
            elif other is not None:
                features = {**attempt.features, "rival reading": max(0.0, other.confidence - attempt.confidence + 0.2)}
                rival = other.draft.query
                attempt = replace(attempt, features=features, confidence=confidence.confidence(features), rival=rival)
        for _ in range(place - 1):
            further = self._next(tokens, items, attempt, wording)
            if further is None or not (self._hollow(attempt) or self._nearly_as_likely(further, attempt)):
                break
            attempt = further
        return attempt

    def _finished(self, attempt: _Attempt, threshold: float) -> Reading:
        """The reading of an attempt, with similar questions to offer when its confidence is too low."""
        reading = self._as_reading(self._looked_at(attempt), threshold)
        if reading.abstained and threshold > 0:
            offered = rephrasings(attempt.question, attempt.draft, attempt.unread, self._answers(threshold))
            return replace(reading, alternatives=offered)
        return reading

    def _linked(self, tokens: tuple[Token, ...], known: Sequence[Meaning] = ()) -> tuple[Item, ...]:
        items = link(tokens, self._words, self._values, known)
        return qualified(tokens, items, self._words, self._values, self._today)

    def _looked_at(self, attempt: _Attempt) -> _Attempt:
        """The attempt with observations on its rows. They do not choose among readings, because a join repeats rows
        whether it is right or wrong. Only an empty result, or one with only NULLs, favours another reading."""
        if attempt.tree is None:
            return attempt
        features = {**attempt.features, **(self._look(attempt.tree) if self._look else foreseen(attempt.tree))}
        if features["names shown"] and not features["joins"]:
            features["result repeats"] = 0.0  # two things with the same name
        return replace(attempt, features=features, confidence=confidence.confidence(features))

    def _nearly_as_likely(self, other: _Attempt, first: _Attempt) -> bool:
        return self._looked_at(other).confidence >= self._looked_at(first).confidence - _WORSE

    def _hollow(self, attempt: _Attempt) -> bool:
        """Whether the attempt's statement was run and returned nothing."""
        observed = self._look(attempt.tree) if self._look is not None and attempt.tree is not None else {}
        return bool(observed.get("result empty") or observed.get("result null"))

    def _shapes(self, wording: Wording) -> bool:
        """Whether the plain question of a wording can be read, and its shape fits the result."""
        tokens = tokenize(wording.text)
        return self._attempt(tokens, self._linked(tokens), wording=wording).tree is not None

    def _attempt(
        self,
        tokens: tuple[Token, ...],
        items: tuple[Item, ...],
        avoid: frozenset[object] = frozenset(),
        wording: Wording | None = None,
    ) -> _Attempt:
        q = linked_question(tokens, items, self._words, self._graph, self._values, self._today, avoid)
        draft = read_items(q)
        unread = (*not_understood(tokens, items, draft), *(wording.lost if wording is not None else ()))
        if not draft.query.select:
            return _Attempt(q, draft, unread, problem=declining.nothing_shown(q, unread))
        if wording is not None:
            draft.notes.extend(wording.notes)
            if wording.doubt:
                draft.doubt("wording_guessed")
                draft.guess = wording.doubt
            if wording.shape is not None and not fitted(draft.query, wording.shape, self._words, self._today):
                return _Attempt(q, draft, unread, problem="I could not tell what to compute.")
            _assume_periods(draft, wording)
        repaired(draft, q)
        less_discounts(draft, self._words, self._seen)
        note_cancelled(draft, q)
        doubted(draft, q)
        builder = TreeBuilder(self._words, self._graph, frozenset(t.lower for t in tokens if t.kind == "word"))
        try:
            tree = self._entities.written(builder.build(draft.query), self._holds_null)
        except Unreachable as problem:
            return _Attempt(q, draft, unread, problem=f"I see no way to combine these: {problem}.")
        missing, tied = unaccounted(unread, q, draft, builder.plans)
        features = confidence.features(draft, tokens, items, (*missing, *tied), builder.plans, self._words)
        joined = () if self._entities.sources and tree.find(exp.Join) is None else tuple(builder.plans)
        if not joined:
            features |= dict.fromkeys(("joins", "unnamed tables", "condition in another table"), 0.0)
        features["words left out"] = float(len(missing))
        features["only rows, words left out"] = float(bool(missing) and _only_rows(draft, builder.plans[-1]))
        features["relational verbs"] = float(len(tied))
        features["measure guessed"] = float(wording is not None and wording.guessed)
        features["shaped"] = float(draft.query.shape is not None)
        features["names without effect"] = float(names_without_effect(q, builder.plans, draft.query))
        unread = missing
        return _Attempt(q, draft, unread, tree, features, confidence.confidence(features), plans=joined)

    def _seen(self, query: Query) -> dict[str, float]:
        """Observations on the rows of a query; none where no rows may be looked at."""
        if self._look is None:
            return {}
        return self._look(self._entities.written(TreeBuilder(self._words, self._graph).build(query), self._holds_null))

    def _holds_null(self, table: Table, column: Column) -> bool:
        """Whether rows may be looked at, and one has no value in this column."""
        if self._look is None or not column.nullable:
            return False
        empty = exp.Is(this=exp.column(identifier(column.name)), expression=exp.Null())
        query = exp.select(exp.Count(this=exp.Star())).from_(table_named(table)).where(empty)
        return not self._look(query).get("result zero")

    def _next(
        self, tokens: tuple[Token, ...], items: tuple[Item, ...], first: _Attempt, wording: Wording
    ) -> _Attempt | None:
        """The best reading that makes one close choice differently and leads to a different statement."""
        first_sql = first.tree.sql(self._dialect) if first.tree is not None else ""
        options = []
        for choice in list(first.draft.close)[:_CLOSE_CHOICES]:
            option = self._attempt(tokens, items, first.question.avoid | {choice}, wording)
            if option.tree is not None and option.tree.sql(self._dialect) != first_sql:
                options.append(option)
        return max(options, key=lambda o: o.confidence, default=None)

    def _as_reading(self, attempt: _Attempt, threshold: float) -> Reading:
        if attempt.tree is None:
            return _abstain(attempt.problem, not_understood=attempt.unread)
        notes = [*attempt.draft.notes, *self._beyond_data(attempt.draft)]
        if attempt.confidence < STATED_DOUBT and attempt.confidence >= threshold and not attempt.unread:
            sentence = doubts.doubt_sentence(attempt.question, attempt.draft, list(attempt.plans), attempt.rival)
            notes.append(f"{doubts.MARK}{sentence}")
        meaning = explanation.explain(attempt.draft.query, self._words, notes)
        sql = readable(attempt.tree, self._dialect)
        if attempt.confidence >= threshold:
            return Reading(
                sql, attempt.tree, attempt.confidence, False, meaning, attempt.unread, (), attempt.features, sql
            )
        why = declining.not_sure(attempt.question, attempt.draft, attempt.unread, meaning)
        return Reading("", None, attempt.confidence, True, why, attempt.unread, (), attempt.features, sql)

    def _beyond_data(self, draft: Draft) -> Iterator[str]:
        """For each period relative to today that begins after the last row: a sentence that says so."""
        for column, start in draft.assumed:
            first = self._stored(column, start)
            if self._ends_before(column, first):
                yield f"the data ends before that: no row of {column[0]} has {column[1]} on or after {first}"

    def _years_since_data(self, draft: Draft) -> int:
        """How many years earlier the last data lies on which a month or quarter without a year can be read."""
        for years in range(_YEARS_BACK):
            starts = ((column, before(start, years, "year")) for column, start in draft.assumed)
            if not any(self._ends_before(column, self._stored(column, start)) for column, start in starts):
                return years
        return _YEARS_BACK

    def _stored(self, column: ColumnKey, day: dt.date) -> dt.date | int | str:
        """The day as the column holds it, which may be a year."""
        word = self._words.columns[column]
        if word.role != "year":
            return day
        return day.year if word.numeric else str(day.year)

    def _ends_before(self, column: ColumnKey, first: object) -> bool:
        """Whether rows may be looked at, and none has this value or a later one."""
        since = Condition(Expression(column=column), ">=", (first,))
        later = Query(select=[Expression("count", table=column[0])], tables=[column[0]], where=[(since,)])
        return bool(self._seen(later).get("result zero"))

    def _answers(self, threshold: float) -> Callable[[str], bool]:
        """A function that tells whether a question is read without a doubt, and its answer is not empty."""
        least = max(threshold, STATED_DOUBT)

        def sure(question: str) -> bool:
            wording = worded(question, Known(self._words, self._values, self._today))
            tokens = tokenize(wording.text)
            first = self._attempt(tokens, self._linked(tokens), wording=wording)
            if first.tree is None or first.confidence < least or first.unread:
                return False
            attempt = self._looked_at(self._best(question, "", 1))
            return attempt.confidence >= least and not attempt.unread and not self._hollow(attempt)

        return sure


_YEARS_BACK = 10
"""How many years before today a month without a year is looked for in the data."""
_MARGIN = 0.08
"""How much more likely another reading must be than the first to replace it."""
_WORSE = 0.15
"""How much less likely the next best reading may be; a first reading with an empty result is replaced by any other."""
_CLOSE_CHOICES = 6
"""The number of choices that are changed, one at a time, when another reading is requested."""


def _assume_periods(draft: Draft, wording: Wording) -> None:
    """Note the compared periods that depend on today's date."""
    for span in wording.shape.periods if wording.shape is not None else ():
        if span.relative:
            dated = next(c.left.column for c in draft.query.where[-1] if isinstance(c, Condition))
            draft.assumed.extend([(dated, span.start)] if dated is not None else [])
            draft.any_year = draft.any_year or span.any_year


_CLAUSES = ("aggregates", "group", "conditions", "having", "ordered", "superlative", "negation", "subquery")


def _only_rows(draft: Draft, plan: JoinPlan) -> bool:
    """Whether the query lists or counts all rows of one table."""
    query = draft.query
    clauses = query.where or query.group or query.order or query.having or query.limit is not None or query.shape
    counted = [e.function for e in query.select] == ["count"]
    return not (clauses or plan.steps) and (counted or "shown_by_default" in draft.doubts)


def _keeps_clauses(other: _Attempt, first: _Attempt) -> bool:
    """Whether another reading keeps every kind of clause of the first: a likelier reading must not simply say less."""
    return all(other.features.get(name, 0.0) >= first.features.get(name, 0.0) for name in _CLAUSES)


__all__ = ["MAX_QUESTION", "Query", "Reading", "Vocabulary", "read"]
