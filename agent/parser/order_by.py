"""ORDER BY: `sorted by price descending`, what a superlative ranks by, the order of a vague word (`best products`), and
whether a `by` alone gives an order or groups.

In: a reading at an ordering phrase or a superlative, or after its pass. Out: its query's order and limit, an extreme
value to show, what was assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.conditions import condition_follows, deed, flag
from agent.parser.interpretation import Expression, Function
from agent.parser.measures import measure, property_of
from agent.parser.periods import period_at
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, Findings
from agent.parser.time_conditions import calendar_word
from agent.parser.word_lists import participle, word_list
from eval.language.lexicon import adjectives, word_set


@dataclass(frozen=True, slots=True)
class Rank:
    """The rows that a superlative asks for."""

    descending: bool
    limit: int
    explicit: bool
    """The question gives the number of rows."""
    offset: int = 0


def rows_ranked(expression: Expression, rank: Rank, *used: int) -> Finding:
    """The rows that the rank asks for, ordered by the expression."""
    return Finding(used, order=((expression, rank.descending),), limit=rank.limit, offset=rank.offset)


_ASKING = word_set("what is are show find give list me us return tell whats what's was were get display 's")


def by_column(
    q: LinkedQuestion,
    c: Context,
    i: int,
    j: int,
    rank: Rank,
    function: Function = "",
    alone: bool = False,
    column: ColumnWord | None = None,
) -> Finding:
    """`alone`: no table was named before the superlative (`the highest product price`)."""
    column = column or c.column_of(j, "number")
    before = [x for x in q.items[:i] if x.lower not in ("and", ",", "the", "of")]
    only_asking_words = all(x.lower in _ASKING or x.is_keyword("sup", "agg", "relative") for x in before)
    heads = all(e.function for e in c.query.select) and (only_asking_words or c.query.select)
    unnamed = not c.entities or (alone and column.numeric and not i + 2 < j)
    if c.in_head and heads and unnamed and not (rank.explicit or rank.offset or function):
        functions: tuple[Function, ...] = (*c.functions, "max" if rank.descending else "min")
        shown = tuple(Expression(pending, column.key) for pending in functions)
        return Finding((j,), shown=shown, changes={"functions": [], "last_column": (j, column)})
    numeric = Expression(function, column.key)
    figures = column.numeric or column.role in ("date", "year")
    if not function and q.items[i].lower in ("most", "least", "fewest"):
        if not figures:
            numeric = Expression("count", column=column.key, table=column.table)
        elif (
            column.role == "number"
            and (q.plural(j) or q.items[j].lower == column.unit)  # `the most kg`
            and q.many_of(c.main_entity, column.table)
            and of_all(q)
        ):
            numeric = Expression("sum", column.key)  # the guest with the most nights
    finding = rows_ranked(numeric, rank, j)
    alone_shown = c.in_head and not c.entities and not c.query.select
    return replace(finding, shown=(Expression(column=column.key),)) if alone_shown else finding


def of_all(q: LinkedQuestion) -> bool:
    """Whether all rows of a thing count together, not `in a single day`, `at once`."""
    return {"any", "one", "single", "once"}.isdisjoint(q.words)


_PLACED = word_set("rank ranking position place standing order")
"""Words of columns in which the lowest number is the best."""
_BETWEEN_TERMS = word_set("the of their its by each both in from first his amount a an")


def ordering(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """`sorted by price descending`."""
    keyword = q.keyword(i)
    if keyword.argument == "basis":
        yield basis(q, c, i) or Finding(unused=(i,))
    else:
        yield from order_terms(q, c, i, keyword.argument)


def basis(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`the 3 most recent orders based on order date`, `by delivery date`: the words at item i give the column for a
    rank that an adjective named. Without such a rank they have no meaning here."""
    following = q.next_mention(i)
    ranked = c.query.order[0][0] if len(c.query.order) == 1 and c.query.limit is not None else None
    if ranked is None or ranked.function or ranked.column is None or following is None or following > i + 3:
        return None
    column = c.column_of(following) if q.sorts[following] == "column" else None
    if column is None or column.role not in ("number", "date", "year") or column.table != ranked.column[0]:
        return None
    return Finding((following,), order=((Expression(column=column.key), c.query.order[0][1]),), reordered=True)


