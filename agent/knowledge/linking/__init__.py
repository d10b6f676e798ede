"""Schema linking: selects the part of a schema that a question needs, within a token budget.

In: a question, a `Schema`, its `ValueIndex`, a budget. Out: `Linked`: the selected part as a `Schema`, the stored
values that the question names, and the token counts of the part and of the whole schema. No model is called.

What has the highest probability per token is chosen first, by name only or in detail. A chosen table brings its primary
key, the tables on the shortest foreign-key path to the tables already chosen, and both ends of those keys.

As text, a table with at least one column in detail has a block as `schema_context` writes it, with its other chosen
columns on one line. Each remaining table is one line, `table(column, column -> other.id)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from agent.knowledge.linking.evidence import Key, Weights, chances, gather, learned, matches
from agent.knowledge.schema_context import (
    WHOLE,
    column_line,
    estimate_tokens,
    key_line,
    key_target,
    qualified_name,
    schema_context,
    shown_name,
    single_column_keys,
    table_heading,
)
from agent.knowledge.values import EMPTY, ValueIndex
from eval.schema import Column, ForeignKey, Schema, Table

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


Choice = Mapping[str, Mapping[str, bool]]
"""By table, the chosen columns, and whether each is shown in detail."""

_MORE = "  Also: "
_NAMES = "Other tables, by names alone:"
FIXED = estimate_tokens(_NAMES) + 3
"""Tokens of the separators between the parts."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of each part; slightly overestimated, never underestimated."""

    name: dict[Key, int]
    """Cost of a name only: (table, column), and (table, "") for the table's name."""
    detail: dict[Key, int]
    """Cost of detail beyond the name: for a column, and for a table when its first column gets detail."""


@lru_cache(maxsize=32)
def costs(schema: Schema) -> Costs:
    """The costs of the parts of a schema's text."""
    name: dict[Key, int] = {}
    detail: dict[Key, int] = {}
    for table in schema.tables:
        single = single_column_keys(table)
        wide = [k for k in table.foreign_keys if len(k.columns) > 1]
        name[table.name, ""] = estimate_tokens(qualified_name(table, schema.dialect)) + 3
        detail[table.name, ""] = estimate_tokens(table_heading(table, schema.dialect)) + estimate_tokens(_MORE) + 3
        detail[table.name, ""] += sum(estimate_tokens(key_line(k, schema.dialect)) + 1 for k in wide)
        detail[table.name, ""] = max(1, detail[table.name, ""] - name[table.name, ""])
        for column in table.columns:
            key = single.get(column.name.casefold())
            name[table.name, column.name] = estimate_tokens(_bare(column, key, schema)) + 1
            line = estimate_tokens(column_line(column, table, key, schema.dialect)) + 1
            detail[table.name, column.name] = max(1, line - name[table.name, column.name])
    return Costs(name, detail)


def graded_text(schema: Schema, chosen: Choice) -> str:
    """The text of the chosen part, in the schema's own order."""
    blocks: list[str] = []
    names: list[str] = []
    for table in schema.tables:
        columns = chosen.get(table.name)
        if columns is None:
            continue
        keys = {n: k for n, k in single_column_keys(table).items() if k.ref_table in chosen}
        kept = [c for c in table.columns if c.name in columns]
        bare = [_bare(c, keys.get(c.name.casefold()), schema) for c in kept if not columns[c.name]]
        if len(bare) == len(kept):
            names.append(f"{qualified_name(table, schema.dialect)}({', '.join(bare)})")
            continue
        lines = [table_heading(table, schema.dialect)]
        lines += [column_line(c, table, keys.get(c.name.casefold()), schema.dialect) for c in kept if columns[c.name]]
        if bare:
            lines.append(_MORE + ", ".join(bare))
        for key in table.foreign_keys:
            if len(key.columns) > 1 and key.ref_table in chosen and set(key.columns) <= columns.keys():
                lines.append(key_line(key, schema.dialect))
        blocks.append("\n".join(lines))
    if names:
        blocks.append("\n".join([_NAMES, *names] if blocks else names))
    return "\n\n".join(blocks)


def _bare(column: Column, key: ForeignKey | None, schema: Schema) -> str:
    """A column's name, with the column that it references; only the table if that column is its primary key, and
    nothing if the name says which (`raceId`, `customer_id`)."""
    name = shown_name(column.name, schema.dialect)
    if key is None:
        return name
    own, table, target = (n.casefold().replace("_", "") for n in (column.name, key.ref_table, key.ref_columns[0]))
    if own in (target, table + target, table.removesuffix("s") + target):
        return name
    ref = schema.table(key.ref_table)
    if ref is not None and ref.primary_key == key.ref_columns:
        return f"{name} {'~>' if key.inferred else '->'} {shown_name(key.ref_table, schema.dialect)}"
    return f"{name} {key_target(key, schema.dialect)}"


_LONGEST_WAY = 4
"""Maximum foreign keys on the path from one chosen table to the next."""
_TABLE_WORTH = 2.0
"""A needed table is worth as much as this many needed columns: without it none of its columns can be named."""
_DETAIL_WORTH = 0.02
"""Value of showing a needed column's type, key and comment, relative to showing its name."""


Ties = Mapping[str, tuple[tuple[str, ForeignKey, bool], ...]]


