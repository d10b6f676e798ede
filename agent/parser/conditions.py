"""Conditions: what a clause restricts or compares.

In: a reading at a mention of a column, or at a comparing phrase and its number. Out: the column that the clause refers
to, the column, count or sum that is compared, and conditions on columns that say yes or no, hold a stock, or refer to
other rows of their own table (`manager_id`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import takewhile

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Condition, Expression, Operator, Query
from agent.parser.joins import Edge
from agent.parser.measures import measure
from agent.parser.question import LinkedQuestion, Mention
from agent.parser.state import Context, Finding
from agent.parser.stored_states import says
from agent.parser.word_lists import participle, word_list
from eval.language.lexicon import word_set

LINKS = word_list("links")
_DENIALS = ("is not", "are not", "was not", "were not")
_DATES_ASKED_FOR = word_set("date day time month year week birthday deadline when")
"""Words of a column that is asked for itself: `due dates in May`."""


def condition_follows(q: LinkedQuestion, in_head: bool, i: int) -> bool:
    """Whether the column at item i is compared with something in the words that follow."""
    item = q.items[i]
    mention = q.mention(i)
    keys = {c.key for c, _ in mention.columns}
    for j in range(i + 1, min(len(q.items), i + 7)):
        other, sort = q.items[j], q.sorts[j]
        if other.is_keyword("cmp") and other.lower in _DENIALS:
            stored = next(
                (x.mention for k, x in enumerate(q.items[j + 1 : j + 4], j + 1) if q.sorts[k] == "value"), None
            )
            return stored is None or bool(stored.stored_in & keys)
        if other.is_keyword("both") and other.lower != "both":
            return False
        if other.is_keyword("cmp", "cmp_adj", "like"):
            timed = other.keyword is not None and other.keyword.argument in ("after", "before")
            plain = [c.role in ("text", "name", "flag") for c, _ in mention.columns[:1]]  # none: a table is named
            return not (timed and any(plain))
        if other.is_keyword("period"):
            if j == i + 1 and item.lower.endswith("ed"):  # `logged last week`
                return True
            # `amount due in May`: the date is that of the amount, and is not asked for
            dates = any(c.role == "date" for c, _ in mention.columns[:1]) and q.sort(i - 1) == "column"
            return dates and not {t.lemma for t in q.tokens[item.start : item.end]} & _DATES_ASKED_FOR
        if other.is_keyword("neg") or (
            other.is_keyword("relative") and other.lower in ("is", "are", "was", "were", "named", "called")
        ):
            continue
        if other.is_keyword("either", "both"):
            continue
        if sort == "literal" or sort == "number":
            return True
        if sort == "value":
            assert other.mention is not None
            direct = all(x.lower in LINKS for x in q.items[i + 1 : j])
            return bool(other.mention.stored_in & keys) or (direct and not in_head)
        if (sort == "word" and other.lower in LINKS) or other.lower in (":", "="):
            continue
        return False
    return False


def deed(q: LinkedQuestion, i: int) -> bool:
    """`kg landed`, `amount paid`: behind a figure, a participle that is a date says what was done to it; it is nothing
    to show or to sort by."""
    named = q.mention(i).columns[:1] if q.sort(i) == "column" else ()
    behind = q.mention(i - 1).columns[:1] if q.sort(i - 1) == "column" else ()
    return (
        any(column.role == "date" for column, _ in named)
        and participle(q.items[i].lower)
        and any(column.is_figure and not column.foreign for column, _ in behind)
    )


_NEXT_CLAUSE = word_set("and who that which whose")


def target_column(q: LinkedQuestion, c: Context, i: int, reach: int = 5) -> ColumnWord | None:
    """The column that the clause at item i refers to, if it was named just before."""
    if c.last_column is None:
        return None
    at, column = c.last_column
    between = (x.lower for x in q.items[at + 1 : i] if x.is_keyword("and", "relative"))
    return column if i - at <= reach and not (c.in_head and not _NEXT_CLAUSE.isdisjoint(between)) else None


def flag(q: LinkedQuestion, column: ColumnWord, negated: bool) -> Finding:
    """`that have wifi`, `without a phone`: a yes-or-no column, or a column that is set or NULL."""
    left = Expression(column=column.key)
    condition = says(q.values, column, not negated)
    if condition is None and column.is_figure:
        facts = q.values.facts(*column.key)
        if facts.least == 0 or _STOCKS & set(column.words):  # rows with `no tip` have one of 0
            none = Condition(left, "=", (0,))
            if negated and facts.nulls:  # or none is known
                unknown = Condition(left, "null")
                return Finding(clauses=((none, unknown),), changes={"negated": False}, doubts=("qualifier_open",))
            condition = none if negated else Condition(left, ">", (0,))
    condition = condition or Condition(left, "null" if negated else "not null")
    return Finding(clauses=((condition,),), changes={"negated": False})


_STOCKS = word_set("stock inventory quantity")


def stock(q: LinkedQuestion, c: Context, out: bool) -> Finding:
    """`out of stock`, `in stock`: a stock figure that is zero, or above zero."""
    for table in [*c.entities, *q.named]:
        for column in q.vocabulary.by_table[table]:
            if column.role == "number" and {"stock", "inventory"} & set(column.words):
                condition = Condition(Expression(column=column.key), "=" if out else ">", (0,))
                return Finding(clauses=((condition,),), changes={"in_head": False})
    return Finding(doubts=("stock_open",))


FLIPPED: dict[str, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CURRENCIES = word_set("euro euros dollar dollars usd eur pounds gbp yen")
_SOLD = word_set("sold sells sell made earned generated took")
Target = tuple[Expression, Finding]
"""What is compared, and the words that name it."""


def counted_or_summed(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    """What the number at item j counts or sums by its words alone: `3 times`, `spent more than 100`."""
    k = _after_number(q, j)
    if q.word(k) in ("times", "time", "occasions") and c.entities:
        # `more than 3 times`: rows of the most recently named table are counted
        repeated = [t for t in c.entities if t != (c.head_entity or c.entities[0])]
        return Expression("count", table=(repeated or c.entities)[-1]), Finding((k,))
    return _amount_of_verb(q, c, i, j, k) or _sum_of_measure(q, c, i, k)


def _after_number(q: LinkedQuestion, j: int) -> int:
    """The item after the number at j, skipping function words."""
    k = j + 1
    while k < len(q.items) and (
        (q.sort(k) == "word" and q.items[k].lower in ("of", "different", "distinct", "the", "in"))
        or q.items[k].is_keyword("distinct", "post")
    ):
        k += 1
    return k


def _amount_of_verb(q: LinkedQuestion, c: Context, i: int, j: int, k: int) -> Target | None:
    """`spent more than 100`, `sold over $5,000`: the verb determines the amount that is summed."""
    money = q.word(k) in _CURRENCIES or "$" in q.tokens[q.items[j].start].text
    amount = c.verb_measure
    if money and amount is None and any(x.lower in _SOLD for x in q.items[max(0, i - 3) : i]):
        amount = measure(q, c.entities, "sale")
    if amount is None or q.sort(k) in ("table", "column"):
        return None
    summed = Expression("sum", amount.column, factor=amount.factor)
    return summed, Finding(changes={"verb_measure": amount})


def _sum_of_measure(q: LinkedQuestion, c: Context, i: int, k: int) -> Target | None:
    """`customers with revenue above 100`: a measure that each customer has in several rows is summed."""
    mention = q.items[i - 1].mention if i and i - 1 in c.consumed else None
    if mention is None or not mention.measure or q.sort(k) in ("table", "column") or not c.entities:
        return None
    amount = measure(q, c.entities, mention.measure)
    if amount is None or amount.column is None or not q.many_of(c.head_entity or c.entities[0], amount.column[0]):
        return None
    return Expression("sum", amount.column, factor=amount.factor), Finding()


def named_target(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    """The target named around the number: the column before it, or the column or the counted rows after it; otherwise
    what was compared or shown just before."""
    at, numbered = c.last_column or (-1, None)
    named = numbered is not None and numbered.role == "id" and numbered.words[-1] not in ("id", "number", "code", "key")
    if numbered is not None and named and q.plural(at):  # `respondents over 60`: what numbers them is not compared
        ages = [x for x in q.vocabulary.by_table[numbered.table] if x.words == ("age",) and x.numeric]
        return (Expression(column=ages[0].key), Finding()) if ages else None
    if (beside := _beside_number(q, c, i, j)) is not None:
        return beside
    # `over 5 and under 10` compares the same column twice; otherwise the number shown is compared
    last = c.sink[-1][-1] if c.sink else None
    joined = any(x.is_keyword("and", "or", "relative") for x in q.items[max(0, i - 3) : i])
    if joined and isinstance(last, Condition) and last.operator in FLIPPED:
        return last.left, Finding()
    shown = c.query.select[-1] if i > 0 and c.query.select else None
    column = q.plain_column(shown)
    return (shown, Finding()) if shown is not None and column is not None and column.numeric else None


def _beside_number(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    k = _after_number(q, j)
    if q.sort(k) in ("qualifier", "value") and q.sort(k + 1) == "table":  # `two or more unpaid bills`
        return _rows_of(q.table_of(k + 1), k + 1)
    before, after = target_column(q, c, i), q.sort(k)
    named_at = c.last_column[0] if c.last_column else -9
    mention = q.items[named_at].mention if named_at >= 0 else None
    weak = mention is not None and bool(mention.columns) and mention.columns[0][1] < 0.9  # `advises` for an advisor
    loose = before is None or before.role != "number" or named_at < i - 1 or before.foreign or weak
    if after == "column" and k == j + 1 and before is not None and named_at < i - 1:
        figure = c.column_of(k, "number")  # `the average fare for more than 3 passengers`
        if figure.is_figure and figure.key != before.key:
            return Expression(column=figure.key), Finding((k,))
    beside = after == "table" and k == j + 1 and loose
    if not beside and before is not None and (before.numeric or after not in ("table", "column")):
        return Expression(column=before.key), Finding()
    if after == "table":
        return _rows_of(q.table_of(k), k)
    if after == "column":
        # A column of numbers is compared directly; for any other column its distinct values are counted
        column = c.column_of(k)
        if column.numeric and column.role != "id":
            return Expression(column=column.key), Finding((k,))
        return Expression("count", column=column.key, table=column.table, distinct=True), Finding((k,))
    mention = q.items[k].mention if after == "measure" else None
    amount = measure(q, c.entities, mention.measure) if mention is not None else None
    if amount is None:
        return None
    return Expression("sum", amount.column, factor=amount.factor), Finding((k,))


def _rows_of(table: str, k: int) -> Target:
    return Expression("count", table=table), Finding((k,), (table,))


_COPULAS = word_set("is are was were")


def referred(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`employees and the name of their manager`: the column refers to another row of its own table; that row is
    shown."""
    mention = q.mention(i)
    if q.tokens[q.items[i].end - 1].lower in ("id", "ids", "key", "number", "code") or c.counting or c.functions:
        return None
    key = _own_key(q, mention, c.entities)
    if key is None:
        return None
    named = q.named_by(key.left)
    between = q.items[c.last_column[0] + 1 : i] if c.last_column is not None else []
    whose = bool(between) and all(x.lower in ("of", "the", "their", "his", "her", "or", "'s") for x in between)

    def is_name(e: Expression) -> bool:
        return whose and e.column is not None and not e.via and q.vocabulary.columns[e.column].role == "name"

    names = list(takewhile(is_name, reversed(c.query.select)))
    first = named if len(names) == len(c.query.select) else ()
    others = [replace(e, via=key.left_columns[0]) for e in named]
    used = [k for k in (i + 1, i + 2) if q.word(k) in ("'s", "name", "names")]
    return Finding((*used, i), hidden=names, shown=(*first, *others))


