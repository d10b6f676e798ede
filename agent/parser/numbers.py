"""Numbers without a comparison: `student 17`, `5 or more books`, `18 years old`, `a limit of 10`, a year.

In: a reading at a number. Out: a condition, a period, or the number of rows to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import periods
from agent.parser.comparisons import age_after, compare
from agent.parser.conditions import target_column
from agent.parser.interpretation import Condition, Expression
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from agent.parser.time_conditions import in_period, period
from eval.language.lexicon import word_set


def number(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = q.items[i]
    before = q.items[i - 1].lower if i else ""
    if item.lower == "one" and before in ("the", "that", "which", "this", "no"):
        return Finding((i,))  # `the one`, `no one`: no number is meant
    finding = next((found for rule in _RULES if (found := rule(q, c, i)) is not None), None)
    if finding is not None:
        return finding
    dated = period(q, c, i)
    if dated is not None and before in ("in", "during", "since", "year", "for", "of", "both", "and", "or"):
        return dated
    column = target_column(q, c, i)
    if column is not None and not (column.role == "date" and q.tokens[item.start].text.isdecimal()):
        if any(x.is_keyword("sup", "sup_adj") for x in q.items[max(0, i - 1) : i + 2]):
            return Finding()
        return _equal(column, item.number if column.numeric else q.tokens[item.start].text, i)
    if dated is not None:
        return dated
    following = q.sort(i + 1)
    if following == "table" and not c.in_head and item.number is not None:
        return compare(q, c, i, i, "=")
    if (stored := _stored(q, c, i)) is not None:
        return stored
    # `show 5 books` limits the rows; `one` has no meaning
    figure, single = item.number, item.lower in ("one", "1")
    limits = c.in_head and following in ("table", "column") and not c.query.limit and figure != 0
    limit = figure if limits and not single and isinstance(figure, int) else None
    return Finding((i,) if limits or single else (), limit=limit)


def _equal(column: ColumnWord, number: object, *used: int) -> Finding:
    return Finding(used, conditions=(Condition(Expression(column=column.key), "=", (number,)),))


def _another(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`department 70 or 90`: one more value of the same column."""
    last = c.sink[-1][-1] if c.sink and i > 1 else None
    if not isinstance(last, Condition) or last.operator != "=" or last.values != (q.items[i - 2].number,):
        return None
    if not q.items[i - 1].is_keyword("or", "and") or i - 2 not in c.consumed or q.items[i].number is None:
        return None
    return Finding((i,), conditions=(Condition(last.left, "=", (q.items[i].number,)),))


def _first_rows(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`the first 5 books`."""
    figure = q.items[i].number
    if not i or q.items[i - 1].lower != "first" or not isinstance(figure, int) or figure >= 1000:
        return None
    if not c.main_entity and q.sort(i + 1) != "table":
        return None
    return Finding((i - 1, i), limit=c.query.limit or max(1, figure))


def _before_its_column(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`with 4 doors`: the column that holds the number follows it."""
    if q.sort(i + 1) != "column":
        return None
    fresh = c.last_column is None or (i > 0 and q.items[i - 1].is_keyword("and"))
    described = q.sort(i + 2) == "table" and (c.column_of(i + 1, "number").words[-1] != "year")  # `4 cylinder cars`
    if (c.in_head or not fresh) and not described:
        return None
    column = c.column_of(i + 1, "number")
    return _equal(column, q.items[i].number, i, i + 1) if column.is_figure else None


def _at_least_or_most(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`5 or more`, `2010 or later`, `5 books or more`."""
    at = i + 1
    if at + 1 < len(q.items) and q.sorts[at] in ("table", "column", "word") and q.items[at + 1].is_keyword("post"):
        at += 1
    keyword = q.items[at].keyword if at < len(q.items) else None
    if keyword is None or keyword.kind != "post":
        return None
    named = periods.period_at(q.tokens, q.items[i].start, q.today) if at == i + 1 else None
    column = target_column(q, c, i)
    since = "since" if keyword.argument == ">=" else "until"
    dated = column is None or column.role in ("date", "year")
    finding = in_period(q, c, i, named, since) if named is not None and dated else None
    finding = finding or compare(q, c, i, i, keyword.argument)  # type: ignore[arg-type]
    return replace(finding, used=(*finding.used, at))


def _stored(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """A number that is stored as a text (`room 101`)."""
    text = q.tokens[q.items[i].start].text
    hits = q.values.find(text)
    if not hits or c.in_head or q.items[i].kind != "number" or not text.isdecimal():
        return None
    hit = c.choose_value(hits, c.near_tables(i), None)
    stored = Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,))
    return Finding((i,), conditions=(stored,), doubts=("value_ambiguous",))


_LIMITING = word_set("limit limited limiting")
_AFTER_LIMIT = word_set("of to the it them output results result rows list only at most first")


def _rows_wanted(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`with a limit of 10`, `limit to 10`: the number of rows to show, if no column is called limit."""
    for k in range(i - 1, max(-1, i - 5), -1):
        if q.items[k].lower in _LIMITING and q.sorts[k] == "word":
            wanted = q.items[i].number
            new = isinstance(wanted, int) and wanted > 0 and c.query.limit is None
            return Finding(range(k, i + 1), limit=int(wanted) if new and wanted is not None else None)
        if q.items[k].lower not in _AFTER_LIMIT:
            return None
    return None


def _numbered(q: LinkedQuestion, _: Context, i: int) -> Finding | None:
    """`student 1004`, `order 17`: a number directly after a singular entity name is its key."""
    token, after = q.tokens[q.items[i].start], q.sort(i + 1)
    named = after in ("table", "column") and q.plural(i + 1)
    counts = named or after == "measure" or (after != "" and q.items[i + 1].is_keyword("post"))
    if not i or q.sorts[i - 1] != "table" or not token.text.isdecimal() or counts:
        return None
    key = q.vocabulary.key_column(q.table_of(i - 1))
    return _equal(key, int(token.text), i) if not q.plural(i - 1) and key is not None and key.numeric else None


def _aged(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`18 years old`: the age of the entity asked about."""
    aged = age_after(q, c, i)
    return _equal(aged[0], q.items[i].number, i, *aged[1]) if aged is not None else None


_RULES: tuple[Callable[[LinkedQuestion, Context, int], Finding | None], ...] = (
    _another, _first_rows, _rows_wanted, _numbered, _aged, _before_its_column, _at_least_or_most,
)  # fmt: skip
