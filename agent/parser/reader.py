"""Reading: from linked items to a `Query`, in one pass from left to right, with the effect of each signal phrase.

In: the items of a question, the schema's vocabulary and join graph. Out: a `Draft`: the query, and notes on open
points. Tables and measures are read here: they are counted, listed, grouped or said to be absent; other modules have
the rules for columns, values, comparisons, superlatives and orders. The reader distinguishes two parts of a question:
the head, which gives the projection, and the restrictions after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import (
    comparisons,
    conditions,
    finalization,
    literals,
    measures,
    order_by,
    projection,
    stored_states,
    superlatives,
    time_conditions,
)
from agent.parser.interpretation import Expression
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Draft, Finding, Findings
from agent.parser.word_lists import participle, word_list
from eval.language.lexicon import FUNCTION_WORDS, word_set

_SHOW = word_list("show")
_EVERYTHING = word_set("information info details detail everything data attributes columns fields records record rows")
_BEFORE_EVERYTHING = word_set("all the full complete every show list find give me us what any")
_AFTER_EVERYTHING = word_set("about of for on regarding from concerning related in")


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
        yield from _measure(q, c, i)
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
        yield _table(q, c, i)
    else:
        yield from projection.column(q, c, i)
    if grouping and not c.grouping:
        yield Finding(changes={"group_at": i})


_EARNING = word_set("spent spend spends spending sold sell sells earned earn earns made generated brought paid pay")
_TOGETHER = ("and their", "and its", "with their", "along with their", "together with their", "as well as their",
             "along with", "together with", "as well as", "with its", "along with its")  # fmt: skip
_OWNING = ("of", "in", "from", "for")
_PREPOSITIONS = word_set("of for from in at on by to during within among under about as")


def _table(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """What a table named at item i is for."""
    table = q.table_of(i)
    named = Finding((i,), (table,))
    following = q.next_mention(i)
    column_next = following == i + 1 and q.sorts[i + 1] == "column" and q.holds(i + 1, table)
    if c.grouping:
        if column_next or (following == i + 1 and _owned(q, i + 1, table)):
            return named
        return replace(named, groups=(("table", table),), changes={"grouping": False})
    # `beer styles` are the styles that beers refer to, and no beers
    if c.in_head and _owned(q, i + 1, table) and not q.plural(i) and q.plural(i + 1):
        return Finding((i,))
    if c.negated and _even_without(q, i):
        return replace(named, changes={"empty_too": True, "negated": False})
    if c.negated and q.elsewhere(i):
        return Finding(unused=(i,))
    if c.negated and c.main_entity not in ("", table) and not _beside_value(q, i, table):
        return Finding((i,), absent=table)
    counts_rows = column_next and bool(c.counting) and participle(q.items[i + 1].lower)  # `sales paid by card`
    # `number of films directed by each director`: the verb after the counted rows links them to their groups
    verb = q.items[i + 1].mention if column_next and q.word(i + 1).endswith("ed") else None
    done_by = c.counting and q.is_keyword(i + 2, "group") and verb is not None and verb.columns[0][0].role != "date"
    if column_next and not counts_rows and not done_by:
        head = c.in_head and not c.query.select and q.verb_cost(i + 1)
        return replace(named, changes={"head_entity": c.head_entity or table}) if head else named
    if c.functions and c.in_head:
        amount = _amount(q, table, i) if len(c.functions) == 1 else None
        if amount is not None or c.functions == ["sum"]:
            expression = Expression(c.functions[-1], amount.key) if amount else Expression("count", table=table)
            return replace(named, shown=(expression,), changes={"functions": []})
    names = q.named_by(table)
    heads = q.named_by(c.head_entity or table)
    other = c.head_entity not in (None, table) and not c.query.select
    if c.counting and (c.in_head or c.share):
        count = Expression("count", table=table, distinct=c.counting == "distinct", share=c.share)
        shown = (*(heads if other and _beside_entity(q, i) else ()), count)
        return replace(named, shown=shown, changes={"share_at": len(c.query.where), "counting": "", "share": False})
    preceding = q.previous_word(i)
    if not c.in_head:
        return named
    plain = not (c.counting or c.functions or c.query.order or c.query.where)
    if other and plain and preceding in ("and", ","):  # `chip model and screen mode of the phone`
        return replace(named, shown=(*heads, *names))
    if not (c.query.select or (preceding in _PREPOSITIONS and c.entities)) and preceding not in _OWNING:
        return replace(named, changes={"head_entity": c.head_entity or table})
    if c.head_entity and (preceding in ("and", ",", "also") or preceding in _TOGETHER):
        return replace(named, shown=names)
    return named


_BESIDE = word_set("and with plus , their its the") | set(_TOGETHER)


def _beside_entity(q: LinkedQuestion, i: int) -> bool:
    """`suppliers and number of products`: a figure at item i is listed beside the entity named before it."""
    k = i - 1
    while k > 0 and (q.is_keyword(k, "count", "agg", "sup", "sup_adj") or q.word(k) in _BESIDE):
        k -= 1
    return k < i - 2 and q.sorts[k] == "table" and any(x.lower in _BESIDE for x in q.items[k + 1 : i])


def _amount(q: LinkedQuestion, table: str, i: int) -> ColumnWord | None:
    """`total of all hires`: what they amount to; `total hires` may be how many they are."""
    said = " ".join(x.lower for x in q.items[:i] if x.lower not in ("all", "the", "our", "my"))
    amount = measures.money_column(q, table)
    if amount is None and said.endswith(("total of", "sum of", "average of")):
        return measures.amount_column(q, [table])
    return amount


def _owned(q: LinkedQuestion, i: int, table: str) -> bool:
    """`per product category`: rows of the table before refer to the table at item i."""
    if q.sort(i) != "table":
        return False
    return any(e.left == table for e in q.graph.between(table, q.table_of(i)))


def _beside_value(q: LinkedQuestion, i: int, table: str) -> bool:
    """`not the Psychology department`, `not in department "X"`: a value selects the rows of the table that are
    excluded."""
    for k in (i - 1, i + 1, i + 2):
        if q.sort(k) in ("value", "literal"):
            mention = q.items[k].mention
            return mention is not None and (k < i or any(h.table == table for h in mention.values))
    return False


def _even_without(q: LinkedQuestion, i: int) -> bool:
    """`customers and their orders, including customers with no orders`: absence adds rows and does not restrict
    them."""
    for k in range(i - 1, max(-1, i - 8), -1):
        if q.items[k].lower in ("including", "even", "plus"):
            return q.items[k - 1].lower != "not" if k else False
        if q.items[k].lower in (".", ";", "?", "!"):
            return False
    return False


def _measure(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """A measure named at item i is shown, or waits for its verb's comparison. Without one, its words are a name."""
    mention = q.mention(i)
    expression = measures.measure(q, c.entities, mention.measure)
    if expression is None:
        if mention.tables:
            yield _table(q, c, i)
        elif mention.columns:
            yield from projection.column(q, c, i)
        return
    named = Finding((i,))
    if c.counting == "rows" and q.plural(i) and not c.functions and not mention.tables:  # `how many sales`: rows
        shown = Expression("count", table=expression.tables[0])
        yield replace(named, shown=(shown,), entities=expression.tables[:1], changes={"counting": ""})
        return
    if other := measures.other_total(q, expression):
        rival = f"the amount is taken from {expression.tables[0]}; {other} would be another choice"
        named = replace(named, doubts=("measure_ambiguous",), rivals=(rival,))
    if c.in_head and not c.functions and q.items[i].lower in _EARNING:
        yield replace(named, changes={"verb_measure": expression})
        return
    shown = Expression(c.functions[0] if c.functions else "sum", expression.column, factor=expression.factor)
    yield replace(named, shown=(shown,), changes={"functions": [], "counting": ""})