@dataclass
class _Terms:
    """The terms of an order, while they are read."""

    argument: str
    """`asc`, `desc`, `rank` (the best first), or `*` once a direction was given."""
    rank: bool
    function: Function = ""
    counting: bool = False
    has_term: bool = False
    direction_before: str = ""
    """A direction given before any term."""


def order_terms(q: LinkedQuestion, c: Context, i: int, argument: str, rank: bool = False) -> Findings:
    """Read the columns, tables, measures and directions that follow item i as the query's order."""
    terms = _Terms(argument, rank)
    was_head = c.in_head
    yield Finding(changes={"in_head": False})
    j: int | None = i + 1
    while j is not None and j < len(q.items):
        finding, j = _order_term(q, c, i, j, terms)
        yield finding
    # `customers by total`: the word is the name of their column, or of a column of the rows that refer to them
    tables = dict.fromkeys((*c.entities, *q.graph.referring(c.main_entity)))
    totals = (x for t in tables for x in q.vocabulary.by_table[t] if x.words == ("total",) and x.role == "number")
    total = next(totals, None) if not terms.has_term and terms.function == "sum" else None
    if total is not None:
        summed: Function = "sum" if q.many_of(c.main_entity, total.table) else ""
        yield Finding(order=((Expression(summed, total.key), terms.argument in ("desc", "rank")),))
    elif not terms.has_term and terms.direction_before:
        yield direction(q, c, terms.direction_before, i)
    elif not terms.has_term:
        named = q.items[i].lower == "listed" or any(x.is_keyword("dir") for x in q.items)
        doubts = () if named else ("order_open",)  # `the reviewers listed` requests no order
        yield Finding(doubts=doubts, changes={"in_head": was_head})


def _order_term(q: LinkedQuestion, c: Context, i: int, j: int, terms: _Terms) -> tuple[Finding, int | None]:
    """Read item j as a part of the order. Returns what it adds, and the position of the next item; None when the order
    has ended."""
    x, sort = q.items[j], q.sorts[j]
    if x.is_keyword("dir"):
        return _direction_term(q, c, j, terms), j + 1
    if (sort == "word" and x.lower in _BETWEEN_TERMS) or x.is_keyword("and", "distinct", "also") or x.lower == ",":
        return Finding(), j + 1
    expression: Expression | None = None
    entities: tuple[str, ...] = ()
    counted = terms.counting or (terms.rank and j == i + 1 and not terms.function and sort == "table")
    counted_rows = next((e for e in c.query.select if e.function == "count"), None)
    if counted_rows is not None and x.lower in ("count", "counts") and not x.is_keyword():
        expression = counted_rows  # `show … and the count, sorted by the count`
    elif x.is_keyword("agg"):
        terms.function = x.keyword.argument  # type: ignore[union-attr,assignment]
    elif x.is_keyword("count"):
        terms.counting = True
    elif terms.has_term and deed(q, j):
        column = q.mention(j).columns[0][0]
        done = flag(q, column, negated=False) if q.values.facts(*column.key).nulls else Finding()
        return replace(done, used=(j,), entities=(column.table,)), j + 1
    elif sort == "column" and not (q.items[j - 1].is_keyword("relative", "cmp") and condition_follows(q, c.in_head, j)):
        column, figure = c.column_of(j), Expression(terms.function)
        counts = terms.counting and not (column.is_figure and not column.foreign)
        counted_values = Expression("count", column=column.key, table=column.table)
        expression = counted_values if counts else replace(figure, column=column.key)
    elif sort == "table" and counted and (terms.counting or not _its_column(q, j)):
        expression, entities = Expression("count", table=q.table_of(j)), (q.table_of(j),)
    elif sort == "table" and (_its_column(q, j) or (not terms.has_term and q.word(j + 1) == "by")):
        # `by payment amount`, `sort the products by price`: it only gives the owner of the columns that follow
        end = j + 1 if _its_column(q, j) else j + 2
        return Finding(range(j, end), (q.table_of(j),)), end
    elif sort == "table" and not terms.has_term:
        expression = next(iter(q.named_by(q.table_of(j))), None)
    elif sort == "measure":
        assert x.mention is not None
        known = measure(q, c.entities, x.mention.measure)
        expression = Expression(terms.function or "sum", known.column, factor=known.factor) if known else None
    else:
        return Finding(), None
    named = Finding((j,), entities)
    return (_with_term(q, c, named, expression, terms) if expression is not None else named), j + 1


