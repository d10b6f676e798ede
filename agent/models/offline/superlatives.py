"""Superlatives: `the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`.

In: a `Reader` at a superlative. Out: an order with a limit, or an extreme value to show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline.interpretation import (
    ColumnKey,
    Expression,
    Function,
)
from agent.models.offline.lexicon import adjectives
from agent.models.offline.measuring import holds_figures, measure, property_of
from agent.models.offline.sorting import order_terms

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader


def superlative(r: Reader, i: int) -> None:
    """`the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`."""
    item = r.items[i]
    keyword = item.keyword
    assert keyword is not None
    descending = keyword.argument != "asc"
    limit, explicit = r.query.limit or 1, False
    for near in (i - 1, i + 1):
        if (
            0 <= near < len(r.items)
            and r.sorts[near] == "number"
            and isinstance(r.items[near].number, int)
            and not r.tokens[r.items[near].start].text.startswith("-")
            and not (near == i - 1 and near > 0 and r.sorts[near - 1] in ("column", "table"))
        ):
            year_like = r.tokens[r.items[near].start].text.isdecimal() and int(r.items[near].number or 0) > 1500
            if not year_like:
                limit, explicit = max(1, int(r.items[near].number or 1)), True
                r.use(near)
                break
    offset = 0
    if i > 0 and r.items[i - 1].lower in ("second", "third", "fourth", "2nd", "3rd"):
        offset = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}[r.items[i - 1].lower]
        r.draft.used.update(range(r.items[i - 1].start, r.items[i - 1].end))
    if keyword.kind == "sup_adj":
        following = r.next_mention(i)
        if following is not None and r.sorts[following] == "column" and following <= i + 2:
            ranked = r.column_of(following, "number")
            if ranked.numeric and ranked.role in ("number", "year"):
                descending = keyword.argument.split()[-1] not in (
                    "smallest",
                    "shortest",
                    "cheapest",
                    "youngest",
                    "lightest",
                    "slowest",
                    "lowest",
                ) and not keyword.argument.startswith("least")
                if keyword.argument in ("earliest",):
                    descending = False
                _rank_by_column(r, i, following, descending, limit, offset, explicit)
                return
        assert keyword.adjective is not None
        if following == i + 1 and r.sorts[i + 1] == "table" and _figure_of(r, i + 1):
            alone = not r.entities
            r.use(i + 1)
            r.entity(r.table_of(i + 1))
            _rank_by_column(r, i, i + 2, keyword.argument not in _LOW, limit, offset, explicit, "", alone)
            return
        if r.sorts[following] == "table" if following is not None else False:
            r.entity(r.table_of(following))  # type: ignore[arg-type]
            if r.groups and not r.query.select:
                r.head_entity = r.head_entity or r.table_of(following)  # type: ignore[arg-type]
        found = property_of(r, keyword.adjective, i)
        if found is None:
            r.draft.doubt("adjective_without_column")
            return
        column, sign = found
        r.query.order.append((Expression(column=column.key), sign > 0))
        first = i > 0 and any(
            x.lower in ("starting with", "beginning with", "start with") for x in r.items[max(0, i - 2) : i]
        )
        if not first:  # `starting with the oldest` sorts, and shows all
            r.query.limit, r.query.offset = limit, offset
        return
    if keyword.kind == "selling":
        sold = measure(r, "best selling")
        if sold is None:
            r.draft.doubt("superlative_open")
            return
        r.query.order.append((Expression("sum", sold.column), descending))
        r.query.limit = r.query.limit or limit
        _take_rank_words(r, i)
        return
    if keyword.kind == "common":
        following = r.next_mention(i)
        if following is None:
            pass
        elif r.sorts[following] == "column":
            column = r.column_of(following)
            r.use(following)
            if not any(e.column == column.key for e in r.query.select):
                r.query.select.append(Expression(column=column.key))
        elif r.sorts[following] == "table":
            r.use(following)
            r.entity(r.table_of(following))
            r.head_entity = r.head_entity or r.table_of(following)
        part = following is not None and r.sorts[following] == "table" and r.sorts[following + 1 :][:1] == ["column"]
        r.query.order.append((Expression("count", table=None if part else _chosen(r)), descending))
        r.query.limit, r.query.offset = limit, offset
        return
    j = i + 1
    alone = not r.entities
    counting = keyword.kind == "sup_count"
    function: Function = ""
    while j < len(r.items):
        x = r.items[j]
        if x.is_keyword("count"):
            counting = True
            r.use(j)
        elif x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
            r.use(j)
        elif (
            j + 1 < len(r.items)
            and r.sorts[j] == "table"
            and r.sorts[j + 1] == "column"
            and r.holds(j + 1, r.table_of(j))
        ):
            r.use(j)
            r.entity(r.table_of(j))
        elif (
            x.is_keyword("distinct")
            or (
                r.sorts[j] == "word"
                and x.lower in ("of", "the", "amount", "different", "in", "by", "value", "overall", "paid", "recent")
            )
            or j in r.consumed
        ):
            pass
        else:
            break
        j += 1
    kind = r.sorts[j] if j < len(r.items) else ""
    if r.in_head and j + 1 < len(r.items) and r.items[j].is_keyword("and") and r.items[j + 1].is_keyword("sup", "agg"):
        r.functions.append("max" if descending else "min")
        return
    if _is_by(r, j) and kind == "keyword":
        kind = ""
    if kind == "table":
        table = r.table_of(j)
        if (item.lower in ("top", "best", "bottom", "worst") and not counting) or (
            explicit and not counting and item.lower not in ("most", "fewest", "least")
        ):
            r.use(j)
            r.entity(table)
            r.head_entity = r.head_entity or table
            _rank_later(r, j, descending, limit)
            return
        r.use(j)
        r.entity(table)
        averaged = next((c for c in r.vocabulary.by_table[table] if c.role == "number"), None) if function else None
        if averaged is not None:
            r.query.order.append((Expression(function, averaged.key), descending))
            r.query.limit, r.query.offset = limit, offset
            return
        adjective = adjectives().get(item.lower.removeprefix("the "))
        found = property_of(r, adjective[0], i) if adjective is not None and not counting else None
        if found is not None:
            r.query.order.append((Expression(column=found[0].key), found[1] > 0))
        else:
            r.query.order.append((Expression("count", table=table), descending))
        r.query.limit, r.query.offset = limit, offset
    elif kind == "column":
        if counting:
            column = r.column_of(j)
            r.use(j)
            expression = Expression("count", column=column.key, table=column.table)
            if column.role == "number" or holds_figures(r, column):
                expression = Expression(column=column.key)
            r.query.order.append((expression, descending))
            r.query.limit, r.query.offset = limit, offset
        elif item.lower in ("top", "bottom", "best", "worst") and r.in_head:
            column = r.column_of(j)
            r.use(j)
            r.query.select.append(Expression(column=column.key))
            _rank_later(r, j, descending, limit)
        else:
            _rank_by_column(r, i, j, descending, limit, offset, explicit, function, alone)
    elif kind == "measure":
        mention = r.items[j].mention
        assert mention is not None
        found_measure = measure(r, mention.measure)
        if found_measure is None:
            r.draft.doubt("superlative_open")
            return
        r.use(j)
        r.query.order.append(
            (Expression(function or "sum", found_measure.column, factor=found_measure.factor), descending)
        )
        r.query.limit, r.query.offset = limit, offset
    elif explicit:
        _rank_later(r, j - 1, descending, limit)
    elif r.verb_measure is not None:
        measured = r.verb_measure
        r.query.order.append((Expression("sum", measured.column, factor=measured.factor), descending))
        r.query.limit, r.query.offset = r.query.limit or limit, offset
    elif r.last_column is not None and i - r.last_column[0] <= 3 and r.last_column[1].role == "number":
        named = r.last_column[1].key
        r.query.select = [e for e in r.query.select if e.column != named]
        r.query.order.append((Expression(column=named), descending))
        r.query.limit, r.query.offset = r.query.limit or limit, offset
        r.draft.doubts.pop("column_unused", None)
    elif kind == "" or kind in ("sign", "word", "keyword"):
        r.query.order.append((Expression("count"), descending))
        r.query.limit, r.query.offset = limit, offset
        r.draft.doubt("superlative_open")


def _chosen(r: Reader) -> str | None:
    """The table whose rows tell how popular what is shown is (`the most popular genre` has the most tracks); None where
    what is shown occurs in several rows itself (`the most common city`)."""
    shown = r.query.select[-1].column if r.query.select else None
    table = shown[0] if shown else (r.head_entity or "")
    if not table or len(set(r.entities) | {table}) > 1 or not _names_rows(r, shown or r.shown(table)[0].key):
        return None
    below = list(dict.fromkeys(e.left for e in r.graph.edges(table) if e.right == table != e.left and not e.single))
    if len(below) != 1:
        r.draft.doubt("superlative_open")
        return None
    r.draft.doubt("popularity_guessed")
    r.entity(table)
    r.entity(below[0])
    return below[0]


def _names_rows(r: Reader, key: ColumnKey) -> bool:
    """Whether a column shows what its own table's rows are called, each in a row of its own."""
    rows, known = r.vocabulary.tables[key[0]].table.row_count, len(r.values.values(*key))
    named = key in {c.key for c in r.vocabulary.name_columns(key[0])}
    return named and rows is not None and 0 < known >= rows


