"""Signal phrases: what `how many`, `average`, `more than`, `for each`, `without` and their like make of the query.

In: a `Reader` at a signal phrase. Out: its state: what is counted, added up, grouped, denied, or how rows are ordered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline import comparisons, sorting, stored, superlatives
from agent.models.offline.conditions import stock
from agent.models.offline.interpretation import Expression
from agent.models.offline.timing import period
from agent.models.offline.vocabulary import ColumnWord

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader


def signal(r: Reader, i: int) -> None:
    """Take the signal phrase at item i."""
    item = r.items[i]
    keyword = item.keyword
    assert keyword is not None
    kind, argument = keyword.kind, keyword.argument
    r.use(i)
    if kind == "period":
        if not period(r, i):
            r.draft.doubt("period_open")
        return
    if kind == "stock":
        stock(r, argument == "out")
        return
    if kind == "count":
        following = r.next_mention(i)
        if r.functions and following is not None and r.sorts[following] == "column":
            column = r.column_of(following, "number")
            if column.numeric and column.role == "number":
                return
        if "total number" in item.lower and following is not None and r.sorts[following] == "column":
            column = r.column_of(following, "number")
            if column.numeric and column.role == "number" and following <= i + 2:
                r.functions.append("sum")
                return
        r.counting = "distinct" if argument == "distinct" else "rows"
        if any(c.is_keyword("group") for c in r.items[max(0, i - 1) : i]) or not r.in_head:
            r.in_head = True
    elif kind == "agg":
        following = r.next_mention(i)
        extreme = argument in ("max", "min") and not r.in_head and (r.query.select or r.entities)
        if extreme and following is not None and r.sorts[following] == "column":
            superlatives.extreme_column(r, i, following, argument == "max")
            return
        held = _held_total(r, i) if item.lower == "total" else None
        if held is not None:
            r.last_column = (i, held)
            return
        r.functions.append(argument)  # type: ignore[arg-type]
    elif kind in ("sup", "sup_adj", "sup_count", "common", "selling"):
        superlatives.superlative(r, i)
    elif kind in ("cmp", "cmp_adj"):
        comparisons.comparison(r, i)
    elif kind == "like":
        stored.pattern(r, i)
    elif kind == "order":
        sorting.ordering(r, i)
    elif kind == "dir":
        sorting.direction(r, argument)
    elif kind == "group":
        r.grouping = True
    elif kind == "distinct":
        r.distinct = True
    elif kind == "neg":
        r.negated = True
        r.in_head = r.in_head and not (r.query.select or r.entities)
    elif kind == "except":
        r.negated = r.excepting = True
        r.in_head = False
    elif kind == "both":
        r.both = True
    elif kind == "either":
        r.either = True
    elif kind == "or":
        r.or_next = not r.in_head or r.last_clause is not None
    elif kind == "percent":
        following = r.next_mention(i)
        if following is not None and r.sorts[following] == "table":
            r.share = True
            r.counting = r.counting or "rows"
    elif kind == "also":
        if (
            item.lower
            in (
                "along with",
                "together with",
                "and their",
                "and its",
                "with their",
                "along with their",
                "as well as",
                "as well as the",
                "as well as their",
                "and what is",
                "and what are",
                "and show",
                "and list",
                "and give",
                "and how many",
            )
            or "corresponding" in item.lower
        ):
            if not r.query.select and r.head_entity is not None and not r.functions and not r.counting:
                r.query.select.extend(Expression(column=c.key) for c in r.shown(r.head_entity))
            r.in_head = True
            if "how many" in item.lower:
                r.counting = "rows"
    elif kind == "relative" and (r.query.select or r.entities):
        if item.lower in ("is", "are", "was", "were") and r.in_head and not r.entities:
            return
        r.in_head = False
        if item.lower not in ("is", "are", "was", "were", "named", "called", "but", "if"):
            r.last_column = None


def _held_total(r: Reader, i: int) -> ColumnWord | None:
    """`orders with a total above 100`: a column of the table just named holds it, nothing is added up."""
    compared = i + 1 < len(r.items) and r.items[i + 1].is_keyword("cmp")
    last = next((r.table_of(k) for k in range(i - 1, max(-1, i - 4), -1) if r.sorts[k] == "table"), None)
    if not compared or last is None:
        return None
    found = [c for c in r.vocabulary.by_table[last] if "total" in c.words and c.role == "number"]
    return found[0] if len(found) == 1 else None
