"""The semantic model for the doors: a checked draft of a database, and the check of a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eval.databases.base import Database


@dataclass(frozen=True, slots=True)
class ModelReport:
    datasets: int
    metrics: int
    findings: tuple[str, ...]
    """What does not fit the database."""
    not_handled: tuple[str, ...]
    """What the file holds and is not used."""


def draft_model(database: Database) -> str:
    """A model of the database as YAML, without what its check would object to. Raises DatabaseError."""
    from agent.knowledge.semantics.check import checked
    from agent.knowledge.semantics.draft import drafted
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
