"""Whether the texts that a query compares with a column are stored in that column: a bounded look-up.

In: a case that ran and its open database. Out: one `StoredConstant` for each text compared with `=`, `<>` or IN, at
most `MOST` of them. One statement where all are stored as written, two otherwise; built on the syntax tree and passed
by the guard.
"""

from __future__ import annotations

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import CancelToken, Limits
from eval.schema import Column, Schema, Table
from eval.scoring.types import Case, Place, StoredConstant
from eval.sql import check, parse, parsed_from_tree
from eval.sql.sources import quoted_column, table_source
from eval.sql.types import Constant

MOST = 6
ELSEWHERE = 12
"""Other columns of the query's tables that are looked at."""
ROWS = 100_000
"""Larger tables are not searched: a value that is not there costs a scan."""
_PLACES: tuple[Place, ...] = ("otherwise", "padded", "elsewhere")
LIMITS = Limits(seconds=1.0, rows=1)
_TEXT = ("char", "text", "clob", "string", "enum")


def holds_text(column: Column) -> bool:
    """Whether a column is declared to hold text."""
    return any(kind in column.type.lower() for kind in _TEXT)


def stored_constants(case: Case, database: Database, cancel: CancelToken | None = None) -> tuple[StoredConstant, ...]:
    """Empty where a table is too large to search, and where the look-up fails or takes too long."""
    if any((t.row_count or 0) > ROWS for t in case.tables_read):
        return ()
    compared = [
        c for c in case.facts.literals if c.is_string and c.table and c.column and c.operator in ("=", "<>", "in")
    ]
    wanted = list(dict.fromkeys(compared))[:MOST]
    if not wanted:
        return ()
    exactly = _answers([_exists(case.schema, c, c.table or "", c.column or "") for c in wanted], database, cancel)
    if exactly is None:
        return ()
    missing = [c for c, is_stored in zip(wanted, exactly, strict=True) if not is_stored]
    questions = [question for constant in missing for question in _elsewhere(case, constant)]
    answers = _answers(questions, database, cancel) if missing else []
    if answers is None:
        return ()
    places = dict(zip(missing, zip(answers[::3], answers[1::3], answers[2::3], strict=True), strict=True))
    return tuple(_stored(c, places.get(c)) for c in wanted)


def _stored(constant: Constant, missing: tuple[bool, bool, bool] | None) -> StoredConstant:
    assert constant.table is not None
    assert constant.column is not None
    place: Place = "exactly"
    if missing is not None:
        place = next((other for other, there in zip(_PLACES, missing, strict=True) if there), "nowhere")
    return StoredConstant(constant.value, constant.table, constant.column, place)


def _elsewhere(case: Case, constant: Constant) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """Is it there but for case; but for spaces around it; is it in another text column of the query's tables?"""
    table, column = constant.table or "", constant.column or ""
    others = [
        (t.name, c.name)
        for t in case.tables_read
        for c in t.columns
        if (t.name, c.name) != (table, column) and holds_text(c)
    ][:ELSEWHERE]
    condition: exp.Expr = exp.false()
    for other, name in others:
        condition = exp.or_(condition, _exists(case.schema, constant, other, name))
    folded = _exists(case.schema, constant, table, column, change=exp.Lower)
    return folded, _exists(case.schema, constant, table, column, change=exp.Trim), condition


def _exists(
    schema: Schema, constant: Constant, table: str, column: str, *, change: type[exp.Func] | None = None
) -> exp.Expr:
    source = table_source(schema.table(table) or Table(table, ()))
    cell: exp.Expr = quoted_column(column)
    value: exp.Expr = exp.Literal.string(constant.value)
    if change is not None:
        cell = change(this=cell)
        value = change(this=value) if change is exp.Lower else value
    found = exp.Where(this=exp.EQ(this=cell, expression=value))
    one = exp.Literal.number(1)
    inner = exp.Select(expressions=[one], from_=exp.From(this=source), where=found)
    inner.set("limit", exp.Limit(expression=one.copy()))
    return exp.Exists(this=inner)


def _answers(questions: list[exp.Expr], database: Database, cancel: CancelToken | None) -> list[bool] | None:
    named = [exp.Alias(this=q, alias=exp.to_identifier(f"q{i}")) for i, q in enumerate(questions)]
    tree = exp.Select(expressions=named)
    if tree.find(exp.Trim, exp.Lower) is not None:  # the guard knows a function by how it was written
        statement = check(parse(tree.sql(database.dialect), database.dialect)).statement
    else:
        statement = check(parsed_from_tree(tree, database.dialect)).statement
    result = database.execute(statement, limits=LIMITS, cancel=cancel) if statement is not None else None
    if result is None or not result.ok or not result.rows:
        return None
    return [bool(cell) for cell in result.rows[0]]
