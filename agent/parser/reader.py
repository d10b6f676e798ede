"""Reading: from linked items to a `Query`, in one pass from left to right, with the effect of each signal phrase.

In: the items of a question, the schema's vocabulary and join graph. Out: a `Draft`: the query, and notes on open
points. The reader distinguishes two parts of a question: the head, which gives the projection, and the restrictions
after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agent.parser import (
    comparisons,
    conditions,
    finalization,
    literals,
    order_by,
    periods,
    projection,
    stored_states,
    superlatives,
    tables,
    time_conditions,
)
from agent.parser.conditions import stock
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Draft, Finding, Findings
from agent.parser.time_conditions import period
from agent.parser.word_lists import participle, word_list
from eval.language.lexicon import FUNCTION_WORDS, word_set

_SHOW = word_list("show")
_EVERYTHING = word_set("information info details detail everything data attributes columns fields records record rows")
_BEFORE_EVERYTHING = word_set("all the full complete every show list find give me us what any")
_AFTER_EVERYTHING = word_set("about of for on regarding from concerning related in")
_LIST = word_set("list show give display sort order")
_DONE = word_set("written made taught won driven given drawn built flown led held run sung taken chosen")
"""Verbs after which `by` names the agent."""


def read(q: LinkedQuestion) -> Draft:
    """Read all items, then decide projection, grouping and joins."""
    r = Context(q)
    if kind := q.kind_of():
        r.join(Finding(entities=(kind,), changes={"head_entity": kind}))
    for i in range(len(q.items)):
        if i not in r.consumed:
            r.draft.word = q.items[i].lower
            for finding in _findings(q, r, i):
                r.join(finding)
    r.draft.word = ""
    finalization.finalize(q, r)
    return r.draft


def _findings(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """What item i adds to the reading."""
    sort = q.sorts[i]
    if sort == "keyword":
        yield from signal(q, c, i)
    elif sort in ("table", "column"):
        yield from _name(q, c, i)
    elif sort == "measure":
        yield from tables.measure_mention(q, c, i)
    elif sort in _RULES:
        yield _RULES[sort](q, c, i)
    else:
        yield from _word(q, c, i)


_RULES: dict[str, Callable[[LinkedQuestion, Context, int], Finding]] = {
    "value": literals.value,
    "literal": literals.literal,
    "number": literals.number,
    "qualifier": stored_states.qualifier,
}


def _name(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """A table or a column; after `by region and` it is one more group."""
    if c.group_at is not None and not conditions.condition_follows(q, c.in_head, i):
        between = [x.lower for x in q.items[c.group_at + 1 : i] if x.lower not in ("the", "each", "by")]
        yield Finding(changes={"grouping": c.grouping or between == ["and"]})
    grouping = c.grouping
    if q.sorts[i] == "table":
        yield tables.table_mention(q, c, i)
    else:
        yield from projection.column(q, c, i)
    if grouping and not c.grouping:
        yield Finding(changes={"group_at": i})


def _word(q: LinkedQuestion, c: Context, i: int) -> Findings:
    item = q.items[i]
    if (dated := time_conditions.period(q, c, i) or time_conditions.weekdays(q, c, i)) is not None:
        yield dated
        return
    if item.lower == "by":  # it gives the column of a rank, a sort order or groups
        if (basis := order_by.basis(q, c, i)) is not None:
            yield basis
        elif _sorts_by(q, c, i):
            yield from order_by.order_terms(q, c, i, "asc")
        elif _groups_by(q, c, i):
            yield Finding(changes={"grouping": True})
    if (calendar := time_conditions.calendar_group(q, c, i)) is not None:
        yield calendar
        return
    if item.lower in _EVERYTHING and c.in_head and not c.query.select:
        # `all information about students`, `all student records`: asks for whole rows
        whole = q.word(i - 1) in _BEFORE_EVERYTHING and q.word(i + 1) in _AFTER_EVERYTHING
        if i > 1 and item.lower in ("records", "rows", "entries") and q.sorts[i - 1] == "table":
            whole = q.word(i - 2) in ("all", "every", "the", "full", "complete")
        yield Finding((i,) if whole else (), changes={"star": whole})
    if item.lower in _SHOW or (item.kind == "sign" and item.lower in ".?!;"):
        if item.lower in ".?!;" and i + 1 < len(q.items):
            yield _clause_end(c)
        started = c.query.select or c.entities or c.functions or c.counting
        if not started or item.lower in ("show", "list", "give", "return", "display", "find", "tell", "what"):
            yield Finding(changes={"in_head": True})
    if item.lower in FUNCTION_WORDS or item.kind == "sign":
        yield Finding((i,))


def _sorts_by(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`products by price descending`, `the first 5 products by price`: rows are sorted, not grouped."""
    following = q.next_mention(i)
    ranked = any(x.is_keyword("sup", "sup_adj", "sup_count", "common", "selling") for x in q.items)
    cut = c.query.limit is not None and not c.query.order and not ranked
    plain = not (c.functions or c.counting or c.query.aggregates())
    mention = q.items[following].mention if following is not None else None
    if plain and not cut and mention is not None and q.sorts[following or 0] == "column" and q.tokens[0].lower in _LIST:
        column = mention.columns[0][0]  # `list staff by salary`
        cut = column.is_figure and not column.foreign
    if not plain or following is None or q.sorts[following] != "column":
        return False
    return cut or any(x.is_keyword("dir") for x in q.items[following + 1 : following + 3])


