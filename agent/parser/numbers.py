"""Numbers without a comparison: `student 17`, `5 or more books`, `18 years old`, `a limit of 10`, a year.

In: a reading at a number. Out: a condition, a period, or the number of rows to show.
"""

from __future__ import annotations

from agent.parser import periods
from agent.parser.comparisons import age_after, compare
from agent.parser.conditions import add, target_column
from agent.parser.interpretation import Condition, Expression
from agent.parser.question import LinkedQuestion
from agent.parser.state import ReadingState
from agent.parser.time_conditions import add_period, period
from eval.language.lexicon import word_set


def number(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = q.items[i]
    before = q.items[i - 1].lower if i else ""
    if item.lower == "one" and before in ("the", "that", "which", "this", "no"):
        r.use(i)
        return
    if _another(q, r, i) or _first_rows(q, r, i) or _rows_wanted(q, r, i) or _numbered(q, r, i) or _aged(q, r, i):
        return
    if _before_its_column(q, r, i) or _at_least_or_most(q, r, i):
        return
    if before in ("in", "during", "since", "year", "for", "of", "both", "and", "or") and period(q, r, i):
        return
    column = target_column(q, r, i)
    if column is not None and not (column.role == "date" and q.tokens[item.start].text.isdecimal()):
        if not any(x.is_keyword("sup", "sup_adj") for x in q.items[max(0, i - 1) : i + 2]):
            r.use(i)
            exact = item.number if column.numeric else q.tokens[item.start].text
            add(q, r, Condition(Expression(column=column.key), "=", (exact,)))
        return
    if period(q, r, i):
        return
    following = q.sorts[i + 1] if i + 1 < len(q.items) else ""
    if following == "table" and not r.in_head and item.number is not None:
        compare(q, r, i, i, "=")
    elif not _stored(q, r, i):
        _rows_to_show(q, r, i, following)


def _another(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`department 70 or 90`: one more value of the same column."""
    last = r.sink[-1][-1] if r.sink and i > 1 else None
    if not isinstance(last, Condition) or last.operator != "=" or last.values != (q.items[i - 2].number,):
        return False
    if not q.items[i - 1].is_keyword("or", "and") or i - 2 not in r.consumed or q.items[i].number is None:
        return False
    r.use(i)
    add(q, r, Condition(last.left, "=", (q.items[i].number,)))
    return True


def _first_rows(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`the first 5 books`."""
    figure = q.items[i].number
    if not i or q.items[i - 1].lower != "first" or not isinstance(figure, int) or figure >= 1000:
        return False
    if not r.main_entity and q.sorts[i + 1 : i + 2] != ("table",):
        return False
    r.use(i - 1)
    r.use(i)
    r.query.limit = r.query.limit or max(1, figure)
    return True


def _before_its_column(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`with 4 doors`: the column that holds the number follows it."""
    fresh = r.last_column is None or (i > 0 and q.items[i - 1].is_keyword("and"))
    if r.in_head or not fresh or q.sorts[i + 1 : i + 2] != ("column",):
        return False
    column = r.column_of(i + 1, "number")
    if not column.numeric or column.role != "number":
        return False
    r.use(i)
    r.use(i + 1)
    add(q, r, Condition(Expression(column=column.key), "=", (q.items[i].number,)))
    return True


def _at_least_or_most(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`5 or more`, `2010 or later`, `5 books or more`."""
    at = i + 1
    if at + 1 < len(q.items) and q.sorts[at] in ("table", "column", "word") and q.items[at + 1].is_keyword("post"):
        at += 1
    keyword = q.items[at].keyword if at < len(q.items) else None
    if keyword is None or keyword.kind != "post":
        return False
    r.use(at)
    period_named = periods.period_at(q.tokens, q.items[i].start, q.today) if at == i + 1 else None
    named = target_column(q, r, i)
    dated = period_named is not None and (named is None or named.role in ("date", "year"))
    if (
        period_named is None
        or not dated
        or not add_period(q, r, i, period_named, "since" if keyword.argument == ">=" else "until")
    ):
        compare(q, r, i, i, keyword.argument)  # type: ignore[arg-type]
    return True


def _stored(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """A number that is stored as a text (`room 101`)."""
    text = q.tokens[q.items[i].start].text
    hits = q.values.find(text)
    if not hits or r.in_head or q.items[i].kind != "number" or not text.isdecimal():
        return False
    hit = r.choose_value(hits, r.near_tables(i), None)
    r.use(i)
    r.draft.doubt("value_ambiguous")
    add(q, r, Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)))
    return True


def _rows_to_show(q: LinkedQuestion, r: ReadingState, i: int, following: str) -> None:
    """`show 5 books` limits the rows; `one` has no meaning."""
    figure, single = q.items[i].number, q.items[i].lower in ("one", "1")
    limits = r.in_head and following in ("table", "column") and not r.query.limit
    if limits and not single and isinstance(figure, int):
        r.query.limit = figure
    if limits or single:
        r.use(i)


_LIMITING = word_set("limit limited limiting")
_AFTER_LIMIT = word_set("of to the it them output results result rows list only at most first")


def _rows_wanted(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`with a limit of 10`, `limit to 10`: the number of rows to show, if no column is called limit."""
    for k in range(i - 1, max(-1, i - 5), -1):
        if q.items[k].lower in _LIMITING and q.sorts[k] == "word":
            for used in range(k, i + 1):
                r.use(used)
            wanted = q.items[i].number
            if isinstance(wanted, int) and wanted > 0 and r.query.limit is None:
                r.query.limit = wanted
                return True
            return False
        if q.items[k].lower not in _AFTER_LIMIT:
            return False
    return False


def _numbered(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`student 1004`, `order 17`: a number directly after a singular entity name is its key."""
    token = q.tokens[q.items[i].start]
    counts = i + 1 < len(q.items) and _counted(q, i + 1)
    if not i or q.sorts[i - 1] != "table" or not token.text.isdecimal() or counts:
        return False
    named = q.tokens[q.items[i - 1].end - 1]
    key = q.vocabulary.key_column(q.table_of(i - 1))
    if named.lower != named.lemma or key is None or not key.numeric:
        return False
    r.use(i)
    add(q, r, Condition(Expression(column=key.key), "=", (int(token.text),)))
    return True


def _aged(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`18 years old`: the age of the entity asked about."""
    column = age_after(q, r, i)
    if column is None:
        return False
    r.use(i)
    add(q, r, Condition(Expression(column=column.key), "=", (q.items[i].number,)))
    return True


def _counted(q: LinkedQuestion, i: int) -> bool:
    """Whether the word at item i is the thing that the number before it counts."""
    return q.sorts[i] in ("table", "column", "measure") or q.items[i].is_keyword("post")
