"""Schema linking: selects the part of a schema that a question needs, within a token budget.

In: a question, a `Schema`, its `ValueIndex`, a budget. Out: `Linked`: the selected part as a `Schema`, the stored
values that the question names, and the token counts of the part and of the whole schema. No model is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from agent.knowledge.linking.budget import choose, graded_text, reduced
from agent.knowledge.linking.evidence import Weights, chances, gather, learned, matches
from agent.knowledge.schema_context import WHOLE, estimate_tokens, schema_context
from agent.knowledge.values import EMPTY, ValueIndex
from eval.schema import Schema

__all__ = ["SHARE", "SMALL_SCHEMA", "Linked", "link", "matches"]

SMALL_SCHEMA = 60
"""Maximum columns of a schema that is always shown whole."""
SHARE = 0.4
"""Share of a larger schema's tokens that its linked part may take."""


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
    """(table, column) of the columns that `text` shows in detail."""
    values: tuple[LinkedValue, ...]
    tokens: int
    """Tokens of `text`, by `estimate_tokens`."""
    tokens_full: int
    """Tokens of the whole schema as `schema_context` writes it."""
    chances: Mapping[tuple[str, str], float] = field(default_factory=dict, compare=False)
    """By (table, column), the probability 0..1 that the question needs it; by (table, "") that of the table."""

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(t.name for t in self.schema.tables)

    @property
    def columns(self) -> tuple[str, ...]:
        """`table.column`."""
        return tuple(f"{t.name}.{c.name}" for t in self.schema.tables for c in t.columns)


@lru_cache(maxsize=64)
def _whole(schema: Schema) -> tuple[str, int]:
    """The text of the whole schema, for models, used where it fits; and its tokens."""
    text = schema_context(schema, budget_tokens=WHOLE)
    return text, estimate_tokens(text)


def link(
    question: str, schema: Schema, values: ValueIndex = EMPTY, budget: int | None = None, weights: Weights | None = None
) -> Linked:
    """Select the tables and columns that a question needs, likeliest first, until `budget` tokens are spent (default:
    those of the whole schema if it is small, else `SHARE` of them). A schema that fits is returned whole. The keys that
    join the selected tables are kept. `weights` replace the learned weights of the evidence."""
    whole, full = _whole(schema)
    standard = full if schema.column_count <= SMALL_SCHEMA else int(SHARE * full)
    budget = standard if budget is None else max(budget, 0)
    mentions = matches(question, values)
    named = tuple(LinkedValue(m.text, h.table, h.column, h.value, round(h.score, 3)) for m in mentions for h in m.hits)
    tables, columns = chances(gather(question, schema, mentions), weights or learned())
    likely = {**columns, **{(table, ""): chance for table, chance in tables.items()}}
    if full <= budget:
        everything = frozenset((t.name, c.name) for t in schema.tables for c in t.columns)
        return Linked(schema, whole, everything, named, full, full, likely)
    chosen = choose(schema, tables, columns, budget).columns
    text = graded_text(schema, chosen)
    unspent = budget - estimate_tokens(text)  # costs never underestimate the text, so tokens may be left
    if unspent > 0:
        fuller = choose(schema, tables, columns, budget + unspent).columns
        if estimate_tokens(longer := graded_text(schema, fuller)) <= budget:
            chosen, text = fuller, longer
    detailed = frozenset((t, c) for t, own in chosen.items() for c, detail in own.items() if detail)
    return Linked(reduced(schema, chosen), text, detailed, named, estimate_tokens(text), full, likely)
