"""Execution probe: run a reading's statement, because its result shows whether the reading is right.

In: an open database. Out: a `Look`, which runs a statement under the guard and short limits, and describes its rows; no
row leaves this module. An empty result, only NULLs or repeated rows make a reading less likely.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.sql import check, parsed_from_tree

_LIMITS = Limits(seconds=0.2, rows=200, bytes=1024 * 1024, cell_bytes=4096)
"""A probe must not delay the answer: a statement that takes longer gives no observations."""
_BUDGET_MS = 300.0
"""Total time in the engine after which a looker runs no new statement."""

Look = Callable[[exp.Expression], dict[str, float]]
"""From a statement's tree to named observations on its rows; empty when it could not be run in time."""
Ran = MutableMapping[str, ExecutionResult]
"""Complete results of statements that were sent, by their SQL."""


def looker(database: Database, ran: Ran | None = None) -> Look:
    """A `Look` at one database for one question; a statement that was already run is not run again. A complete result
    is left in `ran`: the statement that answers the question is one of those looked at."""
    seen: dict[int, tuple[exp.Expression, dict[str, float]]] = {}
    known: dict[str, dict[str, float]] = {}
    spent = 0.0

    def look(tree: exp.Expression) -> dict[str, float]:
        if id(tree) not in seen:
            found = look_up(tree)
            if found is None:
                return {}
            seen[id(tree)] = tree, found
        return seen[id(tree)][1]

    def look_up(tree: exp.Expression) -> dict[str, float] | None:
        nonlocal spent
        parsed = parsed_from_tree(tree, database.dialect)
        if parsed.text not in known:
            statement = check(parsed).statement
            if statement is None or spent > _BUDGET_MS:
                return None
            result = database.execute(statement, limits=_LIMITS)
            spent += result.execution_time_ms
            known[parsed.text] = observed(result.rows) if result.ok else {}
            if ran is not None and result.ok and not result.truncated:
                ran[statement.sql] = result
        return known[parsed.text]

    return look


def observed(rows: tuple[tuple[object, ...], ...]) -> dict[str, float]:
    """Observations on the first rows of a result."""
    cells = [cell for row in rows for cell in row]
    return {
        "result empty": float(not rows),
        "result null": float(bool(cells) and all(cell is None for cell in cells)),
        "result zero": float(len(cells) == 1 and cells[0] == 0),
        "result one row": float(len(rows) == 1),
        "result repeats": float(len({repr(row) for row in rows}) < len(rows)),
    }


def foreseen(tree: exp.Expression) -> dict[str, float]:
    """Observations that follow from the form alone, when there are no rows: one row for an aggregate over all rows, and
    for ORDER BY with LIMIT 1."""
    select = tree if isinstance(tree, exp.Select) else None
    if select is None:
        return {}
    whole = not select.args.get("group") and any(e.find(exp.AggFunc) for e in select.expressions)
    limit = select.args.get("limit")
    return {"result one row": float(whole or (limit is not None and limit.expression.name == "1"))}
