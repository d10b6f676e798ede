"""Rows that are level with the last one of a cut list: `top 3`, where the fourth has as many as the third.

In: a query with ORDER BY and LIMIT, and its rows. Out: how many further rows have the same order keys as its last one,
found by one statement of at most two seconds.
"""

from __future__ import annotations

import logging
from itertools import takewhile

from sqlglot import exp

from agent.state import Choice, LeftOut
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Schema
from eval.sql import ParsedQuery, check, parsed_from_tree, render
from eval.sql.bounds import with_headroom
from eval.statement import ReadStatement

log = logging.getLogger(__name__)

MOST = 20
"""Further rows that are looked at."""
_PLAIN = ("from_", "where", "group", "having", "with_")


@with_headroom
def next_keys(parsed: ParsedQuery, schema: Schema, rows: int) -> ReadStatement | None:
    """The order keys of the last of the `rows` that a query gave, and of those behind it; None where no list is cut."""
    select = parsed.tree
    if not isinstance(select, exp.Select) or _limit(select) != rows or select.args.get("offset"):
        return None
    order = select.args.get("order")
    if order is None or select.args.get("distinct") or select.find(exp.Window) or _unique(select, schema):
        return None
    shown = {one.alias.casefold(): one.this for one in select.expressions if isinstance(one, exp.Alias)}
    keys, ordered = [], []
    for at, term in enumerate(order.expressions):
        key = term.this
        if isinstance(key, exp.Literal) and key.is_int and int(key.name) <= len(select.expressions):
            key = select.expressions[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = shown.get(key.name.casefold(), key)
        keys.append(exp.alias_(key.copy(), f"k{at}"))
        ordered.append(term.copy())
        ordered[-1].set("this", key.copy())
    kept = {part: select.args.get(part) for part in _PLAIN}
    behind = exp.Select(**{part: value.copy() for part, value in kept.items() if isinstance(value, exp.Expr)})
    behind.set("joins", [join.copy() for join in select.args.get("joins") or ()])
    behind = behind.select(*keys).order_by(*ordered).limit(MOST + 1).offset(rows - 1)
    return check(parsed_from_tree(behind, parsed.dialect), schema).statement


async def ties(parsed: ParsedQuery, schema: Schema, rows: int, database: Database, *, seconds: float) -> list[LeftOut]:
    """What is said of them; nothing where there are none, or where looking fails or takes too long."""
    statement = next_keys(parsed, schema, rows)
    if statement is None:
        return []
    result = await database.execute_async(statement, limits=Limits(seconds=seconds, rows=MOST + 1))
    if not result.ok or not result.rows:
        log.info("ties were not looked for: %s", result.error)
        return []
    last, *behind = result.rows
    level = len(list(takewhile(lambda keys: keys == last, behind)))
    if not level:
        return []
    many = f"{level} or more" if level == MOST else str(level)
    text = f"{many} further row{'s are' if level > 1 else ' is'} level with the last one shown"
    longer = Choice(label="Show them", sql=_longer(parsed, rows + level))
    return [LeftOut(kind="tie", count=level, text=text, others=[longer])]


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else limit.args.get("count") if limit else None
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None


def _unique(select: exp.Select, schema: Schema) -> bool:
    """Whether rows of one table are ordered by its key, so that none are level."""
    start = select.args.get("from_")
    table = schema.table(start.this.name) if start is not None and isinstance(start.this, exp.Table) else None
    if table is None or select.args.get("joins") or len(table.primary_key) != 1:
        return False
    (key,) = table.primary_key
    return any(term.this.name.casefold() == key.casefold() for term in select.args["order"].expressions)


def _longer(parsed: ParsedQuery, rows: int) -> str:
    assert isinstance(parsed.tree, exp.Select)
    return render(parsed.tree.copy().limit(rows), parsed.dialect)
