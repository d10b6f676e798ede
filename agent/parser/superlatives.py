"""Superlatives: `the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`.

In: a reading at a superlative. Out: an order with a limit, or an extreme value to show.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Expression, Function
from agent.parser.measures import HIGHEST, LOWEST, measure, property_of
from agent.parser.order_by import Rank, by_column, order_terms, rows_ranked
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, Findings
from agent.parser.word_lists import Keyword
from eval.language.lexicon import adjectives, word_set

_PLACES = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}
"""Rows before the requested one."""
_SHRINKING = ("smallest", "shortest", "cheapest", "youngest", "lightest", "slowest", "lowest")
_ENDS = ("top", "best", "bottom", "worst")
_BEFORE_RANKED = word_set("of the amount different in by value overall paid recent")


def superlative(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """`the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`."""
    keyword = q.keyword(i)
    if (each := _of_each(q, c, i, keyword)) is not None:
        yield each
        return
    rank, used = _rank(q, c, i, keyword.argument != "asc")
    yield Finding(used)
    if keyword.kind == "sup_adj":
        yield from _by_adjective(q, c, i, keyword, rank)
    elif keyword.kind == "selling":
        sold = measure(q, c.entities, "unit sell")
        if sold is None:
            yield Finding(doubts=("superlative_open",))
            return
        yield Finding(order=((Expression("sum", sold.column), rank.descending),), limit=c.query.limit or rank.limit)
        yield from _rank_words(q, c, i)
    elif keyword.kind == "common":
        yield from _most_common(q, c, i, rank)
    else:
        yield from _by_what_follows(q, c, i, keyword.kind == "sup_count", rank)


_LATE = frozenset(("latest", "newest", "most recent"))
_EARLY = frozenset(("earliest", "oldest"))
_THEIRS = ("and their", "with their", "and its", "with its", "and his", "along with their", "together with their")


def _of_each(q: LinkedQuestion, c: Context, i: int, keyword: Keyword) -> Finding | None:
    """`customers and their latest order date`: the extreme value of each customer is listed beside its name."""
    at = next((j for j in (i + 1, i + 2) if q.sort(j) == "column"), None)
    if c.head_entity is None or q.items[i - 1].lower not in _THEIRS or at is None:
        return None
    column, named = c.column_of(at), list(q.named_by(c.head_entity))
    if column.role not in ("date", "year", "number") or column.table == c.head_entity:
        return None
    if c.query.select not in ([], named):
        return None
    low = keyword.argument == "asc" or keyword.argument.split()[-1] in (*_LOW, "first", "oldest")
    extreme = Expression("min" if low else "max", column.key)
    return Finding(range(i, at + 1), shown=(*(() if c.query.select else named), extreme))


def _rank(q: LinkedQuestion, c: Context, i: int, descending: bool) -> tuple[Rank, list[int]]:
    """The number of rows given next to the superlative, and the rank (`the second oldest`); with the items that say
    so."""
    used: list[int] = []
    limit, explicit = c.query.limit or 1, False
    for near in (i - 1, i + 1):
        if q.sort(near) != "number":
            continue
        number, text = q.items[near].number, q.tokens[q.items[near].start].text
        if not isinstance(number, int) or text.startswith("-") or (text.isdecimal() and number > 1500):
            continue  # a year
        if near == i - 1 and q.sort(near - 1) in ("column", "table"):
            continue  # a column's value
        limit, explicit = max(1, number), True
        used.append(near)
        break
    offset = _PLACES.get(q.items[i - 1].lower, 0) if i > 0 else 0
    return Rank(descending, limit, explicit, offset), [*used, *([i - 1] if offset else [])]


def _by_adjective(q: LinkedQuestion, c: Context, i: int, keyword: Keyword, rank: Rank) -> Findings:
    """`the oldest student`, `the largest promotion discount`."""
    following = q.next_mention(i)
    if following is not None and q.sorts[following] == "column" and following <= i + 2:
        ranked = c.column_of(following, "number")
        # `the coldest temperature`: of a highest and a lowest figure, the one for that end
        bare, end = set(ranked.words) - HIGHEST - LOWEST, HIGHEST if _falls(keyword, ranked) else LOWEST
        alike = [x for x, _ in q.mention(following).columns if set(x.words) - HIGHEST - LOWEST == bare]
        ranked = next((x for x in alike if x.table == ranked.table and end & set(x.words)), ranked)
        if ranked.role == "date" and following == i + 1 and keyword.argument in _LATE | _EARLY:
            yield by_column(q, c, i, following, replace(rank, descending=keyword.argument in _LATE))
            return
        if ranked.numeric and ranked.role in ("number", "year"):
            yield by_column(q, c, i, following, replace(rank, descending=_falls(keyword, ranked)), column=ranked)
            return
    assert keyword.adjective is not None
    # `the largest promotion discount`: a figure of the table behind it follows
    owned = following == i + 1 and q.sorts[i + 1] == "table" and q.sort(i + 2) == "column"
    if owned and q.holds(i + 2, q.table_of(i + 1)) and c.column_of(i + 2, "number").is_figure:
        alone = not c.entities
        yield Finding((i + 1,), (q.table_of(i + 1),))
        yield by_column(q, c, i, i + 2, replace(rank, descending=keyword.argument not in _LOW), "", alone)
        return
    if following is not None and q.sorts[following] == "table":
        table, head = q.table_of(following), c.head_entity
        listed = bool(c.groups) and not c.query.select
        yield Finding(entities=(table,), changes={"head_entity": head or table if listed else head})
    property_column = property_of(q, c, keyword.adjective, i)
    if keyword.adjective.base == "busy" and following is not None and q.sorts[following] == "table":
        events = q.graph.referring(q.table_of(following), many=True)
        own = property_column is not None and property_column[0].table == q.table_of(following)
        if len(events) == 1 and not own:
            busy = keyword.argument not in ("least busy",)
            yield replace(
                rows_ranked(Expression("count", table=events[0]), replace(rank, descending=busy)),
                entities=(events[0],),
            )
            return
    if property_column is None:
        yield Finding(doubts=("adjective_without_column",))
        return
    column, sign = property_column
    unit = q.word(i + 1)
    if unit in ("month", "year", "quarter", "weekday") and c.in_head and not c.query.select:
        dated = [x for x in q.vocabulary.by_table[column.table] if x.role == "date"]
        if len(dated) == 1:
            part = Expression(column=dated[0].key, part=unit)
            by = Expression("avg", column.key)
            yield replace(rows_ranked(by, replace(rank, descending=sign > 0), i + 1), shown=(part,))
            return
    # `the ages of the oldest and youngest students`
    pairs = ((i + 1, i + 2), (i + 1, i + 3), (i - 1, i - 2), (i - 2, i - 3))
    two_ends = any(q.is_keyword(x, "and") and q.is_keyword(y, "sup_adj") for x, y in pairs)
    if two_ends and any(e.column == column.key for e in c.query.select):
        extreme = Expression("max" if sign > 0 else "min", column.key)
        yield Finding(hidden=(Expression(column=column.key),), shown=(extreme,))
        return
    found = rows_ranked(Expression(column=column.key), replace(rank, descending=sign > 0))
    if any(x.lower in ("starting with", "beginning with", "start with") for x in q.items[max(0, i - 2) : i]):
        found = replace(found, limit=None, offset=None)  # `starting with the oldest` sorts and shows all rows
    yield found


def _falls(keyword: Keyword, column: ColumnWord) -> bool:
    """Whether the highest value of the column is meant: the adjective says in which direction it grows with it."""
    assert keyword.adjective is not None
    known = [sign for words, sign in keyword.adjective.properties if set(words) & set(column.words)]
    if known:
        return known[0] > 0
    words = keyword.argument
    return words.split()[-1] not in _SHRINKING and not words.startswith("least") and words != "earliest"


def _most_common(q: LinkedQuestion, c: Context, i: int, rank: Rank) -> Findings:
    """`the most common city`: the value that occurs in most rows."""
    following = q.next_mention(i)
    named = q.sorts[following] if following is not None else ""
    part = False
    # `the most popular song`, where songs have a popularity
    about = q.table_of(following) if following is not None and named == "table" else c.main_entity
    holders = (about, *q.named, *q.graph.referring(about)) if about else tuple(q.vocabulary.by_table)
    columns = (x for t in holders for x in q.vocabulary.by_table.get(t, ()) if x.words == ("popularity",) and x.numeric)
    popular = next(columns, None) if "popular" in q.word(i) else None
    if popular is not None:
        yield rows_ranked(Expression(column=popular.key), rank)
        return
    if following is not None and named == "column":
        column = c.column_of(following)
        shown = any(e.column == column.key for e in c.query.select)
        yield Finding((following,), shown=() if shown else (Expression(column=column.key),))
    elif following is not None and named == "table":
        table = q.table_of(following)
        yield Finding((following,), (table,), changes={"head_entity": c.head_entity or table})
        if _is_by(q, following + 1) and q.sort(following + 2) == "column" and c.column_of(following + 2).is_figure:
            yield from _rank_later(q, c, following, rank)  # `the most used part by quantity`
            return
        part = q.sort(following + 1) == "column"
    chosen, finding = (None, Finding()) if part else _chosen(q, c)
    yield finding
    yield rows_ranked(Expression("count", table=chosen), rank)


_OFTEN = frozenset(("most", "the most", "least", "the least"))
"""Words for how often something happened, where the word behind them names the day."""


def _by_what_follows(q: LinkedQuestion, c: Context, i: int, counting: bool, rank: Rank) -> Findings:
    """`the most orders`, `top 5 products by revenue`, `the highest price`: the words that follow give the ranking."""
    alone = not c.entities
    j, counting, function, before = _ranked_thing(q, c, i, counting)
    yield before
    kind = q.sort(j)
    if c.in_head and j + 1 < len(q.items) and q.items[j].is_keyword("and") and q.items[j + 1].is_keyword("sup", "agg"):
        yield Finding(changes={"functions": [*c.functions, "max" if rank.descending else "min"]})
        return
    if _is_by(q, j) and kind == "keyword":
        kind = ""
    if kind == "table":
        yield from _rank_table(q, c, i, j, rank, counting, function)
    elif kind == "column" and q.items[i].lower in _OFTEN and c.column_of(j).role == "date":
        yield Finding((j,))  # `the most lent title`: what happened on the day, and no greatest day
        yield from _most_common(q, c, j, rank)
    elif kind == "column" and counting:
        yield _by_counted_column(c, j, rank)
    elif kind == "column" and q.items[i].lower in _ENDS and c.in_head:
        yield Finding((j,), shown=(Expression(column=c.column_of(j).key),))
        yield from _rank_later(q, c, j, rank)
    elif kind == "column":
        yield by_column(q, c, i, j, rank, function, alone)
    elif kind == "measure":
        yield _by_measure(q, c, j, rank, function)
    elif rank.explicit:
        yield from _rank_later(q, c, j - 1, rank)
    else:
        yield _by_context(c, i, rank, kind)


def _by_counted_column(c: Context, j: int, rank: Rank) -> Finding:
    column = c.column_of(j)
    if column.role == "number":
        return rows_ranked(Expression(column=column.key), rank, j)
    return rows_ranked(Expression("count", column=column.key, table=column.table), rank, j)


def _by_measure(q: LinkedQuestion, c: Context, j: int, rank: Rank, function: Function) -> Finding:
    mention = q.mention(j)
    amount = measure(q, c.entities, mention.measure)
    if amount is None:
        return Finding(doubts=("superlative_open",))
    return rows_ranked(Expression(function or "sum", amount.column, factor=amount.factor), rank, j)


def _by_context(c: Context, i: int, rank: Rank, kind: str) -> Finding:
    """No ranking follows the superlative: rank by the verb's amount, the column just named, or a count."""
    limit = c.query.limit or rank.limit
    if c.verb_measure is not None:
        amount = Expression("sum", c.verb_measure.column, factor=c.verb_measure.factor)
        return replace(rows_ranked(amount, rank), limit=limit)
    if c.last_column is not None and i - c.last_column[0] <= 3 and c.last_column[1].role == "number":
        named = c.last_column[1].key
        hidden = [e for e in c.query.select if e.column == named]
        ranked = rows_ranked(Expression(column=named), rank)
        return replace(ranked, hidden=hidden, limit=limit, settled=("column_unused",))
    if kind in ("", "sign", "word", "keyword"):
        return replace(rows_ranked(Expression("count"), rank), doubts=("superlative_open",))
    return Finding()


