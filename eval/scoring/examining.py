"""From question, query and database to a `Case`: parse, guard, references, run, facts, constants, in this order."""

from __future__ import annotations

from eval.databases.base import Database, Limits
from eval.schema import Schema
from eval.scoring.stored import with_stored
from eval.scoring.types import Case
from eval.sql import check, facts, parse, resolve


def examine(
    question: str, sql: str, database: Database, *, schema: Schema | None = None, limits: Limits | None = None
) -> Case:
    """Everything that scoring reads of one query. Runs it only if the guard allows it and every name resolves.

    `schema` saves the look-up where the caller has it. Raises DatabaseError when the schema can't be read.
    """
    schema = database.schema() if schema is None else schema
    parsed = parse(sql, schema.dialect)
    verdict = check(parsed)
    references = resolve(parsed, schema)
    may_run = verdict.statement is not None and not references.phantoms
    result = database.execute(verdict.statement, limits=limits) if may_run and verdict.statement else None
    case = Case(
        question=question,
        parsed=parsed,
        verdict=verdict,
        references=references,
        facts=facts(parsed, schema),
        schema=schema,
        result=result,
    )
    return with_stored(case, database)
