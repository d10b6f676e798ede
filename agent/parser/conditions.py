"""Conditions: how a restriction joins the query, and which column a clause refers to.

The other rules (stored values, comparisons, time conditions) add their conditions through `add`.
"""

from __future__ import annotations

import re

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import (
    Clause,
    Condition,
    Expression,
    Membership,
    Operator,
)
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, ReadingState
from eval.language.lexicon import word_set

OPPOSITE: dict[str, Operator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "<>", "<>": "=", "like": "not like",
                                  "between": "not between"}  # fmt: skip
LINKS = word_set(
    "is are was were be of the a an than to as equal named called with by in at on for value : = ( that has "
    "have from its their all any"
)
_DENIALS = ("is not", "are not", "was not", "were not")
_YES = ("yes", "y", "true", "t", "1")
_NO = ("no", "n", "false", "f", "0")


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
    equal = condition.operator in ("=", "like")
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
            return True
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


_COUNTED = word_set(
    "founded established built released opened created sold played lost won used scored received ordered shipped "
    "produced printed employed visited owned bought born hired joined started ended published issued launched added "
    "earned speed need seed feed bed weed reed breed unemployed acquired updated modified completed passed failed"
)
"""Numbers that end like a participle without being a state."""
_STATES = word_set("discontinued deleted archived disabled enabled blocked active inactive available unavailable "
                   "verified approved published cancelled canceled closed retired hidden locked")  # fmt: skip


def is_flag(values: ValueIndex, column: ColumnWord) -> bool:
    """Whether a column only says yes or no: by its type, by its values, or as an integer named after a state."""
    integer = column.role == "number" and re.search("int|bit|number", column.column.type, re.IGNORECASE)
    if column.role == "flag" or (integer and len(column.words) == 1 and _state(column.words[0])):
        return True
    known = [v.lower() for v in values.values(*column.key)]
    return 1 <= len(known) <= 3 and all(v in _YES + _NO for v in known)


def _state(word: str) -> bool:
    described = word.endswith(_DESCRIBING) and word not in _NO_STATES
    return word in _STATES or described or (word.endswith("ed") and word not in _COUNTED)


_DESCRIBING = ("ous", "able", "ible", "ergic", "organic")
"""Endings of adjectives that name a yes-or-no column (`hazardous`, `taxable`)."""
_NO_STATES = word_set("previous various table cable variable")


def flag(q: LinkedQuestion, r: ReadingState, column: ColumnWord) -> None:
    """`that have wifi`, `without a phone`: a yes-or-no column, or a column that is set or NULL."""
    wanted = _NO if r.negated else _YES
    left = Expression(column=column.key)
    known = q.values.values(*column.key)
    stored = next((v for v in known if v.lower() in wanted), None)
    if stored is not None:
        r.sink.append((Condition(left, "=", (int(stored) if column.numeric and stored in "01" else stored,)),))
    elif is_flag(q.values, column) and (other := next((v for v in known if v.lower() in _YES + _NO), None)):
        r.sink.append((Condition(left, "<>", (other,)),))
    elif re.search("bool", column.column.type, re.IGNORECASE):
        r.sink.append((Condition(left, "=", (not r.negated,)),))
    elif column.numeric and is_flag(q.values, column):
        r.sink.append((Condition(left, "=", (0 if r.negated else 1,)),))
    elif column.numeric and column.role == "number" and {"stock", "inventory", "quantity"} & set(column.words):
        r.sink.append((Condition(left, "=" if r.negated else ">", (0,)),))
    else:
        r.sink.append((Condition(left, "null" if r.negated else "not null"),))
    r.negated = False


def stock(q: LinkedQuestion, r: ReadingState, out: bool) -> None:
    """`out of stock`, `in stock`: a stock figure that is zero, or above zero."""
    for table in [*r.entities, *q.named]:
        for column in q.vocabulary.by_table[table]:
            if column.role == "number" and {"stock", "inventory"} & set(column.words):
                operator: Operator = "=" if out else ">"
                r.sink.append((Condition(Expression(column=column.key), operator, (0,)),))
                r.in_head = False
                return
    r.draft.doubt("stock_open")
