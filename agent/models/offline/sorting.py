"""Sort orders: `sorted by price descending`, `alphabetically`.

In: a `Reader` at an ordering phrase. Out: its query's order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline.conditions import condition_follows
from agent.models.offline.interpretation import (
    Expression,
    Function,
)
from agent.models.offline.lexicon import adjectives, word_set
from agent.models.offline.measuring import measure, property_of

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader
    from agent.models.offline.vocabulary import ColumnWord

_PLACED = word_set("rank ranking position place standing order")
"""Words of columns in which the least number is the best."""
_BETWEEN_TERMS = word_set("the of their its by each both in from first his amount a an")


def ordering(r: Reader, i: int) -> None:
    """`sorted by price descending`."""
    keyword = r.items[i].keyword
    assert keyword is not None
    if keyword.argument == "basis":
        if not basis(r, i):
            r.draft.used.difference_update(range(r.items[i].start, r.items[i].end))
    else:
        order_terms(r, i, keyword.argument)


def basis(r: Reader, i: int) -> bool:
    """`the 3 most recent orders based on order date`, `by delivery date`: the words at item i say what a rank that
    was named by an adjective goes by. Without one they say nothing here."""
    following = r.next_mention(i)
    ranked = r.query.order[0][0] if len(r.query.order) == 1 and r.query.limit is not None else None
    if ranked is None or ranked.function or ranked.column is None or following is None or following > i + 3:
        return False
    column = r.column_of(following) if r.sorts[following] == "column" else None
    if column is None or column.role not in ("number", "date", "year") or column.table != ranked.column[0]:
        return False
    r.use(following)
    r.query.order = [(Expression(column=column.key), r.query.order[0][1])]
    return True


def order_terms(r: Reader, i: int, argument: str, rank: bool = False) -> None:
    j = i + 1
    function: Function = ""
    counting = False
    found, said = False, ""
    was_head, r.in_head = r.in_head, False
    while j < len(r.items):
        x, sort = r.items[j], r.sorts[j]
        expression: Expression | None = None
        if x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
        elif x.is_keyword("count"):
            counting = True
        elif x.is_keyword("dir"):
            assert x.keyword is not None
            if found:
                direction(r, x.keyword.argument)
                argument = "*"
            else:
                said = x.keyword.argument
                argument = "desc" if said in ("desc", "alpha_desc") else "asc"
            r.use(j)
            j += 1
            continue
        elif sort == "column" and not clause_starts(r, j):
            column = r.column_of(j)
            expression = Expression(function, column.key) if function else Expression(column=column.key)
            if counting and not (column.numeric and column.role == "number" and not column.foreign):
                expression = Expression("count", column=column.key, table=column.table)
        elif sort == "table" and (counting or (rank and j == i + 1 and function == "" and not _its_column(r, j))):
            expression = Expression("count", table=r.table_of(j))
            r.entity(r.table_of(j))
        elif sort == "table":
            table = r.table_of(j)
            nxt = r.next_mention(j)
            if nxt == j + 1 and r.sorts[nxt] == "column" and r.holds(nxt, table):
                r.entity(table)
                r.use(j)
                j += 1
                continue
            if found:
                break
            if j + 1 < len(r.items) and r.items[j + 1].lower == "by":  # `sort the products by price`
                r.entity(table)
                r.use(j)
                r.use(j + 1)
                j += 2
                continue
            shown = r.shown(table)
            if shown:
                expression = Expression(column=shown[0].key)
        elif sort == "measure":
            mention = x.mention
            assert mention is not None
            known = measure(r, mention.measure)
            if known is not None:
                expression = Expression(function or "sum", known.column, factor=known.factor)
        elif (
            (sort == "word" and x.lower in _BETWEEN_TERMS) or x.is_keyword("and", "distinct", "also") or x.lower == ","
        ):
            j += 1
            continue
        else:
            break
        r.use(j)
        if expression is not None:
            if not any(known == expression for known, _ in r.query.order):
                down = argument == "desc" or (argument == "rank" and _more_is_better(r, expression))
                r.query.order.append((expression, down))
                r.figure_ranked = r.figure_ranked or (argument == "rank" and bool(expression.function))
            found, counting, function = True, False, ""
        j += 1
    total = _column_called_total(r) if not found and function == "sum" else None
    if total is not None:
        summed: Function = "sum" if r.many(total.table) else ""
        r.query.order.append((Expression(summed, total.key), argument in ("desc", "rank")))
        found = True
    if not found and said:
        direction(r, said)
        found = True
    if not found and r.items[i].lower != "listed" and not any(x.is_keyword("dir") for x in r.items):
        r.draft.doubt("order_open")  # `the reviewers listed` asks for no order
    if not found:
        r.in_head = was_head


def _column_called_total(r: Reader) -> ColumnWord | None:
    """`customers by total`: the word is the name of a column of theirs, or of the rows that refer to them."""
    entity = r.main_entity
    below = [e.left for e in r.graph.edges(entity) if e.right == entity] if entity else []
    for table in dict.fromkeys((*r.entities, *below)):
        found = [c for c in r.vocabulary.by_table[table] if c.words == ("total",) and c.role == "number"]
        if found:
            return found[0]
    return None


def _more_is_better(r: Reader, expression: Expression) -> bool:
    """`ranked by sales`: figures rank from the highest down, names and places from the first up."""
    column = r.vocabulary.columns.get(expression.column) if expression.column else None
    if column is None or expression.function:
        return bool(expression.function)
    return column.role == "number" and not _PLACED & set(column.words)


def _its_column(r: Reader, j: int) -> bool:
    """`by payment amount`: a column of the table at item j follows it."""
    return j + 1 < len(r.items) and r.sorts[j + 1] == "column" and r.holds(j + 1, r.table_of(j))


def clause_starts(r: Reader, j: int) -> bool:
    """Whether the column at item j begins a condition rather than another sort term."""
    return condition_follows(r, j) and any(x.is_keyword("relative", "cmp") for x in r.items[max(0, j - 1) : j])


def direction(r: Reader, argument: str) -> None:
    """`descending`, `alphabetically`: the direction of the sort order named, or of the first thing shown."""
    if not r.query.select and not r.query.order:
        r.waiting_direction = argument
        return
    descending = argument in ("desc", "alpha_desc")
    if argument in ("young", "old"):
        found = property_of(r, adjectives()["old"][0], min(r.at, len(r.items) - 1))
        if found is not None:
            column, sign = found
            wanted = (sign > 0) == (argument == "old")
            r.query.order = [(Expression(column=column.key), wanted)]
        return
    if r.query.order and r.query.limit is None:
        if argument in ("asc", "desc", "alpha_desc"):
            expression, _ = r.query.order[-1]
            r.query.order[-1] = (expression, descending)
        return
    plain = [e for e in r.query.select if not e.function or argument in ("asc", "desc")]
    if plain:
        best = next((e for e in plain if e.column and r.vocabulary.columns[e.column].role == "name"), plain[0])
        r.query.order.append((best, descending))
    else:
        for table in r.entities[:1]:
            shown = r.shown(table)
            if shown:
                r.query.order.append((Expression(column=shown[0].key), descending))
