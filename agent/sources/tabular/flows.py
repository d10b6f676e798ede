"""Amounts of both signs, as bank statements and cash books have them.

In: a table that was written, and how its columns were read. Out: of each such column, the words for money in and out
that it may be asked for by (`agent.knowledge.semantics.flows`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.knowledge.semantics.flows import RECEIVED, SPENT
from agent.sources.tabular.columns import Decision
from agent.sources.tabular.sql import literal, name
from agent.sources.tabular.units import CURRENCIES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AMOUNT = re.compile(r"(?i)(?<![a-z])(amount|value|sum|transaction|betrag|montant|importe|importo|bedrag)(?![a-z])")
_NO_FLOW = re.compile(r"(?i)(?<![a-z])(balance|saldo|change|difference|diff|variance|profit|margin|return)(?![a-z])")
_OUT, _IN = 0.3, 0.03
"""Parts of the amounts that are negative and positive at the least; with fewer negative ones they are corrections."""


def flows(
    engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
) -> dict[str, str]:
    """The words by column, with commas between them."""
    both = {column for d, column in zip(decisions, names, strict=True) if column and _may(engine, table, d, column)}
    if len(both) != 1:
        return {}
    words = ", ".join(map(literal, (*SPENT, *RECEIVED)))
    texts = [c for d, c in zip(decisions, names, strict=True) if c and d.plan.kind == "text"]
    held = {
        str(word)
        for column in texts
        for [word] in engine.execute(
            f"SELECT DISTINCT lower({name(column)}) AS v FROM {name(table)} WHERE v IN ({words})"
        ).fetchall()
    }
    taken = held | {column.casefold() for column in names}
    free = [word for word in (*SPENT, *RECEIVED) if word not in taken]
    return dict.fromkeys(both, ",".join(free))


def _may(engine: DuckDBPyConnection, table: str, decision: Decision, column: str) -> bool:
    if decision.number is None or _NO_FLOW.search(column):
        return False
    if decision.plan.unit not in CURRENCIES and not _AMOUNT.search(column.replace("_", " ")):
        return False
    value = name(column)
    [(out, into, all_)] = engine.execute(
        f"SELECT count(*) FILTER ({value} < 0), count(*) FILTER ({value} > 0), count({value}) FROM {name(table)}"
    ).fetchall()
    return bool(all_) and out >= _OUT * all_ and into >= max(1, _IN * all_)
