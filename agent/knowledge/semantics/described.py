"""Between a schema and a semantic model: what a model adds to a schema, and what a schema alone says as a model.

`described`: the schema in which datasets and fields of the model describe their tables and columns, and its
relationships are foreign keys. Whoever reads a schema (prompts, linking, the parser, the page) sees them there.

`drafted`: a first model of a database, to be corrected by people, with every table and column, the foreign keys as
relationships, and the sum of each amount. It says only what the structure says, so that its check finds nothing.

`flows_of`: money in and out in one column, as bank statements and cash books have it: in a schema that an import wrote,
`spent` and `received` are metrics of such columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from agent.knowledge.semantics.model import Dataset, Expression, Field, Metric, Relationship, SemanticModel
from agent.knowledge.vocabulary import vocabulary
from eval.language.lexicon import word_set
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql.sources import quoted_column


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


_AMOUNTS = word_set("amount total price cost revenue value fee salary quantity payment balance")
_NO_SUM = word_set("price unit rate average")
_TYPES = {"date": "Date", "flag": "Boolean", "number": "Decimal", "year": "Integer", "text": "String", "name": "String"}


def drafted(schema: Schema, name: str) -> SemanticModel:
    words = vocabulary(schema)
    datasets, relationships, metrics = [], [], []
    names: set[str] = set()
    for table in schema.tables:
        dataset, number = table.name, 2
        while dataset.casefold() in names:  # tables of several namespaces may share a name
            dataset, number = f"{table.name}_{number}", number + 1
        names.add(dataset.casefold())
        roles = {c.name: c.role for c in words.by_table.get(table.name, ())}
        kinds = [(c, roles.get(c.name, "")) for c in table.columns]
        fields = [
            Field(c.name, Expression(_written(c.name)), (), c.comment or "", _TYPES.get(role, ""), role == "date")
            for c, role in kinds
        ]
        unique = tuple(i.columns for i in table.indexes if i.unique and i.columns != table.primary_key)
        told = (table.primary_key, unique, (), table.comment or "")
        datasets.append(Dataset(dataset, table.name, table.namespace, tuple(fields), *told))
        for column in words.by_table.get(table.name, ()):
            if column.role == "number" and _AMOUNTS & set(column.words) and not _NO_SUM & set(column.words):
                total = Expression(f"SUM({_written(dataset)}.{_written(column.name)})")
                metrics.append(Metric(f"total_{dataset}_{column.name}", total))
    tables = {(d.namespace, d.table): d.name for d in datasets}
    for table in schema.tables:
        for number, key in enumerate(table.foreign_keys, 1):
            target = schema.table(key.ref_table)
            if target is None or len(key.columns) != len(key.ref_columns):
                continue
            source, to = tables[table.namespace, table.name], tables[target.namespace, target.name]
            pairs = tuple(zip(key.columns, key.ref_columns, strict=True))
            relationships.append(Relationship(f"{source}_{to}_{number}", source, to, pairs))
    return SemanticModel(name, tuple(datasets), tuple(relationships), tuple(metrics))


def _written(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


SPENT = ("spent", "spend", "spending", "expenditure", "outgoings", "went out", "paid out")
RECEIVED = ("received", "income", "earned", "earn", "takings", "came in", "got in", "paid in", "take in", "took in")


def flows_of(schema: Schema) -> SemanticModel | None:
    """None where no table has exactly one such column."""
    datasets, metrics = [], []
    for table in schema.tables:
        both = [c for c in table.columns if c.values and c.values.flows]
        if len(both) == 1:
            datasets.append(Dataset(table.name, table.name, table.namespace))
            metrics += _metrics(table, both[0])
    return SemanticModel("flows", tuple(datasets), (), tuple(metrics)) if metrics else None


def _metrics(table: Table, column: Column) -> list[Metric]:
    """The metrics, by those of their words that no cell of the table is."""
    assert column.values is not None
    free = set((column.values.flows or "").split(","))
    place = quoted_column(column.name, table.name).sql("duckdb", identify=True)
    unit = column.values.unit or ""
    found = []
    other, _, out = (column.values.direction or "").partition("|")
    for words, sign, compared in ((SPENT, "-", "<"), (RECEIVED, "", ">")):
        names = [word for word in words if word in free]
        expression = Expression(f"SUM(CASE WHEN {place} {compared} 0 THEN {sign}{place} END)")
        told = f"the {'negative' if sign else 'positive'} amounts of {column.name}"
        if other:
            says = quoted_column(other, table.name)
            value = exp.Literal.string(out)
            condition = exp.EQ(this=says, expression=value) if sign else exp.NEQ(this=says, expression=value)
            expression = Expression(f"SUM(CASE WHEN {condition.sql('duckdb', identify=True)} THEN {place} END)")
            told = f"the amounts of {column.name} where {other} is {'' if sign else 'not '}{out}"
        found += [Metric(names[0], expression, tuple(names[1:]), told, unit)] if names else []
    return found
