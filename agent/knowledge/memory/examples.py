"""Verified examples: questions with the SQL that answers them.

In: a file of JSON lines `{question, sql, db?}` or a YAML list of the same, or questions that people confirmed. Out:
`Example`s, and for one database and its schema, the reason why an example cannot be used. An example that the guard
refuses, or that names a table or column that does not exist, is never shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent.knowledge.memory.lines import BadMemory, Problem, all_good, json_lines, yaml_node
from eval.databases.base import Database
from eval.schema import Schema
from eval.sql import check, parse, resolve

LONGEST = 4_000
"""Maximum characters of a question, and of an SQL text."""


@dataclass(frozen=True, slots=True)
class Example:
    question: str
    sql: str
    db: str = ""
    """The database that the example is for; empty: any database that it fits."""
    line: int = 0
    """Its line in its file."""


def read_examples(path: Path) -> list[Example]:
    """The examples of a file, whose name ends in `.jsonl`, `.yaml` or `.yml`. Raises BadMemory."""
    if path.suffix.lower() in (".yaml", ".yml"):
        root = yaml_node(path)
        nodes = () if root.value is None else root.value
        if not isinstance(nodes, tuple):
            raise BadMemory(path, [Problem(root.line, "a list of examples is expected")])
        records: list[tuple[int, Any]] = [(one.line, one.plain()) for one in nodes]
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        records = json_lines(path)
    else:
        raise BadMemory(path, [Problem(1, "examples are kept in .jsonl or .yaml files")])
    return all_good(path, (_example(line, record) for line, record in records))


def _example(line: int, record: Any) -> Example | Problem:
    if not isinstance(record, dict):
        return Problem(line, "an object with question and sql is expected")
    # Benchmarks call the verified query of a question its gold.
    texts = {"question": record.get("question"), "sql": record.get("sql", record.get("gold_sql"))}
    for name, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            return Problem(line, f"{name} is missing or no text")
        if len(text) > LONGEST:
            return Problem(line, f"{name} is longer than {LONGEST:,} characters")
    db = record.get("db") or ""
    if not isinstance(db, str):
        return Problem(line, "db is no text")
    return Example(str(texts["question"]).strip(), str(texts["sql"]).strip().rstrip("; \n"), db.strip(), line)


@lru_cache(maxsize=4_096)
def usable(example: Example, schema: Schema) -> str | None:
    """Why the example cannot be used with this schema; None where it can."""
    parsed = parse(example.sql, schema.dialect)
    verdict = check(parsed, schema)
    if parsed.error or verdict.statement is None:
        return f"the guard refuses its SQL: {parsed.error or verdict.reason}"
    phantoms = resolve(parsed, schema).phantoms
    return f"the schema has no {phantoms[0].text}" if phantoms else None


def shown_to(reader: Database, example: Example) -> bool:
    """Whether the one whom the database was opened for may see the example."""
    return reader.sees_all or reader.may_show(parse(example.sql, reader.dialect), example.question)


@lru_cache(maxsize=4_096)
def named_in(example: Example, schema: Schema) -> frozenset[str]:
    """The tables and `table.column`s that its SQL uses."""
    references = resolve(parse(example.sql, schema.dialect), schema)
    return frozenset((*references.tables, *(f"{table}.{column}" for table, column in references.columns)))
