"""A semantic model as the reader of a database may know it.

In: a model, a database. Out: the model itself for those who see all; for others without what may say anything
(descriptions, instructions) and without metrics and fields that name what is hidden.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.memory.prompt_text import readable
from agent.knowledge.semantics.entries import glossary_of
from agent.knowledge.semantics.model import Dataset, SemanticModel
from eval.databases.base import Database


def readable_model(model: SemanticModel, database: Database) -> SemanticModel:
    """Raises DatabaseError."""
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