def _direction_term(q: LinkedQuestion, c: Context, j: int, terms: _Terms) -> Finding:
    keyword = q.keyword(j)
    if terms.has_term:
        terms.argument = "*"
        return replace(direction(q, c, keyword.argument, j), used=(j,))
    terms.direction_before = keyword.argument
    terms.argument = "desc" if terms.direction_before in ("desc", "alpha_desc") else "asc"
    return Finding((j,))


def _with_term(q: LinkedQuestion, c: Context, named: Finding, expression: Expression, terms: _Terms) -> Finding:
    ranked = terms.argument == "rank"
    terms.has_term, terms.counting, terms.function = True, False, ""
    if any(known == expression for known, _ in c.query.order):
        return named
    # `ranked by sales`: figures rank in descending order, names and places in ascending order
    column = q.plain_column(expression)
    placed = column is None or column.role != "number" or _PLACED & set(column.words)
    down = terms.argument == "desc" or (ranked and (bool(expression.function) or not placed))
    figure = c.figure_ranked or (ranked and bool(expression.function))
    return replace(named, order=((expression, down),), changes={"figure_ranked": figure})


def _its_column(q: LinkedQuestion, j: int) -> bool:
    """`by payment amount`: a column of the table at item j follows it."""
    return q.sort(j + 1) == "column" and q.holds(j + 1, q.table_of(j))


def direction(q: LinkedQuestion, c: Context, argument: str, i: int) -> Finding:
    """`descending`, `alphabetically`: the direction of the named sort order, or of the first column shown."""
    if not c.query.select and not c.query.order:
        return Finding(changes={"waiting_direction": argument})
    descending = argument in ("desc", "alpha_desc")
    if argument in ("young", "old"):
        age = property_of(q, c, adjectives()["old"][0], i)
        if age is None:
            return Finding()
        column, sign = age
        wanted = (sign > 0) == (argument == "old")
        return Finding(order=((Expression(column=column.key), wanted),), reordered=True)
    if c.query.order and c.query.limit is None:
        if argument not in ("asc", "desc", "alpha_desc"):
            return Finding()
        *earlier, (last, _) = c.query.order
        return Finding(order=(*earlier, (last, descending)), reordered=True)
    plain = [e for e in c.query.select if not e.function or argument in ("asc", "desc")]
    if plain:
        best = next((e for e in plain if e.column and q.vocabulary.columns[e.column].role == "name"), plain[0])
        return Finding(order=((best, descending),))
    shown = q.named_by(c.entities[0])[:1] if c.entities else ()
    return Finding(order=tuple((e, descending) for e in shown))


_MOST = 10
"""The rows that a vague word selects."""
_DESCRIBED = ("table", "value", "qualifier", "column")
_BEST = word_set("rating score stars profit revenue sales sale win wins point points")
"""Words of figures by which things are good or bad, the likeliest first."""
_HARM = word_list("harm")
"""Words of figures of which the highest is the worst."""
_GOOD = {"best": True, "top": True, "worst": False, "bottom": False}


