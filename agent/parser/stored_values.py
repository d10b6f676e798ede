"""Stored values, quoted texts and patterns (`contains "x"`) become conditions.

In: a reading at such an item. Out: conditions in its query.
"""

from __future__ import annotations

from agent.parser import periods
from agent.parser.conditions import LINKS, add, target_column
from agent.parser.interpretation import (
    Condition,
    Expression,
)
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, ReadingState
from agent.parser.time_conditions import add_period


def value(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """A stored value restricts the rows to those that have it."""
    mention = q.items[i].mention
    assert mention is not None
    beside = q.items[i - 1].lower if i else ""
    if mention.value_score < 0.85 and beside in ("their", "its", "and their", "and its", "with their", "and the"):
        r.draft.doubt("value_beside_list")
        return
    near = r.near_tables(i)
    target = target_column(q, r, i)
    if target is None and r.value_column is not None and i - r.value_column[0] <= 4:
        between = q.items[r.value_column[0] + 1 : i]
        if any(x.is_keyword("or", "and") or x.lower in (",", "not", "nor") for x in between):
            earlier = r.value_column[1]
            if any((h.table, h.column) == earlier.key for h in mention.values):
                target = earlier
    if target is None and i + 1 < len(q.items) and q.sorts[i + 1] == "column":
        following = q.items[i + 1].mention
        assert following is not None
        hits = {(h.table, h.column) for h in mention.values}
        for column, score in following.columns:
            if column.key in hits and score >= 0.7:
                target = column
                r.use(i + 1)
                break
    for k in (i - 1, i + 1):
        for table in _named_together(q, i, k):
            near[table] = near.get(table, 0.0) + 0.4
    hit = r.choose_value(mention.values, near, target)
    if target is not None and (hit.table, hit.column) != target.key:
        r.draft.doubt("value_other_column")
    if hit.score < 0.85:
        r.draft.doubt("value_fuzzy", 1.0 if hit.score < 0.7 else 0.5)
    rivals = {(h.table, h.column) for h in mention.values if h.score >= hit.score - 0.01} - {(hit.table, hit.column)}
    if rivals and target is None:
        r.draft.doubt("value_ambiguous")
    r.use(i)
    same = {h.value for h in mention.values if (h.table, h.column) == (hit.table, hit.column) and h.score == hit.score}
    left = Expression(column=(hit.table, hit.column))
    text = mention.text
    if len(same) > 1 and hit.score < 0.9:
        add(q, r, Condition(left, "like", (f"%{text}%",)))
    else:
        add(q, r, Condition(left, "=", (hit.value,)))
        _other_spellings(q, r, Condition(left, "=", (hit.value,)))
    word = q.vocabulary.columns.get((hit.table, hit.column))
    r.last_column = None
    if word is not None:
        r.value_column = (i, word)


_SPELLINGS = 5


def _other_spellings(q: LinkedQuestion, r: ReadingState, condition: Condition) -> None:
    """A value that is stored in several ways (`Leeds`, `leeds`) is meant in all of them."""
    if not r.sink or r.sink[-1][-1] != condition or condition.left.column is None:
        return
    value = str(condition.values[0])
    plain = value.strip().casefold()
    others = [v for v in q.values.values(*condition.left.column) if v != value and v.strip().casefold() == plain]
    r.sink[-1] = (*r.sink[-1], *(Condition(condition.left, "=", (v,)) for v in others[:_SPELLINGS]))


def _named_together(q: LinkedQuestion, i: int, k: int) -> set[str]:
    """Tables that hold the values at items i and k in two columns of names (`Ada` `Lovelace`)."""
    beside = q.items[k].mention if 0 <= k < len(q.items) and q.sorts[k] == "value" else None
    own = q.items[i].mention
    if beside is None or own is None:
        return set()
    names = {(h.table, h.column) for h in beside.values if _is_name(q, h.table, h.column)}
    return {
        h.table
        for h in own.values
        if _is_name(q, h.table, h.column) and any(t == h.table and c != h.column for t, c in names)
    }


def _is_name(q: LinkedQuestion, table: str, column: str) -> bool:
    word = q.vocabulary.columns.get((table, column))
    return word is not None and word.words[-1] == "name"


def literal(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """A quoted text: a stored value if there is one, otherwise compared literally with the column just named."""
    mention = q.items[i].mention
    assert mention is not None
    if _another_pattern(q, r, i, mention.text):
        return
    period = periods.period_at(q.tokens, q.items[i].start, q.today)
    if period is not None:
        add_period(q, r, i, period, "=")
        return
    column = target_column(q, r, i, 6)
    if column is None:
        r.draft.doubt("literal_without_column")
        return
    r.use(i)
    r.draft.doubt("literal_unknown")
    stored = q.values.find(mention.text, fuzzy=True)
    partial = [h for h in stored if (h.table, h.column) == column.key]
    if partial:
        add(q, r, Condition(Expression(column=column.key), "=", (partial[0].value,)))
    else:
        add(q, r, Condition(Expression(column=column.key), "=", (mention.text,)))


def _another_pattern(q: LinkedQuestion, r: ReadingState, i: int, text: str) -> bool:
    """`starting with 'A' or 'B'`: the second text is matched like the first."""
    last = r.sink[-1][-1] if r.sink else None
    if i < 2 or i - 2 not in r.consumed or not q.items[i - 1].is_keyword("or", "and"):
        return False
    if not isinstance(last, Condition) or last.operator != "like":
        return False
    before, shape = q.items[i - 2], str(last.values[0])
    earlier = " ".join(t.text for t in q.tokens[before.start : before.end])
    if shape.strip("%") != earlier:
        return False
    r.use(i)
    another = Condition(last.left, "like", (shape.replace(earlier, text),))
    if q.items[i - 1].is_keyword("or") or shape != f"%{earlier}%":
        r.sink[-1] = (*r.sink[-1], another)
        r.or_next = False
    else:
        r.sink.append((another,))
    return True


def pattern(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """`contains "x"`, `starts with x`."""
    item = q.items[i]
    assert item.keyword is not None
    argument = item.keyword.argument
    for j in range(i + 1, min(i + 5, len(q.items))):
        other = q.items[j]
        if q.sorts[j] in ("literal", "value", "word", "column", "table", "number") and (
            q.sorts[j] != "word"
            or (len(other.lower) == 1 and (q.tokens[other.start].capital or "letter" in q.items[j - 1].lower))
            or other.lower
            not in LINKS | {"word", "letter", "substring", "string", "letters", "either", "phrase", "prefix"}
        ):
            break
    else:
        return Finding()
    text = " ".join(t.text for t in q.tokens[other.start : other.end])
    spelled = any(w in item.lower for w in ("word", "letter", "substring", "string"))
    if (
        (q.sorts[j] == "number" or (item.lower in ("include", "have", "contain")))
        and not spelled
        and q.sorts[j] != "literal"
    ):
        return Finding()
    if q.sorts[j] in ("table", "column") and not spelled and item.lower in ("contains", "contain", "containing"):
        return Finding()
    column = target_column(q, c, i, 8)
    used: tuple[int, ...] = ()
    doubts: tuple[str, ...] = ()
    for k in range(j + 1, min(j + 5, len(q.items))):
        if q.sorts[k] == "column" and q.items[k - 1].lower in ("its", "their", "the", "in", "a", "his"):
            column = c.column_of(k)
            used = (k,)
            break
    if column is None and c.query.select and c.query.select[-1].column and not c.query.select[-1].function:
        last = q.vocabulary.columns[c.query.select[-1].column]
        column = last if not last.numeric else None
    if column is None and c.entities:
        shown = q.naming_columns(c.entities[-1])
        column = shown[0] if shown else None
        doubts = ("pattern_column_guessed",)
    if column is None or (item.lower in ("like", "contain", "contains", "containing", "includes") and column.numeric):
        return Finding(used, doubts=doubts)
    shape = {"contains": f"%{text}%", "starts": f"{text}%", "ends": f"%{text}"}[argument]
    condition = Condition(Expression(column=column.key), "like", (shape,))
    return Finding((*used, j), conditions=(condition,), doubts=doubts, changes={"last_column": (j, column)})
