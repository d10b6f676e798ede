"""The message to a participant: the question, the structure of the database, the dialect. Never gold.

In: an `Assignment`'s task and its database. Out: JSON in the format of the contract.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from eval.databases import Database, Limits
from eval.databases.values import json_rows
from eval.schema import Table
from eval.sql import check, parsed_from_tree
from eval.sql.quoted_names import table_source
from eval.tasks.library.task import Task

_SAMPLE_LIMITS = Limits(seconds=10.0, rows=20, bytes=256 * 1024, cell_bytes=4 * 1024)


def task_message(task: Task, structure: dict[str, Any], dialect: str) -> dict[str, Any]:
    return {
        "task_id": task.id,
        "question": task.question,
        "schema": structure,
        "dialect": "postgresql" if dialect == "postgres" else dialect,
        **({"evidence": task.evidence} if task.evidence else {}),
    }


def structure_message(database: Database, samples: int = 0) -> dict[str, Any]:
    """`schema.tables` as a list, with declared keys only; with `samples`, also that many rows of each table. Raises
    DatabaseError."""
    schema = database.schema()
    tables = []
    for table in schema.tables:
        described = _table(table)
        if samples:
            query = exp.select("*").from_(table_source(table)).limit(samples)
            statement = check(parsed_from_tree(query, schema.dialect)).statement
            result = database.execute(statement, limits=_SAMPLE_LIMITS) if statement else None
            described["sample_rows"] = json_rows(result.rows) if result and result.ok else []
        tables.append(described)
    return {"tables": tables}


def _table(table: Table) -> dict[str, Any]:
    declared = [key for key in table.foreign_keys if not key.inferred]
    single = {key.columns[0]: key for key in declared if len(key.columns) == 1}
    described: dict[str, Any] = {
        "name": table.name,
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "nullable": column.nullable,
                "primary_key": column.primary_key,
                "foreign_key": f"{key.ref_table}.{key.ref_columns[0]}" if (key := single.get(column.name)) else None,
                "default": column.default,
            }
            for column in table.columns
        ],
    }
    several = [
        {"columns": [*key.columns], "references": {"table": key.ref_table, "columns": [*key.ref_columns]}}
        for key in declared
        if len(key.columns) > 1
    ]
    if several:
        described["foreign_keys"] = several
    if table.namespace:
        described["namespace"] = table.namespace
    return described
