"""A model's metrics, conditions and defaults as glossary entries, which prompts and evidence read.

In: a model and a schema. Out: a `Glossary` in the schema's own columns; of a model, what a database's reader may know.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from agent.knowledge.memory.glossary import Entry, Glossary, Kind
from agent.knowledge.memory.retrieval import readable
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.hidden_rows import plain_column
from agent.knowledge.semantics.model import Dataset, SemanticModel
from eval.databases.base import Database
from eval.schema import Schema
from eval.sql import render


@lru_cache(maxsize=32)
def glossary_of(model: SemanticModel, schema: Schema) -> Glossary:
    view = model_view_of(model, schema)
    entries: list[Entry] = []
    for metric in model.metrics:
        meaning = view.metric(metric.name)
        if meaning is not None:
            note = " ".join(filter(None, (metric.description, f"in {metric.unit}" if metric.unit else "")))
            entries.append(Entry("metric", metric.name, render(meaning.tree, schema.dialect), metric.synonyms, note))
    for dataset in model.datasets:
        for field in dataset.fields:
            meaning = view.meanings.get((dataset.table.casefold(), field.name.casefold()))
            if meaning is not None and field.column is None:
                text = render(meaning.tree, schema.dialect)
                entries.append(Entry("term", field.name, text, field.synonyms, field.description))
    others = ((rows.table.name, rows.kept(rows.table.name)) for rows in view.hidden)
    entries += [Entry("filter", table, render(kept, schema.dialect)) for table, kept in others]
    entries += [Entry("term", term, means) for term, means in model.terms]
    for dataset in model.datasets:
        table = dataset.table_in(schema)
        defaults: tuple[tuple[Kind, str], ...] = (("date", dataset.date), ("amount", dataset.amount))
        for kind, name in defaults:
            if table is not None and name and (place := model.place(dataset, name, schema)):
                column = plain_column(place[1], place[0])
                entries.append(Entry(kind, table.name, render(column, schema.dialect)))
    return Glossary(tuple(entries))


def readable_model(model: SemanticModel, database: Database) -> SemanticModel:
    """The model itself for those who see all; for others without what may say anything (descriptions, instructions) and
    without metrics and fields that name what is hidden. Raises DatabaseError."""
    if database.sees_all:
        return model
    seen = readable(glossary_of(model, database.schema()).entries, database)
    kept = {(entry.kind, entry.name) for entry in seen}

    def plain(dataset: Dataset) -> Dataset:
        fields = (f for f in dataset.fields if f.column or ("term", f.name) in kept)
        return replace(
            dataset,
            description="",
            fields=tuple(replace(f, description="") for f in fields),
            hidden=dataset.hidden if ("filter", dataset.table) in kept else None,
        )

    return replace(
        model,
        datasets=tuple(map(plain, model.datasets)),
        metrics=tuple(replace(m, description="") for m in model.metrics if ("metric", m.name) in kept),
        instructions="",
        terms=tuple((term, means) for term, means in model.terms if ("term", term) in kept),
    )
