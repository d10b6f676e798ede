"""Look at the rows of a plan: run its statement under the guard and short limits, and keep only what they look like.

In: an open database and a function that writes plans as statements. Out: a `Look`; no row leaves this module. An empty
result, only NULLs or repeated rows make a reading less likely, and readings with equal rows are no rivals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import Limits
from eval.sql import check, parsed_from_tree
from experiments.grammar_parser.plan.algebra import Select
from experiments.grammar_parser.trust.view import Look, Seen

_LIMITS = Limits(seconds=0.2, rows=200, bytes=1024 * 1024, cell_bytes=4096)
"""A look must not delay the answer: a statement that takes longer shows nothing."""
_BUDGET_MS = 300.0
"""Total time in the engine after which no new statement is run."""

Writer = Callable[[Select], exp.Expression | None]


def looker(database: Database, written: Writer) -> Look:
    """A `Look` at one database for one question; no plan is run twice."""
    known: dict[Select, Seen | None] = {}
    spent = 0.0

    def look(plan: Select) -> Seen | None:
        nonlocal spent
        if plan in known:
            return known[plan]
        known[plan] = None
        tree = written(plan)
        verdict = check(parsed_from_tree(tree, database.dialect)) if tree is not None else None
        if verdict is None or verdict.statement is None or spent > _BUDGET_MS:
            return None
        result = database.execute(verdict.statement, limits=_LIMITS)
        spent += result.execution_time_ms
        if result.ok:
            digest = None if result.truncated else _digest(result.rows, bool(plan.order))
            known[plan] = Seen(observed(result.rows), digest)
        return known[plan]

    return look


def _digest(rows: Sequence[tuple[object, ...]], ordered: bool) -> int:
    texts = [repr(row) for row in rows]
    return hash(tuple(texts if ordered else sorted(texts)))


def observed(rows: Sequence[tuple[object, ...]]) -> dict[str, float]:
    """Observations on the first rows of a result."""
    cells = [cell for row in rows for cell in row]
    return {
        "result empty": float(not rows),
        "result null": float(bool(cells) and all(cell is None for cell in cells)),
        "result zero": float(len(cells) == 1 and cells[0] == 0),
        "result one row": float(len(rows) == 1),
        "result repeats": float(len({repr(row) for row in rows}) < len(rows)),
    }