def _word(q: LinkedQuestion, c: Context, i: int) -> Findings:
    item = q.items[i]
    if (dated := time_conditions.period(q, c, i) or time_conditions.weekdays(q, c, i)) is not None:
        yield dated
        return
    if item.lower == "by":  # it gives the column of a rank, a sort order or groups
        if (basis := order_by.basis(q, c, i)) is not None:
            yield basis
        elif order_by.sorts_by(q, c, i):
            yield from order_by.order_terms(q, c, i, "asc")
        elif order_by.groups_by(q, c, i):
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
    if c.grouping and following is not None and order_by.stores_number(q, c, following):
        return Finding()  # `by number of cylinders`: the groups are the numbers themselves
    total = "total number" in q.items[i].lower
    if (c.functions or total) and following is not None and q.sorts[following] == "column":
        column = c.column_of(following, "number")
        if column.is_figure and (c.functions or following <= i + 2):
            summed = total and "sum" not in c.functions
            return Finding(changes={"functions": [*c.functions, "sum"]} if summed else {})
    counting: Literal["distinct", "rows"] = "distinct" if argument == "distinct" else "rows"
    return Finding(changes={"counting": counting, "in_head": True})


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
    "stock": lambda q, c, _, argument: conditions.stock(q, c, argument == "out"),
    "count": _count,
    "agg": _aggregate,
    "like": lambda q, c, i, _: literals.pattern(q, c, i),
    "period": lambda q, c, i, _: time_conditions.period(q, c, i) or Finding(doubts=("period_open",)),
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
