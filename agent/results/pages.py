"""Pages of a kept result as JSON values, sorted and filtered inside its file.

In: offset, limit, an order and filters by column number. Out: a `Page`. NULL comes last in both directions; numbers
come before text, which ignores the case of ASCII letters. All values are parameters.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from agent.results.cells import ColumnFacts, exact_column
from agent.results.result_errors import BadRequest
from eval.databases.types import Value

COUNTED = 100_000
"""Rows counted behind a filter; there are more when `Page.total_exact` is false."""

Op = Literal["contains", "=", "!=", "<", "<=", ">", ">=", "is null", "not null"]


class Sort(BaseModel, frozen=True, extra="forbid"):
    """Order by the column of that number (from 0)."""

    column: int
    descending: bool = False


class Filter(BaseModel, frozen=True, extra="forbid"):
    """Keep rows by the column of that number (from 0).

    `contains` ignores case and looks into numbers and dates as they are shown. `=` tells case apart. `!=` keeps NULL.
    A number given as text is read as one where the column holds numbers; a date is ISO text.
    """

    column: int
    op: Op
    value: str | None = None


class Page(BaseModel, frozen=True):
    offset: int
    rows: list[list[Any]]
    """JSON values (`eval.databases.values`)."""
    total: int
    """Rows that the filters keep."""
    total_exact: bool
    """False when there are more than `total`: counting stopped, or the result itself was truncated."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows in which order, as SQL over the table `answer`."""

    where: str
    order: str
    values: tuple[Any, ...]


def selection(
    columns: Sequence[ColumnFacts], exact: Iterable[int], sort: Sequence[Sort], filters: Sequence[Filter]
) -> Selection:
    """Raises BadRequest for a column that does not exist or a value that cannot be compared."""
    with_exact = frozenset(exact)
    for number in (*(s.column for s in sort), *(f.column for f in filters)):
        if not 0 <= number < len(columns):
            raise BadRequest(f"there is no column {number}; the result has {len(columns)}, counted from 0")
    terms, values = [], []
    for wanted in filters:
        term, bound = _condition(wanted, columns[wanted.column], wanted.column in with_exact)
        terms.append(term)
        values += bound
    order = [f"c{s.column} COLLATE NOCASE {'DESC' if s.descending else 'ASC'} NULLS LAST" for s in sort]
    return Selection(
        where=f"WHERE {' AND '.join(terms)}" if terms else "",
        order=f"ORDER BY {', '.join([*order, 'rowid'])}",
        values=tuple(values),
    )


def _condition(wanted: Filter, facts: ColumnFacts, has_exact: bool) -> tuple[str, list[Any]]:
    cell, op, value = f"c{wanted.column}", wanted.op, wanted.value
    if op == "is null":
        return f"{cell} IS NULL", []
    if op == "not null":
        return f"{cell} IS NOT NULL", []
    if value is None:
        raise BadRequest(f"{op} needs a value; use is null or not null to ask for NULL")
    text = value.encode("utf-8", "replace").decode()
    if op == "contains":
        shown = f"coalesce(nullif(substr(x{wanted.column}, 2), ''), {cell})" if has_exact else cell
        if not text.isascii():
            return f"holds({shown}, ?)", [text.casefold()]
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        return f"(typeof({cell}) <> 'blob' AND {shown} LIKE ? ESCAPE '\\')", [f"%{escaped}%"]
    bound = _comparable(text, facts)
    if op == "=":
        return f"{cell} = ?", [bound]
    if op == "!=":
        return f"{cell} IS NOT ?", [bound]
    classes = "('text')" if isinstance(bound, str) else "('integer', 'real')"
    return f"(typeof({cell}) IN {classes} AND {cell} {op} ? COLLATE NOCASE)", [bound]


def _comparable(text: str, facts: ColumnFacts) -> int | float | str:
    """The value in the form in which the column's cells are compared."""
    if facts.kind == "boolean" and text.casefold() in ("true", "false"):
        return int(text.casefold() == "true")
    if facts.kind == "datetime":
        return text.replace(" ", "T", 1)
    if facts.kind != "number":
        return text
    try:
        number = int(text)
        return number if -(2**63) <= number < 2**63 else float(number)
    except OverflowError:
        return math.copysign(math.inf, -1 if text.strip().startswith("-") else 1)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            raise BadRequest(f"column {facts.name!r} holds numbers, and {text[:40]!r} is none") from None


def holds(cell: object, needle: str) -> bool:
    """SQL function: whether a cell's text contains this casefolded text."""
    return cell is not None and not isinstance(cell, bytes) and needle in str(cell).casefold()


def read_rows(
    file: sqlite3.Connection,
    width: int,
    exact: Sequence[int],
    chosen: Selection,
    *,
    batch: int,
    offset: int = 0,
    limit: int = -1,
) -> Iterator[list[Sequence[Value]]]:
    """The rows' exact values, column by column, in batches; all rows from the first one when `limit` is negative."""
    names = ", ".join([*(f"c{i}" for i in range(width)), *(f"x{i}" for i in exact)])
    if not chosen.where and chosen.order == "ORDER BY rowid":
        # Rows are numbered from 1 in order: seek to the offset instead of counting up to it.
        sql, values = f"SELECT {names} FROM answer WHERE rowid > ? ORDER BY rowid LIMIT ?", (offset, limit)
    elif limit < 0:
        sql, values = f"SELECT {names} FROM answer {chosen.where} {chosen.order}", chosen.values
    else:  # sort only the keys, then fetch the few rows
        keys = f"SELECT rowid AS row FROM answer {chosen.where} {chosen.order} LIMIT ? OFFSET ?"
        sql = f"SELECT {names} FROM ({keys}) AS page CROSS JOIN answer ON answer.rowid = page.row"
        values = (*chosen.values, limit, offset)
    cursor = file.execute(sql, values)
    try:
        while rows := cursor.fetchmany(batch):
            columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
            for position, i in enumerate(exact, start=width):
                columns[i] = exact_column(columns[i], columns[position])
            yield columns[:width]
    finally:
        cursor.close()


def count_rows(file: sqlite3.Connection, chosen: Selection, row_count: int, counted: int = COUNTED) -> tuple[int, bool]:
    """How many rows the filters keep, up to `counted`, and whether that is all of them."""
    if not chosen.where:
        return row_count, True
    row = file.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM answer {chosen.where} LIMIT {counted + 1})", chosen.values
    ).fetchone()[0]
    return min(row, counted), row <= counted