_LOW = ("smallest", "lowest", "shortest", "cheapest", "earliest", "youngest")


def _figure_of(r: Reader, i: int) -> bool:
    """`the largest promotion discount`: a figure of the table at item i follows it."""
    if i + 1 >= len(r.items) or r.sorts[i + 1] != "column" or not r.holds(i + 1, r.table_of(i)):
        return False
    column = r.column_of(i + 1, "number")
    return column.numeric and column.role == "number"


def _take_rank_words(r: Reader, i: int) -> None:
    """`best-selling products by quantity` or `by revenue`: the words after `by` say what sold best means."""
    for k in range(i + 1, min(len(r.items), i + 4)):
        if r.items[k].is_keyword("group", "relative"):
            return
        if r.sorts[k] == "table":
            r.use(k)
            r.entity(r.table_of(k))
            r.head_entity = r.head_entity or r.table_of(k)
        if r.items[k].lower == "by":
            r.query.order.clear()
            r.ranked_by = True
            order_terms(r, k, "desc", rank=True)
            return


def _is_by(r: Reader, j: int) -> bool:
    """Whether the words at item j begin `by …` or an ordering."""
    return j < len(r.items) and (r.items[j].lower == "by" or r.items[j].is_keyword("order"))


def _rank_later(r: Reader, j: int, descending: bool, limit: int) -> None:
    """`top 5 products by revenue`: what to rank by comes after the entity."""
    r.query.limit = limit
    for k in range(j + 1, min(len(r.items), j + 9)):
        x = r.items[k]
        if x.is_keyword("sup", "sup_adj", "sup_count", "common"):
            r.query.limit = None
            superlative_with_limit(r, k, limit)
            return
        if x.lower in ("by", "according to", "based on", "terms of") or x.is_keyword("order"):
            r.ranked_by = True
            order_terms(r, k, "desc" if descending else "asc", rank=True)
            return
    ranked = [e for e in r.query.select if e.function]
    if r.query.order or (len(ranked) == 1 and j >= len(r.items) - 2):
        if not r.query.order:
            r.query.order.append((ranked[0], descending))
        return
    r.draft.doubt("rank_open")


