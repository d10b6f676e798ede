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
from agent.parser.question import LinkedQuestion
from agent.parser.state import ReadingState
from eval.language.inflection import root, stem


def period(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`in March 2024`, `last month`: restrict the date column of the current tables."""
    found = periods.period_at(q.tokens, q.items[i].start, q.today)
    if found is None:
        return False
    if found.year_only is not None and not found.relative and not _year_here(q, i):
        return False
    return add_period(q, r, i, found, "=")


def _year_here(q: LinkedQuestion, i: int) -> bool:
    before = q.items[i - 1].lower if i else ""
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


def add_period(q: LinkedQuestion, r: ReadingState, i: int, found: periods.Period, operator: str) -> bool:
    column = date_column(q, r, i, found.year_only is not None and operator == "=")
    if column is None:
        return False
    end = q.items[i].start + found.tokens
    for j in range(i, len(q.items)):
        if q.items[j].start < end:
            r.use(j)
    if found.relative:
        r.draft.notes.append(f"{found.words} is taken from today's date")
    expression = Expression(column=column.key)
    if column.role == "year":
        year: object = found.start.year if column.numeric else str(found.start.year)
        if found.year_only is None:
            r.draft.doubt("period_cut_to_year")
        simple: Operator = {"=": "=", "after": ">", "since": ">=", "before": "<", "until": "<="}[operator]  # type: ignore[assignment]
        add(q, r, Condition(expression, simple, (year,)))
    elif operator == "=":
        add(q, r, Condition(expression, "between", (found.start, found.end), half_open=True))
    elif operator in ("after", "since"):
        bound = found.start if operator == "since" else found.end
        add(q, r, Condition(expression, ">=", (bound,)))
    else:
        bound = found.end if operator == "until" else found.start
        add(q, r, Condition(expression, "<", (bound,)))
    r.last_column = (i, column)
    return True


def date_column(q: LinkedQuestion, r: ReadingState, i: int, whole_year: bool = False) -> ColumnWord | None:
    """The date or year column that a period applies to: the one just named, otherwise the best of the current
    tables."""
    column = target_column(q, r.in_head, r.last_column, i, 6)
    if column is not None and column.role in ("date", "year"):
        return column
    tables_named = {p for k, x in enumerate(q.items) if q.sorts[k] == "table" for p in range(x.start, x.end)}
    at = q.items[i].start
    before = {
        q.tokens[p].stem for p in range(max(0, at - 6), at) if q.tokens[p].kind == "word" and p not in tables_named
    }
    all_words = {t.stem for t in q.tokens if t.kind == "word"}
    near = r.near_tables(i)
    tables = list(
        dict.fromkeys(
            [
                *reversed(r.entities),
                *q.named,
                *(e.column[0] for e in r.query.select if e.column),
                *(c[0].left.column[0] for c in r.query.where if isinstance(c[0], Condition) and c[0].left.column),
            ]
        )
    )
    candidates: list[tuple[float, ColumnWord]] = []
    for table, columns in q.vocabulary.by_table.items():
        gap = min(q.graph.distance(table, t) for t in tables) if tables else 1.0
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
            if gap == 1 and set(q.vocabulary.tables[table].words) & {"date", "calendar", "time", "day"}:
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


def between_periods(q: LinkedQuestion, r: ReadingState, i: int, j: int, first: periods.Period) -> bool:
    end = q.items[j].start + first.tokens
    for k in range(j + 1, min(len(q.items), j + 6)):
        if q.items[k].start < end:
            continue
        second = periods.period_at(q.tokens, q.items[k].start, q.today)
        if second is None:
            continue
        column = date_column(q, r, i)
        if column is None:
            return False
        stop = q.items[k].start + second.tokens
        for used in range(j, len(q.items)):
            if q.items[used].start < stop:
                r.use(used)
        expression = Expression(column=column.key)
        if column.role == "year":
            years = (first.start.year, second.start.year)
            add(q, r, Condition(expression, "between", years if column.numeric else tuple(str(y) for y in years)))
        else:
            add(q, r, Condition(expression, "between", (first.start, second.end), half_open=True))
        return True
    return False


def dated(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`before the year 2006`: the word alone only introduces a period; its column is chosen together with the
    period."""
    return any(periods.period_at(q.tokens, x.start, q.today) is not None for x in q.items[i + 1 : i + 5]) and bool(
        date_column(q, r, i)
    )


def calendar_word(q: LinkedQuestion, i: int) -> str:
    """The part of a date that item i names (`month`, `weekday`), if no column has that name."""
    if i >= len(q.items) or q.sorts[i] != "word":
        return ""
    return _CALENDAR.get(q.items[i].lower, "")


_CALENDAR = {
    "years": "year", "yearly": "year", "annually": "year", "months": "month", "monthly": "month", "days": "day",
    "daily": "day", "quarters": "quarter", "quarterly": "quarter", "weeks": "week", "weekly": "week",
    "weekdays": "weekday", "hours": "hour", "hourly": "hour",
    **{unit: unit for unit in ("year", "quarter", "month", "week", "day", "weekday", "hour")},
}  # fmt: skip


def calendar_group(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`per month`, `of each year`: group by a part of the date."""
    part = calendar_word(q, i)
    if not part or not (r.grouping or q.items[i].lower.endswith("ly")):
        return False
    column = date_column(q, r, i)
    if column is None or column.role != "date":
        return False
    r.use(i)
    r.grouping = False
    r.groups.append(("column", Expression(column=column.key, part=part)))
    return True
