"""Schema linking: the part of a database that a question needs, within a budget of tokens.

In: a question, a `Schema`, its `ValueIndex`, a budget. Out: `Linked`: the chosen part as a `Schema` of its own, the
stored values that the question names, and what the part costs beside the whole. No model is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agent.knowledge.linking.choosing import choose, reduced
from agent.knowledge.linking.evidence import Weights, chances, gather, learned
from agent.knowledge.linking.graded import graded_text
from agent.knowledge.linking.matching import Match, matches
from agent.knowledge.schema_context import WHOLE, estimate_tokens, schema_context
from agent.knowledge.values import EMPTY, ValueIndex
from eval.schema import Schema

__all__ = ["SHARE", "SMALL_SCHEMA", "Linked", "LinkedValue", "Match", "link", "matches", "standard_budget"]

SMALL_SCHEMA = 60
"""Columns up to which a schema is short enough to be shown whole."""
SHARE = 0.4
"""Part of the whole schema's tokens that the linked part of a larger one may take."""


@dataclass(frozen=True, slots=True)
class LinkedValue:
    """A phrase of the question and a stored value that it may mean."""

    text: str
    table: str
    column: str
    value: str
    """Exactly as stored."""
    score: float


@dataclass(frozen=True, slots=True)
class Linked:
    schema: Schema
    """The chosen tables and columns, with the keys among them, in the schema's own order."""
    text: str
    """The chosen part as a model sees it: likely columns in detail, the others by name."""
    detailed: frozenset[tuple[str, str]]
    """(table, column) of what `text` tells in detail."""
    values: tuple[LinkedValue, ...]
    tokens: int
    """Of `text`, by `estimate_tokens`."""
    tokens_full: int
    """Of the whole schema as `schema_context` writes it."""

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(t.name for t in self.schema.tables)

    @property
    def columns(self) -> tuple[str, ...]:
        """`table.column`."""
        return tuple(f"{t.name}.{c.name}" for t in self.schema.tables for c in t.columns)


def standard_budget(schema: Schema) -> int:
    """Tokens where nobody sets a budget: the whole of a schema of up to 60 columns, 40 % of a larger one."""
    whole = whole_tokens(schema)
    return whole if schema.column_count <= SMALL_SCHEMA else int(SHARE * whole)


@lru_cache(maxsize=64)
def whole_tokens(schema: Schema) -> int:
    """The length of the whole schema as `schema_context` writes it without any budget."""
    return estimate_tokens(whole_text(schema))


@lru_cache(maxsize=64)
def whole_text(schema: Schema) -> str:
    """The whole schema as a model sees it where it fits."""
    return schema_context(schema, budget_tokens=WHOLE)


def link(
    question: str,
    schema: Schema,
    values: ValueIndex = EMPTY,
    budget: int | None = None,
    weights: Weights | None = None,
) -> Linked:
    """The tables and columns that a question needs, likeliest first until `budget` tokens are spent (default:
    `standard_budget`). A schema that fits is returned whole. Keys that the chosen tables are joined by are kept.

    `weights`: what evidence is worth, where not the learned weights."""
    whole = whole_tokens(schema)
    budget = standard_budget(schema) if budget is None else max(budget, 0)
    found = matches(question, values)
    named = tuple(LinkedValue(m.text, h.table, h.column, h.value, round(h.score, 3)) for m in found for h in m.hits)
    if whole <= budget:
        everything = frozenset((t.name, c.name) for t in schema.tables for c in t.columns)
        return Linked(schema, whole_text(schema), everything, named, whole, whole)
    tables, columns = chances(gather(question, schema, found), weights or learned())
    chosen = choose(schema, tables, columns, budget).columns
    text = graded_text(schema, chosen)
    unspent = budget - estimate_tokens(text)  # costs are never less than what the text takes, so there may be room
    if unspent > 0:
        fuller = choose(schema, tables, columns, budget + unspent).columns
        if estimate_tokens(longer := graded_text(schema, fuller)) <= budget:
            chosen, text = fuller, longer
    detailed = frozenset((t, c) for t, own in chosen.items() for c, told in own.items() if told)
    return Linked(reduced(schema, chosen), text, detailed, named, estimate_tokens(text), whole)
