"""Keep a team's examples apart from a test set, and tell how much of it they give away.

In: a file of examples, the test questions with their gold queries. Out: the examples that are not among them, and the
overlap in words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.knowledge.memory.examples import Example
from agent.knowledge.memory.retrieval import load_memory, template
from eval.schema import Dialect
from text2sql_lab.questions import plain_question, sql_template


def examples_apart(path: Path, tests: Sequence[tuple[str, str]], dialect: Dialect, kept: Path) -> str:
    """Write the examples that are no questions of a test set (`tests`: with their gold) to `kept`; in words, how much
    the rest give away of it. Raises ValueError naming the lines that are wrong."""
    examples, overlap = apart(load_memory(str(path), None).examples, tests, dialect)
    lines = (json.dumps({"question": e.question, "sql": e.sql, "db": e.db}, ensure_ascii=False) for e in examples)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(overlap)


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a test set the examples leak."""

    examples: int
    questions: int
    same_question: int
    """Examples that are themselves questions of the test set; they must not be shown."""
    same_template: int
    """Test questions that share a template with another example: only values differ."""
    same_sql: int
    """Test questions whose gold query equals that of another example, apart from constants."""

    def __str__(self) -> str:
        return (
            f"Examples: {self.examples}, of which {self.same_question} are questions of the test set and were left out."
            f" Of {self.questions} test questions, {self.same_template} ({self._share(self.same_template)}) share their"
            f" template with one of the others (the same words but for values), and {self.same_sql}"
            f" ({self._share(self.same_sql)}) the form of their gold query (the same SQL but for constants)."
        )

    def _share(self, part: int) -> str:
        return f"{part / self.questions:.1%}" if self.questions else "–"


def apart(
    examples: Sequence[Example], tests: Sequence[tuple[str, str]], dialect: Dialect
) -> tuple[list[Example], Overlap]:
    """The examples that are not in the test set, and the overlap. `tests`: questions with their gold queries."""
    asked = {plain_question(question) for question, _ in tests}
    kept = [example for example in examples if plain_question(example.question) not in asked]
    templates = {template(example.question) for example in kept}
    queries = {sql_template(example.sql, dialect) for example in kept}
    return kept, Overlap(
        examples=len(examples),
        questions=len(tests),
        same_question=len(examples) - len(kept),
        same_template=sum(template(question) in templates for question, _ in tests),
        same_sql=sum(sql_template(gold, dialect) in queries for _, gold in tests),
    )
