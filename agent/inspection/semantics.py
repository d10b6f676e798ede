"""The semantic model for the doors: a checked draft of a database, and the check of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from agent.config import JudgingSettings
from eval.databases.base import Database
from eval.schema import Schema


@dataclass(frozen=True, slots=True)
class ModelReport:
    datasets: int
    metrics: int
    findings: tuple[str, ...]
    """What does not fit the database."""
    not_handled: tuple[str, ...]
    """What the file holds and is not used."""


def described_schema(database: Database, schema: Schema, settings: JudgingSettings) -> Schema:
    """The schema with what the semantic model of the settings adds for the reader of the database; as it is where the
    file cannot be read, which the next question reports."""
    from agent.knowledge.memory.lines import BadMemory
    from agent.knowledge.semantics.described import described
    from agent.knowledge.semantics.files import semantic_model_of
    from agent.knowledge.semantics.terms import readable_model

    try:
        model = semantic_model_of(settings)
    except BadMemory:
        return schema
    return described(schema, readable_model(model, database)) if model else schema


def draft_model(database: Database) -> str:
    """A model of the database as YAML, without what its check would object to. Raises DatabaseError."""
    from agent.knowledge.semantics.check import checked
    from agent.knowledge.semantics.described import drafted
    from agent.knowledge.semantics.files import written

    model = drafted(database.schema(), database.name)
    wrong = {finding.place for finding in checked(model, database)}
    return written(
        replace(
            model,
            metrics=tuple(m for m in model.metrics if m.name not in wrong),
            relationships=tuple(r for r in model.relationships if r.name not in wrong),
        )
    )


def check_model(file: Path, database: Database) -> ModelReport:
    """Raises DatabaseError, InputError for a file that cannot be read."""
    from agent.knowledge.semantics.check import checked
    from agent.knowledge.semantics.files import read_model

    model = read_model(file)
    findings = tuple(str(finding) for finding in checked(model, database))
    return ModelReport(len(model.datasets), len(model.metrics), findings, model.not_handled)