def superlative_with_limit(r: Reader, k: int, limit: int) -> None:
    """A superlative whose number of rows was said before it (`the 3 cities with the highest population`)."""
    r.use(k)
    superlative(r, k)
    if r.query.limit is not None:
        r.query.limit = limit


def _rank_by_column(
    r: Reader,
    i: int,
    j: int,
    descending: bool,
    limit: int,
    offset: int,
    explicit: bool,
    function: Function = "",
    alone: bool = False,
) -> None:
    """`alone`: no table was named before the superlative (`the highest product price`)."""
    column = r.column_of(j, "number")
    before = [x for x in r.items[:i] if x.lower not in ("and", ",", "the", "of")]
    asked = all(
        x.lower
        in (
            "what",
            "is",
            "are",
            "show",
            "find",
            "give",
            "list",
            "me",
            "us",
            "return",
            "tell",
            "whats",
            "what's",
            "was",
            "were",
            "get",
            "display",
            "'s",
        )
        or x.is_keyword("sup", "agg", "relative")
        for x in before
    )
    heads = all(e.function in ("max", "min", "avg", "sum", "count") for e in r.query.select)
    r.use(j)
    if (
        r.in_head
        and not explicit
        and (not r.entities or (alone and column.numeric and not i + 2 < j))
        and heads
        and (asked or r.query.select)
        and not offset
        and not function
    ):
        for pending in (*r.functions, "max" if descending else "min"):
            r.query.select.append(Expression(pending, column.key))  # type: ignore[arg-type]
        r.functions = []
        r.last_column = (j, column)
        return
    numeric: Expression = Expression(function, column.key) if function else Expression(column=column.key)
    figures = column.numeric or holds_figures(r, column)
    if not figures and column.role not in ("date", "year") and not function:
        numeric = Expression("count", column=column.key, table=column.table)
        if r.items[i].lower not in ("most", "least", "fewest"):
            numeric = Expression(column=column.key)
    r.query.order.append((numeric, descending))
    r.query.limit, r.query.offset = limit, offset
    if r.in_head and not r.entities and not r.query.select:
        r.query.select.append(Expression(column=column.key))


def extreme_column(r: Reader, i: int, j: int, descending: bool) -> None:
    """`with the maximum price` after what to show: rank by the column."""
    _rank_by_column(r, i, j, descending, 1, 0, True)