def _groups_by(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`sales by region`: an aggregate or count was requested, and a column or table follows."""
    counted = i + 1 if i + 1 < len(q.items) and q.items[i + 1].is_keyword("count") else i
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
        return time_conditions.calendar_word(q, i + 1) != "" and bool(
            c.functions or c.counting or c.query.select or (i and q.sorts[i - 1] == "table")
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
    return conditions.condition_follows(q, in_head, i) or q.next_mention(i) == i + 1


def _in_a_year(q: LinkedQuestion, i: int) -> bool:
    """Whether `in 2024` follows item i."""
    if i + 2 >= len(q.items) or q.items[i + 1].lower not in ("in", "during", "for"):
        return False
    named = periods.period_at(q.tokens, q.items[i + 2].start, q.today)
    return named is not None and named.year_only is not None


def _clause_end(c: Context) -> Finding:
    open_ends = {"negation_open": c.negated and not c.excepting, "group_open": c.grouping}
    return Finding(
        doubts=tuple(name for name, left_open in open_ends.items() if left_open),
        changes={
            "grouping": False,
            "negated": False,
            "or_next": False,
            "last_column": None,
            "sink": c.query.where,
            "denied_column": None,
        },
    )


_Rule = Callable[[LinkedQuestion, Context, int, str], Finding]
"""Takes the question, what was read so far, the position of the phrase and the phrase's argument."""
_Steps = Callable[[LinkedQuestion, Context, int], Findings]
"""A rule that goes on after a finding."""
_LISTING = (
    "along with", "along with the", "along with their", "along with its", "together with", "together with the",
    "together with their", "and their", "and its", "with their", "with its", "as well as", "as well as the",
    "as well as their", "and what is", "and what are", "and show", "and list", "and give",
)  # fmt: skip
"""Phrases after which the question names more columns to show."""
_COPULAS = word_set("is are was were")
_KEEPING = _COPULAS | word_set("named called but if")
"""Words after which the clause still refers to the column named before."""


def signal(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """The effect of the signal phrase at item i."""
    keyword = q.keyword(i)
    yield Finding((i,))
    if keyword.kind in _SIGNALS:
        yield _SIGNALS[keyword.kind](q, c, i, keyword.argument)
    elif keyword.kind in _STEPS:
        yield from _STEPS[keyword.kind](q, c, i)


def _count(q: LinkedQuestion, c: Context, i: int, argument: str) -> Finding:
    """`how many orders`, `total number of seats`."""
    following = q.next_mention(i)
    if c.grouping and following is not None and stores_number(q, c, following):
        return Finding()  # `by number of cylinders`: the groups are the numbers themselves
    total = "total number" in q.items[i].lower
    if (c.functions or total) and following is not None and q.sorts[following] == "column":
        column = c.column_of(following, "number")
        if column.is_figure and (c.functions or following <= i + 2):
            summed = total and "sum" not in c.functions
            return Finding(changes={"functions": [*c.functions, "sum"]} if summed else {})
    counting: Literal["distinct", "rows"] = "distinct" if argument == "distinct" else "rows"
    return Finding(changes={"counting": counting, "in_head": True})


def stores_number(q: LinkedQuestion, c: Context, i: int) -> bool:
    """Whether a column that holds a number of things is named at item i."""
    if q.sorts[i] != "column":
        return False
    column = c.column_of(i, "number")
    return column.is_figure and not column.foreign


def _aggregate(q: LinkedQuestion, c: Context, i: int, argument: str) -> Finding:
    """`average price`, `with the maximum price`, `orders with a total above 100`."""
    following = q.next_mention(i)
    extreme = argument in ("max", "min") and not c.in_head and (c.query.select or c.entities)
    if extreme and following is not None and q.sorts[following] == "column":
        return order_by.by_column(q, c, i, following, order_by.Rank(argument == "max", 1, explicit=True))
    # `orders with a total above 100`: a column of the table just named holds the total, so nothing is summed
    last = next((q.table_of(k) for k in range(i - 1, max(-1, i - 4), -1) if q.sorts[k] == "table"), None)
    if q.word(i) == "total" and q.is_keyword(i + 1, "cmp") and last is not None:
        totals = [x for x in q.vocabulary.by_table[last] if "total" in x.words and x.role == "number"]
        if len(totals) == 1:
            return Finding(changes={"last_column": (i, totals[0])})
    return Finding(changes={"functions": [*c.functions, argument]})  # type: ignore[list-item]


def _percent(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    named = next((s for s in q.sorts[i + 1 : i + 5] if s not in ("word", "qualifier", "value", "column")), "")
    # `share of private rooms`, `share of card payments`
    values = [q.mention(k).values for k in range(i + 1, min(i + 5, len(q.items))) if q.sorts[k] == "value"]
    here = not q.named or any(hit.table in q.named for hits in values for hit in hits)  # the table that is named
    described = not named and bool(values) and here
    return Finding(changes={"share": True, "counting": c.counting or "rows"} if named == "table" or described else {})


def _also(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    """`customers along with their orders`: what follows is also shown, next to the name of the first entity."""
    phrase = q.items[i].lower
    if phrase not in _LISTING and "corresponding" not in phrase:
        return Finding()
    unnamed = not c.query.select and c.head_entity is not None and not c.functions and not c.counting
    return Finding(shown=q.named_by(c.head_entity or "") if unnamed else (), changes={"in_head": True})


def _relative(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    """`whose`, `that`, `is`: the restrictions begin, once something is named."""
    phrase = q.items[i].lower
    if not (c.query.select or c.entities) or (phrase in _COPULAS and c.in_head and not c.entities):
        return Finding()
    return Finding(changes={"in_head": False} if phrase in _KEEPING else {"in_head": False, "last_column": None})


_SIGNALS: dict[str, _Rule] = {
    "stock": lambda q, c, _, argument: stock(q, c, argument == "out"),
    "count": _count,
    "agg": _aggregate,
    "like": lambda q, c, i, _: literals.pattern(q, c, i),
    "period": lambda q, c, i, _: period(q, c, i) or Finding(doubts=("period_open",)),
    "group": lambda *_: Finding(changes={"grouping": True}),
    "distinct": lambda *_: Finding(changes={"distinct": True}),
    "both": lambda *_: Finding(changes={"both": True}),
    "neg": lambda _q, c, _, __: Finding(
        changes={"negated": True, "in_head": c.in_head and not (c.query.select or c.entities or c.query.where)}
    ),
    "except": lambda *_: Finding(changes={"negated": True, "excepting": True, "in_head": False}),
    "or": lambda _q, c, _, __: Finding(changes={"or_next": not c.in_head}),
    "percent": _percent,
    "also": _also,
    "relative": _relative,
    "dir": lambda q, c, i, argument: order_by.direction(q, c, argument, i),
}
_STEPS: dict[str, _Steps] = {
    **dict.fromkeys(("sup", "sup_adj", "sup_count", "common", "selling"), superlatives.superlative),
    **dict.fromkeys(("cmp", "cmp_adj"), comparisons.comparison),
    "order": order_by.ordering,
}
