"""A team's memory, for the doors: checking files of examples and terms.

In: paths, an open database. Out: what is wrong, line by line. Nothing here is sent anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.databases.base import Database


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