def _ranked_thing(q: LinkedQuestion, c: Context, i: int, counting: bool) -> tuple[int, bool, Function, Finding]:
    """The item that is ranked, whether it is counted, its aggregate, and the words before it."""
    function: Function = ""
    used: list[int] = []
    owners: list[str] = []
    j = i + 1
    while j < len(q.items):
        x = q.items[j]
        owner = q.sorts[j] == "table" and q.sort(j + 1) == "column" and q.holds(j + 1, q.table_of(j))
        if x.is_keyword("count"):
            counting = True
            used.append(j)
        elif x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
            used.append(j)
        elif owner:
            used.append(j)
            owners.append(q.table_of(j))
        elif q.sorts[j] in ("value", "qualifier") and q.sort(j + 1) == "table":  # `the most completed visits`
            pass
        elif not (x.is_keyword("distinct") or (q.sorts[j] == "word" and x.lower in _BEFORE_RANKED) or j in c.consumed):
            break
        j += 1
    return j, counting, function, Finding(used, tuple(owners))


def _rank_table(
    q: LinkedQuestion, c: Context, i: int, j: int, rank: Rank, counting: bool, function: Function
) -> Findings:
    """`the most orders` ranks by their number, `top 5 products` by a measure that follows later."""
    phrase, table = q.items[i].lower, q.table_of(j)
    yield Finding((j,), (table,))
    if not counting and (phrase in _ENDS or (rank.explicit and phrase not in ("most", "fewest", "least"))):
        yield Finding(changes={"head_entity": c.head_entity or table})
        yield from _rank_later(q, c, j, rank)
        return
    averaged = next((x for x in q.vocabulary.by_table[table] if x.role == "number"), None) if function else None
    adjective = adjectives().get(phrase.removeprefix("the ")) if averaged is None and not counting else None
    property_column = property_of(q, c, adjective[0], i) if adjective is not None else None
    if averaged is not None:
        yield rows_ranked(Expression(function, averaged.key), rank)
    elif property_column is not None:
        column, sign = property_column
        yield rows_ranked(Expression(column=column.key), replace(rank, descending=sign > 0))
    else:
        yield rows_ranked(Expression("count", table=table), rank)