def _own_key(q: LinkedQuestion, mention: Mention, tables: Collection[str] | None = None) -> Edge | None:
    """The first key among the columns of a mention by which rows, of any table or of these, refer to other rows of
    their own table."""
    columns = (column for column, _ in mention.columns[:6] if tables is None or column.table in tables)
    edges = ((e, column.name) for column in columns for e in q.graph.edges(column.table))
    return next((e for e, name in edges if e.left == e.right and e.left_columns == (name,)), None)


def superior(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`who is the boss of Ada Lovelace`, `who does Ada Lovelace report to`: the row that the named row refers to."""
    mention, following = q.items[i].mention, q.next_mention(i)
    who = q.words[0] in ("who", "whom") and not c.query.select and not c.counting
    of = following is not None and q.sorts[following] == "value" and q.items[i + 1].lower == "of"
    last = following is None and any(t.lower in ("do", "does", "did") for t in q.tokens[1:2])
    if mention is None or not who or not (of or last):
        return None
    key = _own_key(q, mention)
    if key is None:
        return None
    return Finding((i,), (key.left,), tuple(replace(e, via=key.left_columns[0]) for e in q.named_by(key.left)))


def refers_to_named(q: LinkedQuestion, i: int) -> Finding | None:
    """`employees who report to Ada Lovelace`: the column refers to another row of its own table, which is named."""
    mention = q.items[i].mention
    after = [k for k in range(i + 1, min(len(q.items), i + 4)) if q.items[k].lower not in _COPULAS]
    following = q.next_mention(after[0] - 1) if after else None
    if mention is None or following is None or q.sorts[following] != "value" or following > i + 3:
        return None
    key = _own_key(q, mention)
    if key is None:
        return None
    names = {c.key for c in q.vocabulary.by_table[key.left] if c.role == "name"}
    where: list[Condition] = []
    at = following
    while q.sort(at) == "value":
        stored = q.items[at].mention
        hits = [h for h in stored.values if (h.table, h.column) in names] if stored is not None else []
        if not hits:
            break
        names_in_use = {c.left.column for c in where}
        hit = next((h for h in hits if (h.table, h.column) not in names_in_use), hits[0])
        where.append(Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)))
        at += 1
    if not where:
        return None
    named = Query(select=[Expression(column=(key.left, key.right_columns[0]))], where=[(c,) for c in where])
    refers = Condition(Expression(column=(key.left, key.left_columns[0])), "=", (), against=named)
    return Finding((*range(following, at), i), (key.left,), conditions=(refers,))


_THEIR = word_set("their his her its own")
_SIGNS: dict[str, Operator] = {"after": ">", "before": "<"}


def against_reference(q: LinkedQuestion, j: int, operator: str, left: Expression | None) -> Finding | None:
    """`earn more than their manager`: a column is compared with the same column of the row referred to."""
    mention = q.items[j].mention
    if mention is None or left is None or left.column is None or q.items[j - 1].lower not in _THEIR:
        return None
    sign = _SIGNS.get(operator, operator)
    if sign not in (">", "<", ">=", "<=", "=", "<>"):
        return None
    key = _own_key(q, mention, left.column[:1])
    if key is None:
        return None
    compared = Condition(left, sign, (Expression(column=left.column, via=key.left_columns[0]),))  # type: ignore[arg-type]
    return Finding((j,), (key.left,), conditions=(compared,))
