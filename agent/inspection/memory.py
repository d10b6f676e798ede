"""A team's memory, for the doors: checking files of examples, terms and semantic models, and a checked draft of a
model.

In: paths, an open database. Out: what is wrong, line by line. Nothing here is sent anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from agent.config import JudgingSettings
from eval.databases.base import Database
from eval.schema import Schema


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of a file found. `entries`: examples, or terms, metrics and filters."""

    entries: int
    other: int
    """Entries for another database, which were not checked against this one."""
    problems: tuple[str, ...]
    """`line 3: the schema has no table …`."""


def check_examples(path: Path, database: Database) -> Checked:
    """Check the form of a file and each example against the guard and the schema."""
    from agent.knowledge.memory.examples import read_examples, usable
    from agent.knowledge.memory.lines import BadMemory

    try:
        examples, schema = read_examples(path), database.schema()
    except BadMemory as error:
        return Checked(0, 0, tuple(map(str, error.problems)))
    here = [e for e in examples if e.db in ("", database.name)]
    wrong = [f"line {e.line}: {reason}" for e in here if (reason := usable(e, schema))]
    return Checked(len(examples), len(examples) - len(here), tuple(wrong))


def check_glossary(path: Path, database: Database) -> Checked:
    """Check the form of a glossary and each entry against the schema."""
    from agent.knowledge.memory.glossary import read_glossary, unfit
    from agent.knowledge.memory.lines import BadMemory

    try:
        entries, schema = read_glossary(path).entries, database.schema()
    except BadMemory as error:
        return Checked(0, 0, tuple(map(str, error.problems)))
    wrong = [f"line {e.line}: {e.name}: {reason}" for e in entries if (reason := unfit(e, schema))]
    return Checked(len(entries), 0, tuple(wrong))


def kit_problem(folder: str) -> str | None:
    """Why a kit cannot be used; None if it can."""
    from agent.knowledge.kit import read_kit
    from agent.knowledge.memory.lines import BadMemory

    try:
        read_kit(folder)
    except BadMemory as error:
        return str(error)
    return None


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
