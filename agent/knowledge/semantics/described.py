"""A schema with what the semantic model adds to it: descriptions, other names, joins.

In: a schema and a model. Out: the schema in which datasets and fields of the model describe their tables and columns,
and its relationships are foreign keys. Whoever reads a schema (prompts, linking, the parser, the page) sees them there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from agent.knowledge.semantics.model import SemanticModel
from eval.schema import ForeignKey, Schema, Table


@lru_cache(maxsize=32)
def described(schema: Schema, model: SemanticModel) -> Schema:
    """The schema with the model's descriptions and relationships; the same object where the model adds nothing."""
    of_table = {_place(table): d for d in model.datasets if (table := d.table_in(schema)) is not None}
    keys: dict[tuple[str, str], list[ForeignKey]] = {}
    for ours, theirs, pairs in model.joins(schema):
        key = ForeignKey(tuple(a for a, _ in pairs), theirs.name, tuple(b for _, b in pairs), inferred=True)
        if not any(k.columns == key.columns and k.ref_table == key.ref_table for k in ours.foreign_keys):
            keys.setdefault(_place(ours), []).append(key)
    tables = []
    for table in schema.tables:
        place = _place(table)
        dataset = of_table.get(place)
        if dataset is not None:
            of_column = {f.column.casefold(): f for f in dataset.fields if f.column}
            table = replace(
                table,
                columns=tuple(
                    replace(c, comment=_comment(c.comment, f.description, f.names, c.name))
                    if (f := of_column.get(c.name.casefold()))
                    else c
                    for c in table.columns
                ),
                comment=_comment(table.comment, dataset.description, (dataset.name, *dataset.synonyms), table.name),
                meant_date=model.place(dataset, dataset.date, schema) if dataset.date else None,
                meant_amount=model.place(dataset, dataset.amount, schema) if dataset.amount else None,
            )
        if place in keys:
            table = replace(table, foreign_keys=(*table.foreign_keys, *keys[place]))
        tables.append(table)
    return schema if tuple(tables) == schema.tables else replace(schema, tables=tuple(tables))


def _place(table: Table) -> tuple[str, str]:
    return table.namespace or "", table.name


def _comment(present: str | None, description: str, names: Iterable[str], own: str) -> str | None:
    """The database's comment or the model's description, and the other names that people use."""
    others = [n for n in names if n.casefold() != own.casefold()]
    parts = [description or present or "", f"also called {', '.join(others)}" if others else ""]
    return "; ".join(filter(None, parts)) or None
