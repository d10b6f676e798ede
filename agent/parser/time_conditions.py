"""Time conditions: periods in a question become conditions on a date or year column, calendar words become groups.

In: a reading at a period. Out: conditions and groups in its query.
"""

from __future__ import annotations

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import periods
from agent.parser.conditions import add, target_column
from agent.parser.interpretation import (
    Condition,
    Expression,
    Operator,
)
from agent.parser.state import ReadingState
from eval.language.inflection import root, stem


def period(r: ReadingState, i: int) -> bool:
    """`in March 2024`, `last month`: restrict the date column of the current tables."""
    found = periods.period_at(r.tokens, r.items[i].start, r.today)
    if found is None:
        return False
    if found.year_only is not None and not found.relative and not _year_here(r, i):
        return False
    return add_period(r, i, found, "=")


def _year_here(r: ReadingState, i: int) -> bool:
    before = r.items[i - 1].lower if i else ""
    return (
        before
        in (
            "in",
            "of",
            "year",
            "for",
            "during",
            "from",
            "since",
            "the",
            "by",
            "and",
            "or",
            ",",
            "to",
            "until",
            "on",
            "year is",
            "is",
        )
        or i == 0
    )


def add_period(r: ReadingState, i: int, found: periods.Period, operator: str) -> bool:
    column = date_column(r, i, found.year_only is not None and operator == "=")
    if column is None:
        return False
    end = r.items[i].start + found.tokens
    for j in range(i, len(r.items)):
        if r.items[j].start < end:
            r.use(j)
    if found.relative:
        r.draft.notes.append(f"{found.words} is taken from today's date")
    expression = Expression(column=column.key)
    if column.role == "year":
        year: object = found.start.year if column.numeric else str(found.start.year)
        if found.year_only is None:
            r.draft.doubt("period_cut_to_year")
        simple: Operator = {"=": "=", "after": ">", "since": ">=", "before": "<", "until": "<="}[operator]  # type: ignore[assignment]
        add(r, Condition(expression, simple, (year,)))
    elif operator == "=":
        add(r, Condition(expression, "between", (found.start, found.end), half_open=True))
    elif operator in ("after", "since"):
        bound = found.start if operator == "since" else found.end
        add(r, Condition(expression, ">=", (bound,)))
    else:
        bound = found.end if operator == "until" else found.start
        add(r, Condition(expression, "<", (bound,)))
    r.last_column = (i, column)
    return True


def date_column(r: ReadingState, i: int, whole_year: bool = False) -> ColumnWord | None:
    """The date or year column that a period applies to: the one just named, otherwise the best of the current
    tables."""
    column = target_column(r, i, 6)
    if column is not None and column.role in ("date", "year"):
        return column
    tables_named = {p for k, x in enumerate(r.items) if r.sorts[k] == "table" for p in range(x.start, x.end)}
    at = r.items[i].start
    before = {
        r.tokens[p].stem for p in range(max(0, at - 6), at) if r.tokens[p].kind == "word" and p not in tables_named
    }
    all_words = {t.stem for t in r.tokens if t.kind == "word"}
    near = r.near_tables(i)
    tables = list(
        dict.fromkeys(
            [
                *reversed(r.entities),
                *r.named,
                *(e.column[0] for e in r.query.select if e.column),
                *(c[0].left.column[0] for c in r.query.where if isinstance(c[0], Condition) and c[0].left.column),
            ]
        )
    )
    candidates: list[tuple[float, ColumnWord]] = []
    for table, columns in r.vocabulary.by_table.items():
        gap = min(r.graph.distance(table, t) for t in tables) if tables else 1.0
        if gap > 2:
            continue
        for word in columns:
            if word.role not in ("date", "year"):
                continue

            hinted = sum(stem(w) in before or root(w) in {root(b) for b in before} for w in word.words)
            hinted_far = sum(stem(w) in all_words for w in word.words)
            score = 2.0 * hinted + 0.5 * hinted_far + near.get(table, 0.0) * 2 - 1.2 * gap
            score += 0.3 * bool(
                set(word.words) & {"order", "created", "start", "sale", "invoice", "payment", "transaction"}
            )
            score -= 0.4 * bool(
                set(word.words)
                & {
                    "birth",
                    "end",
                    "update",
                    "updated",
                    "modified",
                    "last",
                    "valid",
                    "required",
                    "due",
                    "effective",
                    "expiry",
                    "load",
                }
            )
            if gap == 1 and set(r.vocabulary.tables[table].words) & {"date", "calendar", "time", "day"}:
                score += 1.6
            score += 0.2 if (word.role == "year") == whole_year else 0.0
            score += 0.1 if word.words in (("date",), ("year",)) else 0.0
            candidates.append((score, word))
    if not candidates:
        return None
    candidates.sort(key=lambda c: -c[0])
    if len(candidates) > 1 and candidates[1][0] > candidates[0][0] - 0.25:
        r.draft.doubt("date_ambiguous")
    return candidates[0][1]


def between_periods(r: ReadingState, i: int, j: int, first: periods.Period) -> bool:
    end = r.items[j].start + first.tokens
    for k in range(j + 1, min(len(r.items), j + 6)):
        if r.items[k].start < end:
            continue
        second = periods.period_at(r.tokens, r.items[k].start, r.today)
        if second is None:
            continue
        column = date_column(r, i)
        if column is None:
            return False
        stop = r.items[k].start + second.tokens
        for used in range(j, len(r.items)):
            if r.items[used].start < stop:
                r.use(used)
        expression = Expression(column=column.key)
        if column.role == "year":
            years = (first.start.year, second.start.year)
            add(r, Condition(expression, "between", years if column.numeric else tuple(str(y) for y in years)))
        else:
            add(r, Condition(expression, "between", (first.start, second.end), half_open=True))
        return True
    return False


def dated(r: ReadingState, i: int) -> bool:
    """`before the year 2006`: the word alone only introduces a period; its column is chosen together with the
    period."""
    return any(periods.period_at(r.tokens, x.start, r.today) is not None for x in r.items[i + 1 : i + 5]) and bool(
        date_column(r, i)
    )


def calendar_word(r: ReadingState, i: int) -> str:
    """The part of a date that item i names (`month`, `weekday`), if no column has that name."""
    if i >= len(r.items) or r.sorts[i] != "word":
        return ""
    return _CALENDAR.get(r.items[i].lower, "")


_CALENDAR = {
    "years": "year", "yearly": "year", "annually": "year", "months": "month", "monthly": "month", "days": "day",
    "daily": "day", "quarters": "quarter", "quarterly": "quarter", "weeks": "week", "weekly": "week",
    "weekdays": "weekday", "hours": "hour", "hourly": "hour",
    **{unit: unit for unit in ("year", "quarter", "month", "week", "day", "weekday", "hour")},
}  # fmt: skip


def calendar_group(r: ReadingState, i: int) -> bool:
    """`per month`, `of each year`: group by a part of the date."""
    part = calendar_word(r, i)
    if not part or not (r.grouping or r.items[i].lower.endswith("ly")):
        return False
    column = date_column(r, i)
    if column is None or column.role != "date":
        return False
    r.use(i)
    r.grouping = False
    r.groups.append(("column", Expression(column=column.key, part=part)))
    return True
