"""Runs the queries that the agent builds itself to read about a database: each passes the guard and has limits."""

from __future__ import annotations

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.schema import Schema
from eval.sql import check, parsed_from_tree


def run(database: Database, tree: exp.Expression, limits: Limits, schema: Schema | None = None) -> ExecutionResult:
    """The rows of a query; an error if the guard refuses it. Never raises."""
    verdict = check(parsed_from_tree(tree, database.dialect), schema)
    if verdict.statement is None:
        return ExecutionResult("error", error=verdict.reason)
    return database.execute(verdict.statement, limits=limits)
