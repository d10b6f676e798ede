"""Numbers that nothing compares: `student 17`, `5 or more books`, `18 years old`, `a limit of 10`, a year.

In: a `Reader` at a number. Out: a condition, a period, or how many rows to show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline import periods
from agent.models.offline.comparisons import age_after, compare
from agent.models.offline.conditions import add, target_column
from agent.models.offline.interpretation import Condition, Expression
from agent.models.offline.lexicon import word_set
from agent.models.offline.timing import add_period, period

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader


def number(r: Reader, i: int) -> None:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = r.items[i]
    if item.lower == "one" and i and (r.items[i - 1].lower in ("the", "that", "which", "this", "no")):
        r.use(i)
        return
    first = bool(i) and r.items[i - 1].lower == "first" and isinstance(item.number, int) and item.number < 1000
    if first and (r.main_entity or r.sorts[i + 1 : i + 2] == ["table"]):
        assert isinstance(item.number, int)
        r.use(i - 1)
        r.use(i)
        r.query.limit = r.query.limit or max(1, item.number)
        return
    if _rows_wanted(r, i) or _numbered(r, i) or _aged(r, i):
        return
    fresh = r.last_column is None or (i > 0 and r.items[i - 1].is_keyword("and"))
    if not r.in_head and fresh and i + 1 < len(r.items) and r.sorts[i + 1] == "column":
        following_column = r.column_of(i + 1, "number")
        if following_column.numeric and following_column.role == "number":
            r.use(i)
            r.use(i + 1)
            add(r, Condition(Expression(column=following_column.key), "=", (item.number,)))
            return
    if i + 1 < len(r.items) and r.items[i + 1].is_keyword("post"):
        r.use(i + 1)
        keyword = r.items[i + 1].keyword
        assert keyword is not None
        found = periods.period_at(r.tokens, item.start, r.today)
        named = target_column(r, i)
        if (
            found is not None
            and (named is None or named.role in ("date", "year"))
            and add_period(r, i, found, "since" if keyword.argument == ">=" else "until")
        ):
            return
        compare(r, i, i, keyword.argument)  # type: ignore[arg-type]
        return
    if i + 2 < len(r.items) and r.sorts[i + 1] in ("table", "column", "word") and r.items[i + 2].is_keyword("post"):
        keyword = r.items[i + 2].keyword
        assert keyword is not None
        r.use(i + 2)
        compare(r, i, i, keyword.argument)  # type: ignore[arg-type]
        return
    before_word = r.items[i - 1].lower if i else ""
    if before_word in ("in", "during", "since", "year", "for", "of", "both", "and", "or") and period(r, i):
        return
    column = target_column(r, i)
    if column is not None and not (column.role == "date" and r.tokens[item.start].text.isdecimal()):
        if any(x.is_keyword("sup", "sup_adj") for x in r.items[max(0, i - 1) : i + 2]):
            return
        r.use(i)
        exact: object = item.number
        if not column.numeric:
            exact = r.tokens[item.start].text
        add(r, Condition(Expression(column=column.key), "=", (exact,)))
        return
    if period(r, i):
        return
    following = i + 1 if i + 1 < len(r.items) else None
    if following is not None and r.sorts[following] == "table" and not r.in_head and item.number is not None:
        compare(r, i, i, "=")
        return
    hits = r.values.find(r.tokens[item.start].text)
    if hits and not r.in_head and item.kind == "number" and r.tokens[item.start].text.isdecimal():
        hit = r.choose_value(hits, r.near_tables(i), None)
        r.use(i)
        r.draft.doubt("value_ambiguous")
        add(r, Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)))
        return
    if item.lower in ("one", "1") or (
        r.in_head and following is not None and r.sorts[following] in ("table", "column") and not r.query.limit
    ):
        if item.lower not in ("one", "1") and item.number is not None and isinstance(item.number, int) and r.in_head:
            r.query.limit = item.number
        r.use(i)


_LIMITING = word_set("limit limited limiting")
_AFTER_LIMIT = word_set("of to the it them output results result rows list only at most first")


def _rows_wanted(r: Reader, i: int) -> bool:
    """`with a limit of 10`, `limit to 10`: how many rows to show, where no column is called limit."""
    for k in range(i - 1, max(-1, i - 5), -1):
        if r.items[k].lower in _LIMITING and r.sorts[k] == "word":
            for used in range(k, i + 1):
                r.use(used)
            wanted = r.items[i].number
            if isinstance(wanted, int) and wanted > 0 and r.query.limit is None:
                r.query.limit = wanted
                return True
            return False
        if r.items[k].lower not in _AFTER_LIMIT:
            return False
    return False


def _numbered(r: Reader, i: int) -> bool:
    """`student 1004`, `order 17`: a number right after the name of a thing in the singular is its key."""
    token = r.tokens[r.items[i].start]
    counts = i + 1 < len(r.items) and _counted(r, i + 1)
    if not i or r.sorts[i - 1] != "table" or not token.text.isdecimal() or counts:
        return False
    named = r.tokens[r.items[i - 1].end - 1]
    key = r.vocabulary.key_column(r.table_of(i - 1))
    if named.lower != named.lemma or key is None or not key.numeric:
        return False
    r.use(i)
    add(r, Condition(Expression(column=key.key), "=", (int(token.text),)))
    return True


def _aged(r: Reader, i: int) -> bool:
    """`18 years old`: the age of what is asked about."""
    column = age_after(r, i)
    if column is None:
        return False
    r.use(i)
    add(r, Condition(Expression(column=column.key), "=", (r.items[i].number,)))
    return True


def _counted(r: Reader, i: int) -> bool:
    """Whether the word at item i says what a number before it counts."""
    return r.sorts[i] in ("table", "column", "measure") or r.items[i].is_keyword("post")
