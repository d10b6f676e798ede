"""Numbers without a comparison: `student 17`, `5 or more books`, `18 years old`, `a limit of 10`, a year.

In: a reading at a number. Out: a condition, a period, or the number of rows to show.
"""

from __future__ import annotations

from agent.parser import periods
from agent.parser.comparisons import age_after, compare
from agent.parser.conditions import add, target_column
from agent.parser.interpretation import Condition, Expression
from agent.parser.state import ReadingState
from agent.parser.time_conditions import add_period, period
from eval.language.lexicon import word_set


def number(r: ReadingState, i: int) -> None:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = r.items[i]
    before = r.items[i - 1].lower if i else ""
    if item.lower == "one" and before in ("the", "that", "which", "this", "no"):
        r.use(i)
        return
    if _first_rows(r, i) or _rows_wanted(r, i) or _numbered(r, i) or _aged(r, i):
        return
    if _before_its_column(r, i) or _at_least_or_most(r, i):
        return
    if before in ("in", "during", "since", "year", "for", "of", "both", "and", "or") and period(r, i):
        return
    column = target_column(r, i)
    if column is not None and not (column.role == "date" and r.tokens[item.start].text.isdecimal()):
        if not any(x.is_keyword("sup", "sup_adj") for x in r.items[max(0, i - 1) : i + 2]):
            r.use(i)
            exact = item.number if column.numeric else r.tokens[item.start].text
            add(r, Condition(Expression(column=column.key), "=", (exact,)))
        return
    if period(r, i):
        return
    following = r.sorts[i + 1] if i + 1 < len(r.items) else ""
    if following == "table" and not r.in_head and item.number is not None:
        compare(r, i, i, "=")
    elif not _stored(r, i):
        _rows_to_show(r, i, following)


def _first_rows(r: ReadingState, i: int) -> bool:
    """`the first 5 books`."""
    figure = r.items[i].number
    if not i or r.items[i - 1].lower != "first" or not isinstance(figure, int) or figure >= 1000:
        return False
    if not r.main_entity and r.sorts[i + 1 : i + 2] != ["table"]:
        return False
    r.use(i - 1)
    r.use(i)
    r.query.limit = r.query.limit or max(1, figure)
    return True


def _before_its_column(r: ReadingState, i: int) -> bool:
    """`with 4 doors`: the column that holds the number follows it."""
    fresh = r.last_column is None or (i > 0 and r.items[i - 1].is_keyword("and"))
    if r.in_head or not fresh or r.sorts[i + 1 : i + 2] != ["column"]:
        return False
    column = r.column_of(i + 1, "number")
    if not column.numeric or column.role != "number":
        return False
    r.use(i)
    r.use(i + 1)
    add(r, Condition(Expression(column=column.key), "=", (r.items[i].number,)))
    return True


def _at_least_or_most(r: ReadingState, i: int) -> bool:
    """`5 or more`, `2010 or later`, `5 books or more`."""
    at = i + 1
    if at + 1 < len(r.items) and r.sorts[at] in ("table", "column", "word") and r.items[at + 1].is_keyword("post"):
        at += 1
    keyword = r.items[at].keyword if at < len(r.items) else None
    if keyword is None or keyword.kind != "post":
        return False
    r.use(at)
    found = periods.period_at(r.tokens, r.items[i].start, r.today) if at == i + 1 else None
    named = target_column(r, i)
    dated = found is not None and (named is None or named.role in ("date", "year"))
    if found is None or not dated or not add_period(r, i, found, "since" if keyword.argument == ">=" else "until"):
        compare(r, i, i, keyword.argument)  # type: ignore[arg-type]
    return True


def _stored(r: ReadingState, i: int) -> bool:
    """A number that is stored as a text (`room 101`)."""
    text = r.tokens[r.items[i].start].text
    hits = r.values.find(text)
    if not hits or r.in_head or r.items[i].kind != "number" or not text.isdecimal():
        return False
    hit = r.choose_value(hits, r.near_tables(i), None)
    r.use(i)
    r.draft.doubt("value_ambiguous")
    add(r, Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)))
    return True


def _rows_to_show(r: ReadingState, i: int, following: str) -> None:
    """`show 5 books` limits the rows; `one` has no meaning."""
    figure, single = r.items[i].number, r.items[i].lower in ("one", "1")
    limits = r.in_head and following in ("table", "column") and not r.query.limit
    if limits and not single and isinstance(figure, int):
        r.query.limit = figure
    if limits or single:
        r.use(i)


_LIMITING = word_set("limit limited limiting")
_AFTER_LIMIT = word_set("of to the it them output results result rows list only at most first")


def _rows_wanted(r: ReadingState, i: int) -> bool:
    """`with a limit of 10`, `limit to 10`: the number of rows to show, if no column is called limit."""
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


def _numbered(r: ReadingState, i: int) -> bool:
    """`student 1004`, `order 17`: a number directly after a singular entity name is its key."""
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


def _aged(r: ReadingState, i: int) -> bool:
    """`18 years old`: the age of the entity asked about."""
    column = age_after(r, i)
    if column is None:
        return False
    r.use(i)
    add(r, Condition(Expression(column=column.key), "=", (r.items[i].number,)))
    return True


def _counted(r: ReadingState, i: int) -> bool:
    """Whether the word at item i is the thing that the number before it counts."""
    return r.sorts[i] in ("table", "column", "measure") or r.items[i].is_keyword("post")
