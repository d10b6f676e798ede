"""A first semantic model of a database, to be corrected by people.

In: a schema. Out: a model with every table and column, the foreign keys as relationships, a count for each table that
records events, and the sum of each amount. It says only what the structure says, so that its check finds nothing.
"""

from __future__ import annotations

from agent.knowledge.semantics.model import Dataset, Expression, Field, Metric, Relationship, SemanticModel
from agent.knowledge.vocabulary import ColumnWord, vocabulary
from eval.schema import Schema, Table

_AMOUNTS = frozenset("amount total price cost revenue value fee salary quantity payment balance".split())  # noqa: SIM905
_NO_SUM = frozenset("price unit rate average".split())  # noqa: SIM905
_TYPES = {"date": "Date", "flag": "Boolean", "number": "Decimal", "year": "Integer", "text": "String", "name": "String"}


def drafted(schema: Schema, name: str) -> SemanticModel:
    words = vocabulary(schema)
    datasets, relationships, metrics = [], [], []
    names: set[str] = set()
    for table in schema.tables:
        dataset = _unused(table.name, names)
        columns = {c.name: c for c in words.by_table.get(table.name, ())}
        datasets.append(_dataset(dataset, table, columns))
        metrics += [_sum(dataset, column) for column in columns.values() if _is_amount(column)]
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


def _is_amount(column: ColumnWord) -> bool:
    words = set(column.words)
    return column.role == "number" and bool(_AMOUNTS & words) and not _NO_SUM & words


def _unused(name: str, names: set[str]) -> str:
    made, number = name, 2
    while made.casefold() in names:
        made, number = f"{name}_{number}", number + 1
    names.add(made.casefold())
    return made


def _dataset(name: str, table: Table, columns: dict[str, ColumnWord]) -> Dataset:
    fields = []
    for column in table.columns:
        role = columns[column.name].role if column.name in columns else ""
        kind = _TYPES.get(role, "")
        written = column.name if column.name.isidentifier() else f'"{column.name}"'
        fields.append(Field(column.name, Expression(written), (), column.comment or "", kind, role == "date"))
    unique = tuple(i.columns for i in table.indexes if i.unique and i.columns != table.primary_key)
    return Dataset(name, table.name, table.namespace, tuple(fields), table.primary_key, unique, (), table.comment or "")


def _sum(dataset: str, column: ColumnWord) -> Metric:
    written = column.name if column.name.isidentifier() else f'"{column.name}"'
    owner = dataset if dataset.isidentifier() else f'"{dataset}"'
    return Metric(f"total_{dataset}_{column.name}", Expression(f"SUM({owner}.{written})"), (), "")
