"""A first semantic model of a database, to be corrected by people.

In: a schema. Out: a model with every table and column, the foreign keys as relationships, a count for each table that
records events, and the sum of each amount. It says only what the structure says, so that its check finds nothing.
"""

from __future__ import annotations

from agent.knowledge.semantics.model import Dataset, Expression, Field, Metric, Relationship, SemanticModel
from agent.knowledge.vocabulary import vocabulary
from eval.language.lexicon import word_set
from eval.schema import Schema

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