class Chosen:
    """The selection so far and its cost."""

    def __init__(self, schema: Schema, budget: int) -> None:
        self.columns: dict[str, dict[str, bool]] = {}
        """By table, the chosen columns, and whether each is shown in detail."""
        self.spent = FIXED
        self._budget = budget
        self._tables = {t.name: t for t in schema.tables}
        self._costs = costs(schema)
        self._ties = ties(schema)

    def add(self, table: str, column: str | None = None) -> bool:
        """Choose a table, or a column with its table, and everything that its joins need. False if that exceeds the
        budget; then nothing is chosen."""
        wanted: dict[str, set[str]] = {table: {column} if column else set()}
        if table not in self.columns:
            for name, _, _ in shortest_way(table, self.columns, self._ties) if self.columns else ():
                wanted.setdefault(name, set())
        known = self.columns.keys() | wanted.keys()
        for name in [n for n in wanted if n not in self.columns]:
            wanted[name].update(self._tables[name].primary_key)
            for other, key, own in self._ties.get(name, ()):
                if other in known:
                    wanted[name].update(key.columns if own else key.ref_columns)
                    wanted.setdefault(other, set()).update(key.ref_columns if own else key.columns)
        cost = sum(
            (0 if name in self.columns else self._costs.name[name, ""])
            + sum(self._costs.name.get((name, c), 0) for c in columns - self.columns.get(name, {}).keys())
            for name, columns in wanted.items()
        )
        if not self._spend(cost):
            return False
        for name, columns in wanted.items():
            own_columns = self.columns.setdefault(name, {})
            for chosen in columns:
                own_columns.setdefault(chosen, False)
        return True

    def tell(self, table: str, column: str) -> None:
        """Show a column in detail, if the budget allows it."""
        if column not in self.columns.get(table, {}) and not self.add(table, column):
            return
        first = not any(self.columns[table].values())
        cost = self._costs.detail[table, column] + (self._costs.detail[table, ""] if first else 0)
        if not self.columns[table][column] and self._spend(cost):
            self.columns[table][column] = True

    def _spend(self, cost: int) -> bool:
        if self.spent + cost > self._budget:
            return False
        self.spent += cost
        return True


def shortest_way(table: str, goals: Container[str], linked: Ties) -> list[tuple[str, str, ForeignKey]]:
    """The shortest path of foreign keys from `table` to one of `goals`, at most `_LONGEST_WAY` long: from the goal
    backwards, each table, and the key that links it to the one before, behind the table that has the key. Empty if
    there is none, or none is needed. `linked`: of `ties`."""
    before: dict[str, tuple[str, ForeignKey, bool] | None] = {table: None}
    todo = deque([(table, 0)])
    while todo:
        here, steps = todo.popleft()
        if here in goals:
            way = []
            while (step := before[here]) is not None:
                nearer, key, own = step
                way.append((nearer, nearer if own else here, key))
                here = nearer
            return way
        if steps < _LONGEST_WAY:
            for other, key, own in linked.get(here, ()):
                if other not in before:
                    before[other] = here, key, own
                    todo.append((other, steps + 1))
    return []


def choose(schema: Schema, tables: Mapping[str, float], columns: Mapping[Key, float], budget: int) -> Chosen:
    """Choose by highest probability per token while the budget lasts. One table with its key is always chosen, however
    small the budget is."""
    chosen, cost = Chosen(schema, budget), costs(schema)
    # Value per token, table, column (none: the table itself), whether in detail
    offers = [(_TABLE_WORTH * p / cost.name[name, ""], name, "", False) for name, p in tables.items()]
    offers += [(p / cost.name[key], *key, False) for key, p in columns.items()]
    offers += [(_DETAIL_WORTH * p / cost.detail[key], *key, True) for key, p in columns.items()]
    for _, table, column, detail in sorted(offers, key=lambda o: (-o[0], o[1:])):
        if detail:
            chosen.tell(table, column)
        else:
            chosen.add(table, column or None)
    if not chosen.columns and tables:
        likeliest = max(tables, key=lambda name: (tables[name], name))
        key = next(t.primary_key for t in schema.tables if t.name == likeliest)
        chosen.columns[likeliest] = dict.fromkeys(key, False)
    return chosen


def reduced(schema: Schema, columns: Mapping[str, Mapping[str, bool]]) -> Schema:
    """The schema restricted to the chosen tables and columns and the keys among them, in the original order."""
    kept: list[Table] = []
    for table in schema.tables:
        if table.name in columns:
            chosen = columns[table.name].keys()
            keys = tuple(
                k
                for k in table.foreign_keys
                if set(k.columns) <= chosen and set(k.ref_columns) <= columns.get(k.ref_table, {}).keys()
            )
            own = tuple(c for c in table.columns if c.name in chosen)
            kept.append(replace(table, columns=own, foreign_keys=keys, indexes=()))
    return Schema(schema.dialect, tuple(kept))


@lru_cache(maxsize=32)
def ties(schema: Schema) -> Ties:
    """By table: the tables that a foreign key connects it to, the key, and whether the table itself declares the
    key."""
    by_table: dict[str, list[tuple[str, ForeignKey, bool]]] = {}
    names = {t.name for t in schema.tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table in names and key.ref_table != table.name:
                by_table.setdefault(table.name, []).append((key.ref_table, key, True))
                by_table.setdefault(key.ref_table, []).append((table.name, key, False))
    return {name: tuple(ties) for name, ties in by_table.items()}