def vague(q: LinkedQuestion, r: Context) -> Finding:
    """The order that a vague word of the question asks for."""
    query = r.query
    if query.order or query.group or query.within or query.aggregates() or r.functions or r.counting or r.groups:
        return Finding()
    for k, item in enumerate(q.items):
        good = _GOOD.get(item.lower)
        if good is not None and query.limit is not None and r.main_entity:
            return _by_likeliest(q, r, k, good)
        adjective, degree = adjectives().get(item.lower, (None, ""))
        if degree == "base" and adjective and item.kind == "word" and q.sort(k + 1) in _DESCRIBED:
            found = property_of(q, r, adjective, k)
            if found is not None and query.limit is None and found[0].role == "number":
                column, sign = found
                return _assumed(r, k, column, sign > 0, f"the {_MOST} with the {_end(sign > 0)} {column.name}")
    return Finding()


def _by_likeliest(q: LinkedQuestion, r: Context, k: int, falling: bool) -> Finding:
    """`best products`: by a rating, a profit, or the first figure of the rows; the next two are named."""
    table = r.head_entity or r.main_entity
    figures = [c for c in q.vocabulary.by_table[table] if c.is_figure and not c.foreign]
    figures.sort(key=lambda c: not _BEST & set(c.words))
    if not figures:
        return Finding()
    falling = falling != bool(_HARM & set(figures[0].words))
    found = _assumed(r, k, figures[0], falling, f"those with the {_end(falling)} {figures[0].name}")
    others = " or ".join(c.name for c in figures[1:3])
    if others:
        r.draft.guess += f"; {others} would be another choice"
    several = q.plural(k + 1) if q.sort(k + 1) in ("table", "column") else False
    return replace(found, limit=_MOST if several and r.query.limit == 1 else r.query.limit)


def _assumed(r: Context, k: int, column: ColumnWord, falling: bool, meaning: str) -> Finding:
    r.draft.doubt("wording_guessed")
    r.draft.guess = f"“{r.question.items[k].lower}” is taken as {meaning}"
    order = ((Expression(column=column.key), falling),)
    return Finding((k,), order=order, limit=_MOST, settled=("rank_open",))


def _end(falling: bool) -> str:
    return "highest" if falling else "lowest"


_LIST = word_set("list show give display sort order")
_DONE = word_set("written made taught won driven given drawn built flown led held run sung taken chosen")
"""Verbs after which `by` names the agent."""


