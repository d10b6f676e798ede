"""Tables and business measures named in a question: they are counted, listed, grouped or said to be absent.

In: the state of a reading at a mention of a table or a measure. Out: its query's projection, group or absence.
"""

from __future__ import annotations

from agent.parser import measures, projection
from agent.parser.interpretation import Expression, Function
from agent.parser.question import LinkedQuestion
from agent.parser.state import ReadingState
from eval.language.lexicon import word_set

_EARNING = word_set("spent spend spends spending sold sell sells earned earn earns made generated brought paid pay")
_TOGETHER = ("and their", "and its", "with their", "along with their", "together with their", "as well as their",
             "along with", "together with", "as well as", "with its", "along with its")  # fmt: skip
_PREPOSITIONS = word_set("of for from in at on by to during within among under about as")


def table_mention(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    table = q.table_of(i)
    r.use(i)
    following = q.next_mention(i)
    if r.grouping:
        r.grouping = False
        if following == i + 1 and (
            _owned(q, following, table) or (q.sorts[following] == "column" and q.holds(following, table))
        ):
            r.grouping = True
            r.entity(table)
            return
        r.groups.append(("table", table))
        r.entity(table)
        return
    if r.negated and _even_without(q, i):
        r.empty_too, r.negated = True, False
        r.entity(table)
        return
    if r.negated and r.main_entity not in ("", table) and not _beside_value(q, i, table):
        r.absent(table)
        return
    if following == i + 1 and q.sorts[i + 1] == "column" and q.holds(i + 1, table) and not _done_by(q, r, i + 1):
        if r.in_head and not r.query.select and q.verb_cost(i + 1):
            r.head_entity = r.head_entity or table
        r.entity(table)
        return
    if r.functions and r.in_head:
        amount = measures.money_column(q, table) if len(r.functions) == 1 else None
        if amount is not None:
            r.query.select.append(Expression(r.functions.pop(), amount.key))
            r.entity(table)
            return
        if r.functions == ["sum"]:
            r.functions = []
            r.query.select.append(Expression("count", table=table))
            r.entity(table)
            return
    if r.counting and (r.in_head or r.share):
        if r.head_entity not in (None, table) and not r.query.select and beside_entity(q, i):
            r.query.select.extend(Expression(column=c.key) for c in q.naming_columns(r.head_entity or ""))
        r.query.select.append(Expression("count", table=table, distinct=r.counting == "distinct", share=r.share))
        r.share_at = len(r.query.where)
        r.counting, r.share = "", False
        r.entity(table)
        return
    preceding = q.previous_word(i)
    if r.in_head and r.head_entity not in (None, table) and not r.query.select and _listed(r, preceding):
        r.query.select.extend(Expression(column=c.key) for c in q.naming_columns(r.head_entity or ""))
        r.query.select.extend(Expression(column=c.key) for c in q.naming_columns(table))
    elif (
        r.in_head
        and not (r.query.select or (preceding in _PREPOSITIONS and r.entities))
        and preceding not in ("of", "in", "from", "for")
    ):
        r.head_entity = r.head_entity or table
    elif r.in_head and r.head_entity and (preceding in ("and", ",", "also") or preceding in _TOGETHER):
        r.query.select.extend(Expression(column=c.key) for c in q.naming_columns(table))
    r.entity(table)


_BESIDE = word_set("and with plus , their its the") | set(_TOGETHER)


def beside_entity(q: LinkedQuestion, i: int) -> bool:
    """`suppliers and number of products`: a figure at item i is listed beside the entity named before it."""
    k = i - 1
    while k > 0 and (q.items[k].is_keyword("count", "agg", "sup", "sup_adj") or q.items[k].lower in _BESIDE):
        k -= 1
    return k < i - 2 and q.sorts[k] == "table" and any(x.lower in _BESIDE for x in q.items[k + 1 : i])


def _listed(r: ReadingState, preceding: str) -> bool:
    """`chip model and screen mode of the phone`: both tables are shown."""
    return preceding in ("and", ",") and not (r.counting or r.functions or r.query.order or r.query.where)


def _done_by(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`number of films directed by each director`: the verb after the counted rows links them to their groups."""
    grouped = i + 1 < len(q.items) and q.items[i + 1].is_keyword("group")
    mention = q.items[i].mention
    dated = mention is None or mention.columns[0][0].role == "date"
    return bool(r.counting) and grouped and q.items[i].lower.endswith("ed") and not dated


def _owned(q: LinkedQuestion, i: int, table: str) -> bool:
    """`per product category`: rows of the table before refer to the table at item i."""
    if q.sorts[i] != "table":
        return False
    return any(e.left == table for e in q.graph.between(table, q.table_of(i)))


def _beside_value(q: LinkedQuestion, i: int, table: str) -> bool:
    """`not the Psychology department`, `not in department "X"`: a value selects the rows of the table that are
    excluded."""
    for k in (i - 1, i + 1, i + 2):
        if 0 <= k < len(q.items) and q.sorts[k] in ("value", "literal"):
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


def measure_mention(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    mention = q.items[i].mention
    assert mention is not None
    expression = measures.measure(q, r.entities, mention.measure)
    if expression is None:
        if mention.tables:
            table_mention(q, r, i)
        elif mention.columns:
            projection.column(q, r, i)
        return
    r.use(i)
    if other := measures.other_total(q, expression):
        r.draft.doubt("measure_ambiguous")
        r.draft.rivals.append(f"the amount is taken from {expression.tables[0]}; {other} would be another choice")
    if r.in_head and not r.functions and q.items[i].lower in _EARNING:
        r.verb_measure = expression
        return
    function: Function = r.functions[0] if r.functions else "sum"
    r.functions = []
    r.counting = ""
    r.query.select.append(Expression(function, expression.column, factor=expression.factor))
    assert expression.column is not None
