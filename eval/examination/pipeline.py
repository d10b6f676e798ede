"""The pipeline: parse → guard → references → facts → execute → look-ups, in this order.

In: a `Query` and a database. Out: a `Case`. `inspect` stops before anything runs; `examine` goes on to the database.
A statement that the guard refuses, or that names what the database lacks, is never sent. Each statement is sent once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from eval.databases.base import Database, in_statement_thread
from eval.databases.types import CancelToken, ExecutionResult, Limits
from eval.examination.column_contents import column_contents
from eval.examination.query_plan import full_scans
from eval.examination.stored_values import named_values, stored_constants
from eval.schema import Schema
from eval.scoring.types import Case
from eval.sql import check, facts, parse, resolve
from eval.sql.traversal import unchanging


@dataclass(frozen=True, slots=True)
class Query:
    """SQL for a question, and what is known of how it was written."""

    question: str
    sql: str
    reasoning: str = ""
    """What the writer of the SQL said about it."""
    plan_confidence: float | None = None
    """0..1, the planner's; None where nothing was planned."""
    taught: str = ""
    """In lower case, what the writer knew besides the question: evidence, terms, confirmed queries."""


def inspect(query: Query, schema: Schema) -> Case:
    """What can be known of a query without a connection; `result` is None."""
    parsed = parse(query.sql, schema.dialect)
    with unchanging(parsed.tree):
        return Case(
            question=query.question,
            parsed=parsed,
            verdict=check(parsed, schema),
            references=resolve(parsed, schema),
            facts=facts(parsed, schema),
            schema=schema,
            result=None,
            plan_confidence=query.plan_confidence,
            reasoning=query.reasoning,
            taught=query.taught,
        )


def examine(
    query: Query,
    database: Database,
    *,
    schema: Schema | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    send_unknown_names: bool = False,
    ran: Mapping[str, ExecutionResult] | None = None,
) -> Case:
    """Inspect a query, run it, and look up what its result is weighed by: the texts that it compares with columns, and
    the full scans in the engine's plan where a table is large.

    `schema` saves reading it again. With `send_unknown_names` the database decides on names that the schema lacks; the
    benchmark wants its verdict, not ours. A statement whose complete result is in `ran`, by its SQL, is not sent again.
    Blocking. Raises DatabaseError when the schema cannot be read.
    """
    case = inspect(query, database.schema() if schema is None else schema)
    statement = case.verdict.statement if send_unknown_names else case.runnable
    if statement is None:
        return case
    known = ran.get(statement.sql) if ran else None
    fits = known is not None and (limits is None or len(known.rows) <= limits.rows)
    case = replace(case, result=known if fits else database.execute(statement, limits=limits, cancel=cancel))
    if not case.ran:
        return case
    return replace(
        case,
        stored=stored_constants(case, database, cancel),
        named=named_values(case, database, cancel),
        full_scans=full_scans(case, database),
        contents=column_contents(case, database, cancel),
    )


async def examine_async(
    query: Query,
    database: Database,
    *,
    schema: Schema | None = None,
    limits: Limits | None = None,
    ran: Mapping[str, ExecutionResult] | None = None,
) -> Case:
    """`examine` off the event loop. Cancelling the awaiting task interrupts the statement in the engine."""
    return await in_statement_thread(
        lambda cancel: examine(query, database, schema=schema, limits=limits, cancel=cancel, ran=ran)
    )