def sorts_by(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`products by price descending`, `the first 5 products by price`: rows are sorted, not grouped."""
    following = q.next_mention(i)
    ranked = any(x.is_keyword("sup", "sup_adj", "sup_count", "common", "selling") for x in q.items)
    cut = c.query.limit is not None and not c.query.order and not ranked
    plain = not (c.functions or c.counting or c.query.aggregates())
    mention = q.items[following].mention if following is not None else None
    if plain and not cut and mention is not None and q.sorts[following or 0] == "column" and q.words[0] in _LIST:
        column = mention.columns[0][0]  # `list staff by salary`
        cut = column.is_figure and not column.foreign
    if not plain or following is None or q.sorts[following] != "column":
        return False
    return cut or any(x.is_keyword("dir") for x in q.items[following + 1 : following + 3])


def groups_by(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`sales by region`: an aggregate or count was requested, and a column or table follows."""
    counted = i + 1 if q.is_keyword(i + 1, "count") else i
    following = q.next_mention(counted)
    if c.query.order or c.negated:
        return False
    if counted > i and (c.functions or c.counting or c.query.aggregates()):
        return following is not None and stores_number(q, c, following)
    named = following == i + 1 and q.sorts[i + 1] in ("column", "table") and i > 0
    if named and (_counted_rows(q, i) or (i == 1 and q.sorts[0] == "value")):  # `emergencies by outcome`
        # `orders by status in 2024`: no status is 2024
        kinds = (c.role in ("text", "name", "flag") for c, _ in q.mention(i + 1).columns[:1])
        ends = i + 2 >= len(q.items) or not _compared(q, c.in_head, i + 1) or (_in_a_year(q, i + 1) and all(kinds))
        if ends and not c.query.select and not c.functions:
            return True
    if following == i + 1 and (_only_figure(q, c, i) or _of_own_rows(q, c, i) or _figure_per_thing(q, c, i)):
        return True
    before = q.word(i - 1)
    done = before in _DONE or (before.endswith("ed") and "group" not in before)
    if done or q.word(i + 1) in ("any", "all"):
        return False
    if following is None or q.sorts[following] not in ("column", "table"):
        return calendar_word(q, i + 1) != "" and bool(
            c.functions or c.counting or c.query.select or q.sort(i - 1) == "table"
        )
    if following + 1 < len(q.items) and (
        q.sorts[following + 1] in ("value", "literal") or q.items[following + 1].lower in ("called", "named")
    ):
        return False
    aggregated = c.functions or c.counting or c.query.aggregates() or "group" in q.items[i - 1].lower
    return bool(aggregated) and following <= i + 3


def _counted_rows(q: LinkedQuestion, i: int) -> bool:
    """Rows named before item i (`orders by status`, `orders in 2024 by status`), or what was done to them (`lots sold
    by grade`, and no doer)."""
    if q.sorts[i - 1] == "table" or (i == 3 and q.sorts[0] == "table" and _in_a_year(q, 0)):
        return True
    done = participle(q.items[i - 1].lower) and i > 1 and q.sorts[i - 2] == "table"
    return done and q.sorts[i + 1] == "column" and not q.plural(i + 1) and i + 2 == len(q.items)


def _figure_per_thing(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`total weight shipped by customer`: after a sum or an average, a bare singular noun at the end names groups."""
    ends = all(x.kind == "sign" or x.is_keyword("period") for x in q.items[i + 2 :])
    added = any(e.function in ("sum", "avg") for e in c.query.select)
    return added and ends and q.sorts[i + 1] in ("table", "column") and not q.plural(i + 1)


def _only_figure(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`freight by country`: the only thing shown is an amount named just before item i."""
    shown = c.query.select
    if len(shown) != 1 or shown[0].function or not shown[0].column or q.sorts[i - 1] != "column":
        return False
    figure, named = q.vocabulary.columns[shown[0].column], q.sorts[i + 1]
    amount = figure.role == "number" and not figure.foreign
    return amount and (named == "table" or (named == "column" and not _compared(q, c.in_head, i + 1)))


def _of_own_rows(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`price by plant`, `goals and assists by player`, `remark by yard`: what a thing has, beside its name."""
    shown, table = c.query.select, q.tables.get(i + 1, "")
    own = all(
        not e.function and e.column and (e.column[0] == table or (table and q.many_of(table, e.column[0])))
        for e in shown
    )
    ends = i + 2 == len(q.items) or q.items[i + 2].kind == "sign"
    return bool(shown) and own and ends and q.sorts[i + 1] == "table" and q.sorts[i - 1] == "column"


def _compared(q: LinkedQuestion, in_head: bool, i: int) -> bool:
    """`albums by artist "X"`: the name after `by` is a condition, not a group."""
    return condition_follows(q, in_head, i) or q.next_mention(i) == i + 1


def _in_a_year(q: LinkedQuestion, i: int) -> bool:
    """Whether `in 2024` follows item i."""
    if i + 2 >= len(q.items) or q.items[i + 1].lower not in ("in", "during", "for"):
        return False
    named = period_at(q.tokens, q.items[i + 2].start, q.today)
    return named is not None and named.year_only is not None


def stores_number(q: LinkedQuestion, c: Context, i: int) -> bool:
    """Whether a column that holds a number of things is named at item i."""
    if q.sorts[i] != "column":
        return False
    column = c.column_of(i, "number")
    return column.is_figure and not column.foreign
