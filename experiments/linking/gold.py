"""The tables, columns and literals that gold queries need: the ground truth for learning and measuring linking.

In: folders of `questions.jsonl` and `databases/{db}.sqlite`. Out: `Case`s: the question, the schema, and the tables,
columns and string literals of its gold query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.collection import Collection
from eval.databases import Database, DatabaseError
from eval.schema import Schema
from eval.sql import facts, parse, resolve
from experiments.json_lines import read_lines


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    db: str
    question: str
    evidence: str
    database: Database
    schema: Schema
    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]
    literals: tuple[str, ...]
    """Text constants of the query, without wildcards at their ends."""


def cases(folders: Sequence[Path], *, every: int = 1, least_columns: int = 0) -> Iterator[Case]:
    """Every `every`-th question whose gold query resolves completely on its database, on databases with at least
    `least_columns` columns; database by database."""
    for folder in folders:
        records = sorted(read_lines(folder / "questions.jsonl"), key=lambda r: str(r["db"]))
        databases = Collection(str(folder / "databases"))
        for record in records[::every]:
            try:
                database = databases.database(record["db"])
                schema = database.schema()
            except DatabaseError:
                continue
            if schema.column_count < least_columns:
                continue
            parsed = parse(record["gold_sql"], schema.dialect)
            references = resolve(parsed, schema)
            if not references.tables or references.phantoms:
                continue
            real = {t.name.casefold(): t for t in schema.tables}
            columns = []
            for table, column in references.columns:
                owner = real.get(table.casefold())
                place = owner.column(column) if owner else None
                if owner and place:
                    columns.append((owner.name, place.name))
            yield Case(
                str(record["id"]),
                record["db"],
                record["question"],
                str(record.get("evidence") or ""),
                database,
                schema,
                frozenset(real[t.casefold()].name for t in references.tables if t.casefold() in real),
                frozenset(columns),
                tuple(dict.fromkeys(c.value.strip("%") for c in facts(parsed, schema).literals if c.is_string)),
            )
        databases.close()
