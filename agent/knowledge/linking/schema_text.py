"""The chosen part of a schema as text: likely columns in detail, the others by name only.

In: a schema and the chosen columns by table. Out: the text that a model sees, and the token cost of each part. A table
with at least one column in detail has a block as `schema_context` writes it, with its other chosen columns on one line.
Each remaining table is one line, `table(column, column -> other.id)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from agent.knowledge.schema_context import (
    column_line,
    estimate_tokens,
    key_line,
    key_target,
    qualified_name,
    shown_name,
    single_column_keys,
    table_heading,
)
from eval.schema import Column, ForeignKey, Schema

Choice = Mapping[str, Mapping[str, bool]]
"""By table, the chosen columns, and whether each is shown in detail."""
Key = tuple[str, str]
"""(table, column)."""

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
