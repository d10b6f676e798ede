"""Confidence: the probability that a reading is right, from human-readable features.

In: a draft, its question and join plans. Out: features, and a probability from a small forest. The trees in
`confidence.txt` are learned by `python -m experiments.parser.evaluate --fit` from questions with known answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.doubts import DOUBTS, NEVER_SURE, summed_repeatedly
from agent.parser.interpretation import Clause, Condition, Expression, Membership, Query
from agent.parser.joins import JoinPlan
from agent.parser.question import Item, LinkedQuestion
from agent.parser.state import Draft
from agent.parser.word_lists import word_list
from agent.runtime.probability import DOUBTFUL
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.tokens import Token

THRESHOLD = 0.45
"""Below this confidence the engine abstains. Between it and `STATED_DOUBT` an answer states how doubtful the reading
is. docs/measurements.md has the measured precision and coverage of both thresholds."""


def features(draft: Draft, q: LinkedQuestion, unread: Sequence[str], plans: Sequence[JoinPlan]) -> dict[str, float]:
    """Named features of one reading."""
    query, tokens, items, vocabulary = draft.query, q.tokens, q.items, q.vocabulary
    grouped = bool(query.group) and not (query.each_once or query.compares_values)
    content = [t for t in tokens if t.kind != "punct" and t.lower not in FUNCTION_WORDS]
    plan = plans[-1]
    scores = [
        max(i.mention.schema_score, i.mention.value_score, 0.98 if i.mention.measure else 0.0)
        for i in items
        if i.mention is not None and i.kind == "mention"
    ]
    conditions = [c for clause in _asked(query) for c in clause]
    # Of the things shown, first and last name count as one, the figure that rows are ranked by as none
    ends = [vocabulary.columns[e.column].words[-2:] for e in query.select if e.column]
    pairs = min(ends.count(("first", "name")), ends.count(("last", "name")))
    ranked = {e for e in query.ordered_by() if e.function}
    observed: dict[str, float] = {
        **{f"doubt {name}": min(n, 3.0) for name, n in draft.doubts.items() if name != "shown_by_default"},
        "figure dropped": any(
            i.kind in ("number", "literal") and not draft.used.intersection(range(i.start, i.end)) for i in items
        ),
        "default shown, nouns unread": "shown_by_default" in draft.doubts and _nouns(tokens, unread) > 0,
        "unread words": min(len(unread), 5),
        "some unread": bool(unread),
        "unread nouns": _nouns(tokens, unread),
        "unread name": any(w[:1].isupper() or w[:1].isdecimal() for w in unread),
        "unread operation": any(w.lower() in _OPERATIONS for phrase in unread for w in phrase.split()),
        "listing only": not query.where and not query.order and not grouped and not query.aggregates(),
        "one plain column": len(query.select) == 1 and not (query.aggregates() or query.distinct or query.group),
        "unread share": len(unread) / max(1, len(content)),
        "weakest link": 1 - min(scores, default=0.5),
        "mean link": 1 - (sum(scores) / len(scores) if scores else 0.5),
        "joins": min(len(plan.steps), 4),
        "joins by chance": min(plan.by_chance, 3),
        "inferred joins": min(plan.inferred, 3),
        "unnamed tables": len(set(plan.tables) - set(query.tables)),
        "fan-out over an unnamed table": any(p.fan_outs() - set(query.tables) for p in plans),
        "fan-out under an aggregate": bool(plan.fan_outs()) and any(e.function in ("sum", "avg") for e in query.select),
        "conditions": min(len(conditions), 4),
        "negation": any(isinstance(c, Membership) or c.operator in ("<>", "not like") for c in conditions),
        "alternatives": any(len(clause) > 1 for clause in _asked(query)),
        "subquery": any(isinstance(c, Condition) and c.against is not None for c in conditions),
        "aggregates": sum(bool(e.function) for e in query.select),
        "several shown": max(0, len(query.select) - pairs - sum(e in ranked for e in query.select) - 2),
        "group": grouped,
        "having": bool(query.having),
        "superlative": query.limit is not None,
        "count superlative": query.limit is not None and any(e.function == "count" for e in query.ordered_by()),
        "ordered": bool(query.order),
        "distinct": query.distinct or query.each_once,
        "intersect": query.intersect is not None,
        "entities": min(len(query.tables), 5),
        "no rows known": all(t.table.row_count == 0 for t in vocabulary.tables.values()),
        **_unmet(draft, items),
        **_shape(draft, tokens, plan, vocabulary),
        **_form(draft, items, vocabulary),
    }
    return {name: float(value) for name, value in observed.items()}


def _asked(query: Query) -> list[Clause]:
    """The query's clauses; two periods that are compared count as one condition."""
    if query.shape is None or not query.shape.periods:
        return query.where
    return [*query.where[:-1], query.where[-1][:1]]


