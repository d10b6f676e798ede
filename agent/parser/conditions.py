"""Conditions: how a restriction joins the query, and which column a clause refers to.

The other rules (stored values, comparisons, time conditions) add their conditions through `add`.
"""

from __future__ import annotations

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import flags
from agent.parser.interpretation import (
    Clause,
    Condition,
    Expression,
    Membership,
    Operator,
)
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, ReadingState
from eval.language.lexicon import word_set

OPPOSITE: dict[str, Operator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "<>", "<>": "=", "like": "not like",
                                  "between": "not between"}  # fmt: skip
LINKS = word_set(
    "is are was were be of the a an than to as equal named called with by in at on for value : = ( that has "
    "have from its their all any"
)
_DENIALS = ("is not", "are not", "was not", "were not")


def _absent_value(q: LinkedQuestion, r: ReadingState, condition: Condition) -> bool:
    """`customers who never bought tea`: when the entity has many such rows, none of them may have the value."""
    column = condition.left.column
    entity = r.main_entity
    if (
        column is None
        or condition.left.function
        or condition.operator not in ("=", "like")
        or condition.against is not None
        or r.sink is not r.query.where
        or entity in ("", column[0])
        or r.counting
        or not q.many_of(r.main_entity, column[0])
    ):
        return False
    where: list[Clause] = [(condition,)]
    r.query.where.append((Membership(entity, column[0], where, True),))  # type: ignore[arg-type]
    r.sink = where
    r.denied_column = column
    if not r.excepting:
        r.negated = False
    r.in_head = r.in_head and not (r.query.select or r.entities)
    return True


def _apart(one: Condition, other: Condition) -> bool:
    """Whether two periods have no day in common: `in 2024 and 2025` is either year."""
    return (
        one.half_open and other.half_open and (one.values[1] <= other.values[0] or other.values[1] <= one.values[0])  # type: ignore[operator]
    )


def add(q: LinkedQuestion, r: ReadingState, condition: Condition) -> None:
    """Add a condition; it is joined to the last one by OR if the words say so."""
    if r.denied_column and condition.left.column != r.denied_column:
        r.sink, r.denied_column = r.query.where, None
    if r.negated and not r.denied_column and _absent_value(q, r, condition):
        return
    if r.negated and r.denied_column:
        r.negated = False
    if r.negated:
        negated = OPPOSITE.get(condition.operator)
        if negated is not None:
            condition = Condition(condition.left, negated, condition.values, condition.against, condition.half_open)
        if not r.excepting:
            r.negated = False
    if condition.left.function:
        r.query.having.append(condition)
        return
    previous = r.sink[-1] if r.sink else None
    last = previous[-1] if previous else None
    same = isinstance(last, Condition) and last.left == condition.left and last.operator == condition.operator
    equal = condition.operator in ("=", "like") or (isinstance(last, Condition) and _apart(last, condition))
    if previous is not None and (r.or_next or (same and equal and not r.both and not r.query.intersect)):
        r.sink[-1] = (*previous, condition)
        if not r.or_next:
            r.draft.doubt("and_read_as_or")
    elif previous is not None and same and equal and r.both:
        r.sink.append((condition,))
        r.draft.doubt("both_same_column")
    else:
        r.sink.append((condition,))
    r.or_next = False
    r.in_head = r.in_head and not (r.query.select or r.entities)


def condition_follows(q: LinkedQuestion, in_head: bool, i: int) -> bool:
    """Whether the column at item i is compared with something in the words that follow."""
    item = q.items[i]
    mention = item.mention
    assert mention is not None
    keys = {c.key for c, _ in mention.columns}
    for j in range(i + 1, min(len(q.items), i + 7)):
        other, sort = q.items[j], q.sorts[j]
        if other.is_keyword("cmp") and other.lower in _DENIALS:
            stored = next(
                (x.mention for k, x in enumerate(q.items[j + 1 : j + 4], j + 1) if q.sorts[k] == "value"), None
            )
            return stored is None or any((h.table, h.column) in keys for h in stored.values)
        if other.is_keyword("both") and other.lower != "both":
            return False
        if other.is_keyword("cmp", "cmp_adj", "like"):
            timed = other.keyword is not None and other.keyword.argument in ("after", "before")
            return not timed or mention.columns[0][0].role not in ("text", "name", "flag")
        if j == i + 1 and other.is_keyword("period") and item.lower.endswith("ed"):
            return True
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
            return any((h.table, h.column) in keys for h in other.mention.values) or (direct and not in_head)
        if (sort == "word" and other.lower in LINKS) or other.lower in (":", "="):
            continue
        return False
    return False


def target_column(q: LinkedQuestion, c: Context, i: int, reach: int = 5) -> ColumnWord | None:
    """The column that the clause at item i refers to, if it was named just before."""
    if c.last_column is None:
        return None
    at, column = c.last_column
    if i - at > reach:
        return None
    if (
        any(
            x.is_keyword("and", "relative") and x.lower in ("and", "who", "that", "which", "whose")
            for x in q.items[at + 1 : i]
        )
        and c.in_head
    ):
        return None
    return column


def flag(q: LinkedQuestion, c: Context, column: ColumnWord) -> Finding:
    """`that have wifi`, `without a phone`: a yes-or-no column, or a column that is set or NULL."""
    left = Expression(column=column.key)
    condition = flags.says(q.values, column, not c.negated)
    if condition is None and column.numeric and column.role == "number" and _STOCKS & set(column.words):
        condition = Condition(left, "=" if c.negated else ">", (0,))
    condition = condition or Condition(left, "null" if c.negated else "not null")
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
