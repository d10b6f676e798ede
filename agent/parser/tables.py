"""Tables and business measures named in a question: they are counted, listed, grouped or said to be absent.

In: the state of a reading at a mention of a table or a measure. Out: its query's projection, group or absence.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import measures, projection
from agent.parser.interpretation import Expression
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, Findings
from agent.parser.word_lists import participle
from eval.language.lexicon import word_set

_EARNING = word_set("spent spend spends spending sold sell sells earned earn earns made generated brought paid pay")
_TOGETHER = ("and their", "and its", "with their", "along with their", "together with their", "as well as their",
             "along with", "together with", "as well as", "with its", "along with its")  # fmt: skip
_OWNING = ("of", "in", "from", "for")
_PREPOSITIONS = word_set("of for from in at on by to during within among under about as")


def table_mention(q: LinkedQuestion, c: Context, i: int) -> Finding:
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


def measure_mention(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """A measure named at item i is shown, or waits for its verb's comparison. Without one, its words are a name."""
    mention = q.mention(i)
    expression = measures.measure(q, c.entities, mention.measure)
    if expression is None:
        if mention.tables:
            yield table_mention(q, c, i)
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