def _form(draft: Draft, items: Sequence[Item], vocabulary: Vocabulary) -> dict[str, float]:
    """Features of the kinds of columns shown, and of how unambiguous the words were.

    The phrasing of a question (its first word, its length, `by` or `for each`) is deliberately left out. It separates
    the question sets rather than right readings from wrong ones, and would make terse questions look doubtful.
    """
    query = draft.query
    shown = [vocabulary.columns[e.column] for e in query.select if e.column]
    named = [i.mention for i in items if i.kind == "mention" and i.mention is not None]
    scores = [sorted((s for _, s in (*m.tables, *m.columns)), reverse=True) for m in named]
    gaps = [min(of[0] - of[1], 0.5) if len(of) > 1 else 0.5 for of in scores]  # between the best two meanings
    return {
        "keys shown": sum(c.role == "id" for c in shown),
        "names shown": sum(c.role == "name" for c in shown),
        "dates shown": sum(c.role in ("date", "year") for c in shown),
        "numbers shown": sum(c.role == "number" for c in shown),
        "foreign keys shown": sum(c.foreign for c in shown),
        "columns shown": min(len(query.select) - query.compares_values, 6),
        "rows limited": min(query.limit or 0, 10),
        "empty groups kept": query.keep_empty,
        "least gap": min(gaps, default=1.0),
        "narrow gaps": sum(g < 0.05 for g in gaps),
        "values named": sum(i.mention is not None and bool(i.mention.values) for i in items),
        "same name elsewhere": sum(
            sum(c.words == other.words for other in vocabulary.columns.values()) > 1 for c in shown[:4]
        ),
        "having on a count": sum(c.left.function == "count" for c in query.having),
        "absence": sum(isinstance(part, Membership) for part in query.restrictions()),
        "patterns": sum(c.operator == "like" for c in query.conditions()),
    }


_SAYS_NO = ("n", "no", "0", "f", "false")


def _unmet(draft: Draft, items: Sequence[Item]) -> dict[str, float]:
    """Features for signal words of the question whose effect is missing from the query."""
    query = draft.query
    conditions = [c for clause in _asked(query) for c in clause]
    plain = [c for c in conditions if isinstance(c, Condition)]
    inner = [c.against for c in plain if c.against is not None]
    shown = query.expressions()
    functions = {e.function for e in (*shown, *(e for q in inner for e in q.select))}
    kinds = {i.keyword.kind for i in items if i.keyword is not None}
    aggregates_asked = {i.keyword.argument for i in items if i.keyword is not None and i.keyword.kind == "agg"}
    denied = any(
        isinstance(c, Membership)
        or c.operator in ("<>", "not like", "null", "<=", ">=")
        or (c.operator == "=" and str(next(iter(c.values), "")).lower() in _SAYS_NO)
        for c in conditions
    )
    total = any(c.left.column is not None and "total" in c.left.column[1].lower() for c in plain)
    columns_compared = any(isinstance(v, Expression) for c in plain for v in c.values)  # `than their manager`
    absent = {
        "count": "count" in kinds and "count" not in functions and "sum" not in functions,
        "average": "avg" in aggregates_asked and "avg" not in functions,
        "sum": "sum" in aggregates_asked and not functions & {"sum", "count"} and not total,
        "extreme": bool(aggregates_asked & {"max", "min"}) and not functions & {"max", "min"} and query.limit is None,
        "group": "group" in kinds and not query.group and not query.within,
        "superlative": bool(kinds & {"sup", "sup_adj", "sup_count", "common"})
        and query.limit is None
        and not functions & {"max", "min"},
        "comparison": (bool(kinds & {"cmp", "cmp_adj", "post"}) and not conditions and not query.having)
        or (any(i.keyword is None and i.lower == "than" for i in items) and not columns_compared),
        "negation": (bool(kinds & {"neg", "except"}) or any(i.lower in _NOTHING for i in items))
        and not denied
        and not query.keep_empty,
        "or": "or" in kinds and not any(len(clause) > 1 for clause in query.where),
        "both": "both" in kinds and query.intersect is None,
        "order": bool(kinds & {"order", "dir"}) and not query.order,
        "share": "percent" in kinds and not any(e.share for e in shown) and query.shape is None,
        "distinct": "distinct" in kinds and not query.distinct and not query.group and "count" not in functions,
    }
    return {f"unmet {name}": missing for name, missing in absent.items()}


_NOTHING = ("nothing", "nobody", "no one")


