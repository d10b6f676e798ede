"""Superlatives: `the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`.

In: a reading at a superlative. Out: an order with a limit, or an extreme value to show.
"""

from __future__ import annotations

from dataclasses import replace

from agent.parser import ranks
from agent.parser.assembly import join
from agent.parser.interpretation import ColumnKey, Expression, Function
from agent.parser.measures import measure, property_of
from agent.parser.order_by import order_terms
from agent.parser.phrases import Keyword
from agent.parser.question import LinkedQuestion
from agent.parser.ranks import Rank
from agent.parser.state import Context, Finding, ReadingState
from eval.language.lexicon import adjectives, word_set

_PLACES = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}
"""Rows before the requested one."""
_SHRINKING = ("smallest", "shortest", "cheapest", "youngest", "lightest", "slowest", "lowest")
_ENDS = ("top", "best", "bottom", "worst")
_BEFORE_RANKED = word_set("of the amount different in by value overall paid recent")


def superlative(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """`the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`."""
    keyword = q.items[i].keyword
    assert keyword is not None
    if (each := _of_each(q, r, i, keyword)) is not None:
        join(q, r, each)
        return
    rank = _rank(q, r, i, keyword.argument != "asc")
    if keyword.kind == "sup_adj":
        _by_adjective(q, r, i, keyword, rank)
    elif keyword.kind == "selling":
        _best_selling(q, r, i, rank)
    elif keyword.kind == "common":
        _most_common(q, r, i, rank)
    else:
        _by_what_follows(q, r, i, keyword.kind == "sup_count", rank)


_THEIRS = ("and their", "with their", "and its", "with its", "and his", "along with their", "together with their")


def _of_each(q: LinkedQuestion, c: Context, i: int, keyword: Keyword) -> Finding | None:
    """`customers and their latest order date`: the extreme value of each customer is listed beside its name."""
    at = next((j for j in (i + 1, i + 2) if q.sorts[j : j + 1] == ("column",)), None)
    if c.head_entity is None or q.items[i - 1].lower not in _THEIRS or at is None:
        return None
    column, named = c.column_of(at), [Expression(column=n.key) for n in q.naming_columns(c.head_entity)]
    if column.role not in ("date", "year", "number") or column.table == c.head_entity:
        return None
    if c.query.select not in ([], named):
        return None
    low = keyword.argument == "asc" or keyword.argument.split()[-1] in (*_LOW, "first", "oldest")
    extreme = Expression("min" if low else "max", column.key)
    return Finding(range(i, at + 1), shown=(*(() if c.query.select else named), extreme))


def _rank(q: LinkedQuestion, r: ReadingState, i: int, descending: bool) -> Rank:
    """The number of rows given next to the superlative, and the rank (`the second oldest`)."""
    offset = 0
    limit, explicit = r.query.limit or 1, False
    for near in (i - 1, i + 1):
        number = _row_count_at(q, i, near)
        if number is not None:
            limit, explicit = max(1, number or 1), True
            r.use(near)
            break
    if i > 0 and q.items[i - 1].lower in _PLACES:
        offset = _PLACES[q.items[i - 1].lower]
        r.draft.used.update(range(q.items[i - 1].start, q.items[i - 1].end))
    return Rank(descending, limit, explicit, offset)


def _row_count_at(q: LinkedQuestion, i: int, near: int) -> int | None:
    """The number at item `near`, if it is the number of rows wanted rather than a year or a column's value."""
    if not 0 <= near < len(q.items) or q.sorts[near] != "number":
        return None
    number, text = q.items[near].number, q.tokens[q.items[near].start].text
    if not isinstance(number, int) or text.startswith("-") or (text.isdecimal() and number > 1500):
        return None
    valued = near == i - 1 and near > 0 and q.sorts[near - 1] in ("column", "table")
    return None if valued else number


def _by_adjective(q: LinkedQuestion, r: ReadingState, i: int, keyword: Keyword, rank: Rank) -> None:
    """`the oldest student`, `the largest promotion discount`."""
    following = q.next_mention(i)
    if following is not None and q.sorts[following] == "column" and following <= i + 2:
        ranked = r.column_of(following, "number")
        if ranked.numeric and ranked.role in ("number", "year"):
            words = keyword.argument
            down = words.split()[-1] not in _SHRINKING and not words.startswith("least") and words != "earliest"
            join(q, r, ranks.by_column(q, r, i, following, replace(rank, descending=down)))
            return
    assert keyword.adjective is not None
    if following == i + 1 and q.sorts[i + 1] == "table" and _figure_of(q, r, i + 1):
        alone = not r.entities
        join(q, r, Finding((i + 1,), (q.table_of(i + 1),)))
        join(q, r, ranks.by_column(q, r, i, i + 2, replace(rank, descending=keyword.argument not in _LOW), "", alone))
        return
    if following is not None and q.sorts[following] == "table":
        r.entity(q.table_of(following))
        if r.groups and not r.query.select:
            r.head_entity = r.head_entity or q.table_of(following)
    property_column = property_of(q, r, keyword.adjective, i)
    if property_column is None:
        r.draft.doubt("adjective_without_column")
        return
    column, sign = property_column
    if _one_of_two_ends(q, i) and any(e.column == column.key for e in r.query.select):
        r.query.select = [e for e in r.query.select if e != Expression(column=column.key)]
        r.query.select.append(Expression("max" if sign > 0 else "min", column.key))
        return
    r.query.order.append((Expression(column=column.key), sign > 0))
    if not any(x.lower in ("starting with", "beginning with", "start with") for x in q.items[max(0, i - 2) : i]):
        rank.cut(r.query)  # `starting with the oldest` sorts and shows all rows


def _one_of_two_ends(q: LinkedQuestion, i: int) -> bool:
    """`the ages of the oldest and youngest students`."""
    pairs = ((x, y) for x, y in ((i + 1, i + 2), (i + 1, i + 3), (i - 1, i - 2), (i - 2, i - 3)) if min(x, y) >= 0)
    return any(y < len(q.items) and q.items[x].is_keyword("and") and q.items[y].is_keyword("sup_adj") for x, y in pairs)


def _best_selling(q: LinkedQuestion, r: ReadingState, i: int, rank: Rank) -> None:
    sold = measure(q, r.entities, "best selling")
    if sold is None:
        r.draft.doubt("superlative_open")
        return
    r.query.order.append((Expression("sum", sold.column), rank.descending))
    r.query.limit = r.query.limit or rank.limit
    _take_rank_words(q, r, i)


def _most_common(q: LinkedQuestion, r: ReadingState, i: int, rank: Rank) -> None:
    """`the most common city`: the value that occurs in most rows."""
    following = q.next_mention(i)
    named = q.sorts[following] if following is not None else ""
    part = False
    if following is not None and named == "column":
        column = r.column_of(following)
        shown = any(e.column == column.key for e in r.query.select)
        join(q, r, Finding((following,), shown=() if shown else (Expression(column=column.key),)))
    elif following is not None and named == "table":
        table = q.table_of(following)
        join(q, r, Finding((following,), (table,), changes={"head_entity": r.head_entity or table}))
        part = q.sorts[following + 1 :][:1] == ("column",)
    chosen, finding = (None, Finding()) if part else _chosen(q, r)
    join(q, r, finding)
    join(q, r, ranks.ranked(Expression("count", table=chosen), rank))


def _by_what_follows(q: LinkedQuestion, r: ReadingState, i: int, counting: bool, rank: Rank) -> None:
    """`the most orders`, `top 5 products by revenue`, `the highest price`: the words that follow give the ranking."""
    alone = not r.entities
    j, counting, function, before = _ranked_thing(q, r, i, counting)
    join(q, r, before)
    kind = q.sorts[j] if j < len(q.items) else ""
    if r.in_head and j + 1 < len(q.items) and q.items[j].is_keyword("and") and q.items[j + 1].is_keyword("sup", "agg"):
        join(q, r, Finding(changes={"functions": [*r.functions, "max" if rank.descending else "min"]}))
        return
    if _is_by(q, j) and kind == "keyword":
        kind = ""
    if kind == "table":
        _rank_table(q, r, i, j, rank, counting, function)
    elif kind == "column" and counting:
        join(q, r, ranks.by_counted_column(q, r, j, rank))
    elif kind == "column" and q.items[i].lower in _ENDS and r.in_head:
        join(q, r, Finding((j,), shown=(Expression(column=r.column_of(j).key),)))
        _rank_later(q, r, j, rank)
    elif kind == "column":
        join(q, r, ranks.by_column(q, r, i, j, rank, function, alone))
    elif kind == "measure":
        join(q, r, ranks.by_measure(q, r, j, rank, function))
    elif rank.explicit:
        _rank_later(q, r, j - 1, rank)
    else:
        ranks.by_context(r.query, r.last_column, r.verb_measure, r.draft, i, rank, kind)


def _ranked_thing(q: LinkedQuestion, c: Context, i: int, counting: bool) -> tuple[int, bool, Function, Finding]:
    """The item that is ranked, whether it is counted, its aggregate, and the words before it."""
    function: Function = ""
    used: list[int] = []
    owners: list[str] = []
    j = i + 1
    while j < len(q.items):
        x = q.items[j]
        owner = q.sorts[j] == "table" and q.sorts[j + 1 : j + 2] == ("column",) and q.holds(j + 1, q.table_of(j))
        if x.is_keyword("count"):
            counting = True
            used.append(j)
        elif x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
            used.append(j)
        elif owner:
            used.append(j)
            owners.append(q.table_of(j))
        elif not (x.is_keyword("distinct") or (q.sorts[j] == "word" and x.lower in _BEFORE_RANKED) or j in c.consumed):
            break
        j += 1
    return j, counting, function, Finding(used, tuple(owners))


def _rank_table(
    q: LinkedQuestion, r: ReadingState, i: int, j: int, rank: Rank, counting: bool, function: Function
) -> None:
    """`the most orders` ranks by their number, `top 5 products` by a measure that follows later."""
    phrase, table = q.items[i].lower, q.table_of(j)
    join(q, r, Finding((j,), (table,)))
    if not counting and (phrase in _ENDS or (rank.explicit and phrase not in ("most", "fewest", "least"))):
        r.head_entity = r.head_entity or table
        _rank_later(q, r, j, rank)
        return
    averaged = next((c for c in q.vocabulary.by_table[table] if c.role == "number"), None) if function else None
    adjective = adjectives().get(phrase.removeprefix("the ")) if averaged is None and not counting else None
    property_column = property_of(q, r, adjective[0], i) if adjective is not None else None
    if averaged is not None:
        join(q, r, ranks.ranked(Expression(function, averaged.key), rank))
    elif property_column is not None:
        column, sign = property_column
        join(q, r, ranks.ranked(Expression(column=column.key), replace(rank, descending=sign > 0)))
    else:
        join(q, r, ranks.ranked(Expression("count", table=table), rank))


def _chosen(q: LinkedQuestion, c: Context) -> tuple[str | None, Finding]:
    """The table whose row count measures the popularity of what is shown (`the most popular genre` has the most
    tracks), and that it is named. None when what is shown occurs in several rows itself (`the most common city`)."""
    shown = c.query.select[-1].column if c.query.select else None
    table = shown[0] if shown else (c.head_entity or "")
    if not table or len({*c.entities, table}) > 1 or not _names_rows(q, shown or q.naming_columns(table)[0].key):
        return None, Finding()
    below = list(dict.fromkeys(e.left for e in q.graph.edges(table) if e.right == table != e.left and not e.single))
    if len(below) != 1:
        return None, Finding(doubts=("superlative_open",))
    return below[0], Finding(entities=(table, below[0]), doubts=("popularity_guessed",))


def _names_rows(q: LinkedQuestion, key: ColumnKey) -> bool:
    """Whether a column holds the names of its own table's rows, with a different name in each row."""
    rows, known = q.vocabulary.tables[key[0]].table.row_count, len(q.values.values(*key))
    named = key in {c.key for c in q.vocabulary.name_columns(key[0])}
    return named and rows is not None and 0 < known >= rows


_LOW = ("smallest", "lowest", "shortest", "cheapest", "earliest", "youngest")


def _figure_of(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`the largest promotion discount`: a figure of the table at item i follows it."""
    if i + 1 >= len(q.items) or q.sorts[i + 1] != "column" or not q.holds(i + 1, q.table_of(i)):
        return False
    column = c.column_of(i + 1, "number")
    return column.numeric and column.role == "number"


def _take_rank_words(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """`best-selling products by quantity` or `by revenue`: the words after `by` define what best-selling means."""
    for k in range(i + 1, min(len(q.items), i + 4)):
        if q.items[k].is_keyword("group", "relative"):
            return
        if q.sorts[k] == "table":
            r.use(k)
            r.entity(q.table_of(k))
            r.head_entity = r.head_entity or q.table_of(k)
        if q.items[k].lower == "by":
            r.query.order.clear()
            r.ranked_by = True
            order_terms(q, r, k, "desc", rank=True)
            return


def _is_by(q: LinkedQuestion, j: int) -> bool:
    """Whether the words at item j start with `by …` or an ordering."""
    return j < len(q.items) and (q.items[j].lower == "by" or q.items[j].is_keyword("order"))


def _rank_later(q: LinkedQuestion, r: ReadingState, j: int, rank: Rank) -> None:
    """`top 5 products by revenue`: the ranking measure follows the entity."""
    r.query.limit = rank.limit
    for k in range(j + 1, min(len(q.items), j + 9)):
        x = q.items[k]
        if x.is_keyword("sup", "sup_adj", "sup_count", "common"):
            r.query.limit = None
            superlative_with_limit(q, r, k, rank.limit)
            return
        if x.lower in ("by", "according to", "based on", "terms of") or x.is_keyword("order"):
            r.ranked_by = True
            order_terms(q, r, k, "desc" if rank.descending else "asc", rank=True)
            return
    ranked = [e for e in r.query.select if e.function]
    if r.query.order or (len(ranked) == 1 and j >= len(q.items) - 2):
        if not r.query.order:
            r.query.order.append((ranked[0], rank.descending))
        return
    r.draft.doubt("rank_open")


def superlative_with_limit(q: LinkedQuestion, r: ReadingState, k: int, limit: int) -> None:
    """A superlative whose number of rows came before it (`the 3 cities with the highest population`)."""
    r.use(k)
    superlative(q, r, k)
    if r.query.limit is not None:
        r.query.limit = limit
