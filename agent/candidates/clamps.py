"""Clamps: rules that rewrite a query by the words of its question, without a model. All are off by default.

In: SQL, a question and a schema. Out: the SQL, and a sentence for each change. Only the output and the order of the
outermost SELECT change, on the syntax tree; a query that does not parse, or that combines several SELECTs, stays as it
is. `contradictions` is the constraint gate: it rewrites nothing, and says what the question asks for and the query
lacks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from agent.strategies import Strategy
from eval.examination import Query, inspect
from eval.language.inflection import light_stem
from eval.language.words import name_words, question_words
from eval.schema import Schema
from eval.scoring.evidence.features import advice
from eval.scoring.evidence.form import listing
from eval.scoring.evidence.question_reading import SAID, Reading, is_key_name
from eval.scoring.types import Case
from eval.sql.traversal import every

CONSTRAINTS = frozenset(
    (
        "count_missing",
        "aggregate_missing",
        "group_missing",
        "superlative_missing",
        "limit_missing",
        "order_missing",
        "columns_fewer_than_listed",
        "quoted_missing",
        "number_missing",
    )
)
"""The guards' observations that the gate rests on: what the question asks for in so many words."""
_NUMBERED = frozenset(("number", "no", "nr", "num"))
_ITEMS = re.compile(r",\s*(?:and\s+)?|\s+and\s+")
_RANKED = re.compile(r"\b(?:rank\w*|order(?:ed)? (?:by|from)|sort\w*)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clamped:
    sql: str
    changes: tuple[str, ...] = ()


def clamped(sql: str, question: str, schema: Schema, strategy: Strategy) -> Clamped:
    """The query after the clamps that the strategy switches on."""
    if not sql or not strategy.clamps:
        return Clamped(sql)
    case = inspect(Query(question, sql), schema)
    if not isinstance(case.parsed.tree, exp.Select):
        return Clamped(sql)
    tree = case.parsed.tree.copy()
    reading = Reading(case)
    changes = [_unordered(tree, reading)] if strategy.clamp_order else []
    listed = _as_listed(tree, reading) if strategy.clamp_projection else []
    if listed:
        changes.append(_project(tree, listed, "The columns were cut and ordered as the question lists them."))
    elif strategy.clamp_ids:
        changes.append(_without_identifiers(tree, case, reading))
    changes = [change for change in changes if change]
    return Clamped(tree.sql(dialect=schema.dialect), tuple(changes)) if changes else Clamped(sql)


def contradictions(sql: str, question: str, schema: Schema) -> tuple[str, ...]:
    """What the question asks for and the query lacks, in sentences. Empty for a query that does not parse."""
    case = inspect(Query(question, sql), schema)
    return tuple(one.text for one in advice(case) if one.observation in CONSTRAINTS)


def _unordered(tree: exp.Select, reading: Reading) -> str:
    """Take off ORDER BY and LIMIT where the question ranks nothing."""
    intent = reading.intent
    asked = intent.order or intent.superlative or intent.top or intent.maximum or intent.minimum
    clauses = [name for name in ("order", "limit", "offset") if tree.args.get(name) is not None]
    if asked or not clauses or _RANKED.search(reading.question):
        return ""
    for name in clauses:
        tree.set(name, None)
    return "ORDER BY and LIMIT were dropped, because the question asks for no order and no number of rows."


def _as_listed(tree: exp.Select, reading: Reading) -> list[exp.Expr]:
    """The columns that the question lists, in its order; empty unless each thing listed is found exactly once."""
    items = [frozenset(question_words(item)) for item in _ITEMS.split(listing(reading)) if item.strip()]
    if len(items) < 2 or not _may_project(tree):
        return []
    columns_named = [_named_by(item, reading.output) for item in items]
    if None in columns_named or len(set(columns_named)) < len(columns_named):
        return []
    return [tree.expressions[place] for place in columns_named if place is not None]


def _named_by(item: frozenset[str], output: Sequence[exp.Expr]) -> int | None:
    """The place of the one expression whose words are nearest to an item's; None if there is none or several."""
    words = [_words_of(expression) for expression in output]
    nearness = [(len(item & own), -len(own - item)) for own in words]
    best = max(nearness, default=(0, 0))
    return nearness.index(best) if best[0] and nearness.count(best) == 1 else None


def _words_of(expression: exp.Expr) -> frozenset[str]:
    call = expression.find(exp.AggFunc)
    stems = (light_stem(word) for word in SAID.get(type(call), ())) if call is not None else ()
    return frozenset((*stems, *(part for c in every(expression, exp.Column) for part in name_words(c.name))))


def _without_identifiers(tree: exp.Select, case: Case, reading: Reading) -> str:
    """Drop identifiers that the question does not name, as long as something else is returned."""
    if reading.intent.asks_id or not _may_project(tree):
        return ""
    words = frozenset(question_words(case.question))
    kept = [e for e in tree.expressions if not _is_identifier(e.unalias(), case.schema, words)]
    return _project(tree, kept, "Identifiers that the question does not ask for were dropped.") if kept else ""


def _is_identifier(expression: exp.Expr, schema: Schema, words: frozenset[str]) -> bool:
    if not isinstance(expression, exp.Column) or isinstance(expression.this, exp.Star):
        return False
    last = name_words(expression.name)[-1:]
    if not last or light_stem(last[0]) in words:
        return False
    key = any(expression.name.casefold() in {c.casefold() for c in t.primary_key} for t in schema.tables)
    return is_key_name(expression.name) or (key and last[0] in _NUMBERED)


def _may_project(tree: exp.Select) -> bool:
    """Whether columns can be dropped without changing the rows: no DISTINCT, no place in the list is referred to."""
    if tree.args.get("distinct") is not None or len(tree.expressions) < 2:
        return False
    clauses = [tree.args[name] for name in ("order", "group") if tree.args.get(name) is not None]
    keys = [key.this if isinstance(key, exp.Ordered) else key for clause in clauses for key in clause.expressions]
    return not any(isinstance(key, exp.Literal) for key in keys)


def _project(tree: exp.Select, kept: Sequence[exp.Expr], change: str) -> str:
    """Set the output, unless nothing changes or an alias that is dropped is used elsewhere."""
    if list(kept) == list(tree.expressions):
        return ""
    dropped = {e.alias for e in tree.expressions if e not in kept and isinstance(e, exp.Alias)}
    clauses = [tree.args[name] for name in ("order", "group", "having") if tree.args.get(name) is not None]
    used = {column.name for clause in clauses for column in every(clause, exp.Column)}
    if dropped & used:
        return ""
    tree.set("expressions", list(kept))
    return change