def _shape(draft: Draft, tokens: Sequence[Token], plan: JoinPlan, vocabulary: Vocabulary) -> dict[str, float]:
    """Features of the result that the query returns."""
    query = draft.query
    plain = [vocabulary.columns[e.column] for e in query.select if e.column and not e.function]
    rows = {c.table: vocabulary.tables[c.table].table.row_count or 0 for c in plain}
    sentences = sum(t.text in ".?!" for t in tokens[:-1])
    listing = bool(plain) and not query.group and not query.distinct and query.limit is None
    one_column = listing and len(plain) == 1 and plain[0].role not in ("name", "id")
    equal = [c.left.column for c in query.conditions() if c.operator == "=" and c.left.column is not None]
    named = any(key[0] in rows and vocabulary.columns[key].role == "name" for key in equal)
    added = [e for e in query.select if e.function in ("sum", "avg")]
    counted = [e.table for e in query.select if e.function == "count" and e.table]
    elsewhere = any(t not in rows for part in query.restrictions() for t in part.tables)
    return {
        "several sentences": min(sentences, 2),
        "several tables shown": len({c.table for c in plain}) > 1,
        "key shown by default": "shown_by_default" in draft.doubts and any(c.role == "id" for c in plain),
        "repeats from a join": listing and any(plan.multiplies(c.table) for c in plain),
        "repeats in a column": one_column and rows[plain[0].table] != 1,
        "aggregate over a join that repeats": any(e.tables and plan.multiplies(e.tables[0]) for e in added),
        "sum over a join that repeats": bool(summed_repeatedly(query, plan)),
        "count of distinct over a join": any(plan.multiplies(table) for table in counted),
        "close choices": min(len(draft.close), 4),
        "several ranks": query.limit is not None and len(query.order) > 1,
        "several conditions": len(query.where) > 1,
        "condition in another table": bool(rows) and elsewhere,
        "group by a key's name": bool(query.group) and len(query.group) > len(query.select),
        "one named row of a guessed entity": "entity_guessed" in draft.doubts and named and len(query.where) > 1,
        "having without group": bool(query.having) and not query.group,
        "amount of a similar word": "only_similar_words" in draft.doubts and bool(added),
    }


_BEFORE_NOUNS = word_list("before_nouns")


def _nouns(tokens: Sequence[Token], unread: Sequence[str]) -> int:
    """The number of words not understood in noun positions: these name something, while verbs often do not."""
    missing = {w.lower() for phrase in unread for w in phrase.split()}
    count = 0
    for before, token in pairwise(tokens):
        if token.lower in missing and before.lower in _BEFORE_NOUNS and not token.lower.endswith(("ed", "ing")):
            count += 1
    return min(count, 3)


_Split = Any
"""A leaf's value, or `(place of the feature, threshold, below, above)`."""


@dataclass(frozen=True)
class Forest:
    """Trees whose values for one observation add up to log-odds. `experiments.parser.growing` grows it."""

    lines: tuple[str, ...] = ("bias\t0",)
    """The bias, then one tree a line: `feature<threshold` before its two sides, leaves as numbers, tabs between."""

    def probability(self, observed: Mapping[str, float]) -> float:
        """0..1; a feature not observed counts as 0. Raises ValueError for a line that is not a tree."""
        bias, places, splits = self._read
        values, total = [observed.get(feature, 0.0) for feature in places], 0.0
        for node in splits:
            while type(node) is tuple:
                place, threshold, below, above = node
                node = below if values[place] < threshold else above
            total += node
        total += bias
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    @cached_property
    def _read(self) -> tuple[float, list[str], list[_Split]]:
        """The bias, the features by place, and the trees as plain tuples, which are walked in a quarter of the time."""
        places: dict[str, int] = {}

        def tree(parts: Iterator[str]) -> _Split:
            part = next(parts)
            feature, split, threshold = part.rpartition("<")
            if not split:
                return float(part)
            place = places.setdefault(feature, len(places))
            return place, float(threshold), tree(parts), tree(parts)

        splits = [tree(iter(line.split("\t"))) for line in self.lines[1:]]
        return float(self.lines[0].removeprefix("bias\t")), list(places), splits


@cache
def forest() -> Forest:
    """The stored forest; a forest without trees if none was learned."""
    lines = Path(__file__).with_name("confidence.txt").read_text(encoding="utf-8").splitlines()
    return Forest(tuple(line for line in lines if not line.startswith("#")))


def confidence(observed: dict[str, float], known: Forest | None = None) -> float:
    """Probability 0..1, from the stored forest or the given one."""
    probability = (known or forest()).probability(observed)
    # the projection was guessed while words had no meaning, or no sort key was found
    guessed = observed.get("doubt entity_guessed") and observed.get("unread words")
    guessed = guessed or (observed.get("doubt order_open") and observed.get("unmet order"))
    if guessed or any(observed.get(name) for name in _NEVER_SURE):
        return min(probability, NEVER_SURE)
    if any(observed.get(name) for name in _ALWAYS_DOUBTED):
        probability = min(probability, DOUBTFUL)
    stated = (DOUBTS[name[6:]].most for name, amount in observed.items() if amount and name.startswith("doubt "))
    return min(probability, *stated, 1.0)


_ALWAYS_DOUBTED = ("words left out", "another reading taken", "joins by chance", "sum over a join that repeats",
                   "unmet or")  # fmt: skip
"""Features besides the doubts of a rule (`doubts`) that cap the confidence in the same way."""
_NEVER_SURE = (
    "default shown, nouns unread", "unread nouns", "only rows, words left out", "unmet share",
    "fan-out over an unnamed table", "fan-out under an aggregate", "figure dropped", "amount of a similar word",
    "having without group", "one named row of a guessed entity", "unmet comparison", "unmet average", "unmet sum",
    "unmet extreme", "unmet negation", "unmet superlative", "unread name", "unread operation",
)  # fmt: skip
_OPERATIONS = word_list("operations")
"""Words that ask for a computation: a reading that leaves one out answers a different question."""