def _chosen(q: LinkedQuestion, c: Context) -> tuple[str | None, Finding]:
    """The table whose row count measures the popularity of what is shown (`the most popular genre` has the most
    tracks), and that it is named. None when what is shown occurs in several rows itself (`the most common city`)."""
    shown = c.query.select[-1].column if c.query.select else None
    table = shown[0] if shown else (c.head_entity or "")
    if not table or len({*c.entities, table}) > 1:
        return None, Finding()
    # The column must hold the names of its own table's rows, with a different name in each row
    key = shown or q.naming_columns(table)[0].key
    rows, known = q.vocabulary.tables[key[0]].table.row_count, len(q.values.values(*key))
    if rows is None or not 0 < known >= rows or key not in {c.key for c in q.vocabulary.name_columns(key[0])}:
        return None, Finding()
    below = q.graph.referring(table, many=True)
    if len(below) != 1:
        return None, Finding(doubts=("superlative_open",))
    return below[0], Finding(entities=(table, below[0]), doubts=("popularity_guessed",))


_LOW = ("smallest", "lowest", "shortest", "cheapest", "earliest", "youngest")


def _rank_words(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """`best-selling products by quantity` or `by revenue`: the words after `by` define what best-selling means."""
    for k in range(i + 1, min(len(q.items), i + 4)):
        if q.items[k].is_keyword("group", "relative"):
            return
        if q.sorts[k] == "table":
            table = q.table_of(k)
            yield Finding((k,), (table,), changes={"head_entity": c.head_entity or table})
        if q.items[k].lower == "by":
            yield Finding(reordered=True, changes={"ranked_by": True})
            yield from order_terms(q, c, k, "desc", rank=True)
            return


def _is_by(q: LinkedQuestion, j: int) -> bool:
    """Whether the words at item j start with `by …` or an ordering."""
    return j < len(q.items) and (q.items[j].lower == "by" or q.items[j].is_keyword("order"))


def _rank_later(q: LinkedQuestion, c: Context, j: int, rank: Rank) -> Findings:
    """`top 5 products by revenue`: the ranking measure follows the entity."""
    for k in range(j + 1, min(len(q.items), j + 9)):
        x = q.items[k]
        if x.is_keyword("sup", "sup_adj", "sup_count", "common"):  # `the 3 cities with the highest population`
            yield Finding((k,), limit=0)
            yield from superlative(q, c, k)
            yield Finding(limit=rank.limit if c.query.limit is not None else None)
            return
        if x.lower in ("by", "according to", "based on", "terms of") or x.is_keyword("order"):
            yield Finding(limit=rank.limit, changes={"ranked_by": True})
            yield from order_terms(q, c, k, "desc" if rank.descending else "asc", rank=True)
            return
    figures = [e for e in c.query.select if e.function]
    if c.query.order:
        yield Finding(limit=rank.limit)
    elif len(figures) == 1 and j >= len(q.items) - 2:
        yield Finding(order=((figures[0], rank.descending),), limit=rank.limit)
    else:
        yield Finding(limit=rank.limit, doubts=("rank_open",))
