"""Self references: rows that refer to other rows of their own table (`manager_id`).

In: a reading at a mention of the referring column. Out: the other row's name, the rows that refer to a named row, or a
comparison with the other row.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Clause, Condition, Expression, Operator, Query
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from eval.language.lexicon import word_set

_COPULAS = word_set("is are was were")


def referred(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`employees and the name of their manager`: the column refers to another row of its own table; that row is
    shown."""
    mention = q.mention(i)
    if q.tokens[q.items[i].end - 1].lower in ("id", "ids", "key", "number", "code") or c.counting or c.functions:
        return None
    own = (column for column, _ in mention.columns[:6] if column.table in c.entities and _refers_to_own(q, column))
    column = next(own, None)
    if column is None:
        return None
    named = q.named_by(column.table)
    between = q.items[c.last_column[0] + 1 : i] if c.last_column is not None else []
    whose = bool(between) and all(x.lower in ("of", "the", "their", "his", "her", "or", "'s") for x in between)

    def is_name(e: Expression) -> bool:
        return whose and e.column is not None and not e.via and q.vocabulary.columns[e.column].role == "name"

    names = list(takewhile(is_name, reversed(c.query.select)))
    first = named if len(names) == len(c.query.select) else ()
    others = [replace(e, via=column.name) for e in named]
    used = [k for k in (i + 1, i + 2) if k < len(q.items) and q.items[k].lower in ("'s", "name", "names")]
    return Finding((*used, i), hidden=names, shown=(*first, *others))


def _refers_to_own(q: LinkedQuestion, column: ColumnWord) -> bool:
    """Whether the column refers to other rows of its own table."""
    return any(e.left == e.right and e.left_columns == (column.name,) for e in q.graph.edges(column.table))


def superior(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`who is the boss of Ada Lovelace`, `who does Ada Lovelace report to`: the row that the named row refers to."""
    mention, following = q.items[i].mention, q.next_mention(i)
    who = q.tokens[0].lower in ("who", "whom") and not c.query.select and not c.counting
    of = following is not None and q.sorts[following] == "value" and q.items[i + 1].lower == "of"
    last = following is None and any(t.lower in ("do", "does", "did") for t in q.tokens[1:2])
    if mention is None or not who or not (of or last):
        return None
    for column, _ in mention.columns[:6]:
        if _refers_to_own(q, column):
            named = tuple(replace(e, via=column.name) for e in q.named_by(column.table))
            return Finding((i,), (column.table,), named)
    return None


def refers_to_named(q: LinkedQuestion, i: int) -> Finding | None:
    """`employees who report to Ada Lovelace`: the column refers to another row of its own table, which is named."""
    mention = q.items[i].mention
    after = [k for k in range(i + 1, min(len(q.items), i + 4)) if q.items[k].lower not in _COPULAS]
    following = q.next_mention(after[0] - 1) if after else None
    if mention is None or following is None or q.sorts[following] != "value" or following > i + 3:
        return None
    for column, _ in mention.columns[:6]:
        tied = [e for e in q.graph.edges(column.table) if e.left == e.right and e.left_columns == (column.name,)]
        if not tied:
            continue
        where: list[Clause] = []
        at = following
        while q.sort(at) == "value":
            named = {c.key for c in q.vocabulary.by_table[column.table] if c.role == "name"}
            stored = q.items[at].mention
            hits = [h for h in stored.values if (h.table, h.column) in named] if stored is not None else []
            if not hits:
                break
            names_in_use = {c.left.column for clause in where for c in clause if isinstance(c, Condition)}
            hit = next((h for h in hits if (h.table, h.column) not in names_in_use), hits[0])
            where.append((Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)),))
            at += 1
        if not where:
            return None
        key = Query(select=[Expression(column=(column.table, tied[0].right_columns[0]))], where=where)
        refers = Condition(Expression(column=column.key), "=", (), against=key)
        return Finding((*range(following, at), i), (column.table,), conditions=(refers,))
    return None


_THEIR = word_set("their his her its own the")
_SIGNS: dict[str, Operator] = {"after": ">", "before": "<"}


def against_reference(q: LinkedQuestion, j: int, operator: str, left: Expression | None) -> Finding | None:
    """`earn more than their manager`: a column is compared with the same column of the row referred to."""
    mention = q.items[j].mention
    if mention is None or left is None or left.column is None or q.items[j - 1].lower not in _THEIR - {"the"}:
        return None
    sign = _SIGNS.get(operator, operator)
    if sign not in (">", "<", ">=", "<=", "=", "<>"):
        return None
    for column, _ in mention.columns[:6]:
        if column.table == left.column[0] and _refers_to_own(q, column):
            other = Expression(column=left.column, via=column.name)
            compared = Condition(left, sign, (other,))  # type: ignore[arg-type]
            return Finding((j,), (column.table,), conditions=(compared,))
    return None
