"""Time conditions: periods in a question become conditions on a date or year column, calendar words become groups.

In: a reading at a period. Out: conditions and groups.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import periods
from agent.parser.conditions import target_column
from agent.parser.disambiguation import numbers_of
from agent.parser.interpretation import Condition, Expression, Membership, Operator
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from agent.parser.stored_states import SAME_EVENT
from agent.parser.word_lists import word_list
from eval.language.inflection import root, stem
from eval.language.lexicon import word_set


def period(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`in March 2024`, `last month`: restrict the date column of the current tables."""
    named = periods.period_at(q.tokens, q.items[i].start, q.today)
    year_here = i == 0 or q.items[i - 1].lower in _BEFORE_YEARS or q.items[i - 1].lower == "year is"
    if named is None or (named.year_only is not None and not named.relative and not year_here):
        return None
    found = in_period(q, c, i, named, "=")
    mentioned = (column for x in q.items if x.mention is not None for column, _ in x.mention.columns)
    if found is None or named.relative or all(str(named.year_only) not in numbers_of(m) for m in mentioned):
        return found
    event = target_column(q, c, i, 6)
    if event is not None and event.role in ("date", "year"):  # `visits of members who joined in 2024`
        return replace(found, doubts=(*found.doubts, "measure_ambiguous"))
    return Finding((i,))  # `visits in 2024` are those of the column `visits_2024`


TIME_WORDS = word_set("when date day time week month year birth birthday deadline start end begin since until")
"""Words that ask for a date rather than for what happened then."""
_BEFORE_YEARS = word_set("in of year for during from since the by and or , to until on is both")


def in_period(q: LinkedQuestion, c: Context, i: int, period: periods.Period, operator: str) -> Finding | None:
    """Restrict a date by the period at item i."""
    column, doubtful = _dated_by(q, c, i, period.year_only is not None and operator == "=")
    if column is None:
        return None
    cut = column.role == "year" and period.year_only is None
    restricted = _restricted(q, i, q.items[i].start + period.tokens, column, (period,))
    return replace(
        restricted,
        conditions=(_within(column, period, operator),),
        doubts=(*doubtful.doubts, *(("period_cut_to_year",) if cut else ())),
        rivals=doubtful.rivals,
        changes={"last_column": (i, column)},
    )


def _restricted(q: LinkedQuestion, i: int, end: int, column: ColumnWord, named: Sequence[periods.Period]) -> Finding:
    """Periods from item i up to token `end` that restrict a column, with the dates that the question does not say
    itself."""
    relative = [period for period in named if period.relative]
    return Finding(
        [j for j in range(i, len(q.items)) if q.items[j].start < end],
        notes=tuple(f"{period.words} {_NO_YEAR if period.any_year else _FROM_TODAY}" for period in relative),
        assumed=tuple((column.key, period.start) for period in relative),
        any_year=any(period.any_year for period in relative),
    )


_NO_YEAR, _FROM_TODAY = "is taken: no year is named", "is taken from today's date"


def _within(column: ColumnWord, period: periods.Period, operator: str) -> Condition:
    """The condition that a date lies in the period, before it (`before`, `until`) or after it (`after`, `since`)."""
    left = Expression(column=column.key)
    if column.role == "year":
        year: object = period.start.year if column.numeric else str(period.start.year)
        return Condition(left, _SIGNS[operator], (year,))
    if operator == "=":
        return Condition(left, "between", (period.start, period.end), half_open=True)
    bound = period.start if operator in ("since", "before") else period.end
    return Condition(left, ">=" if operator in ("since", "after") else "<", (bound,))


_SIGNS: dict[str, Operator] = {"=": "=", "after": ">", "since": ">=", "before": "<", "until": "<="}


def _dated_by(q: LinkedQuestion, c: Context, i: int, whole_year: bool = False) -> tuple[ColumnWord | None, Finding]:
    """The column that a period restricts; a close choice is a doubt."""
    column, other = date_column(q, c, i, whole_year)
    if column is None or other is None:
        return column, Finding()
    name = other.name if other.table == column.table else f"{other.table}.{other.name}"
    rival = f"the date is taken from {column.name}; {name} would be another choice"
    return column, Finding(doubts=("date_ambiguous",), rivals=(rival,))


_EVENTS = word_set("order created start sale invoice payment transaction")
"""Words of dates that a period without a date's name refers to."""
_SIDE_DATES = frozenset(root(word) for word in word_list("side_dates"))
_CALENDARS = word_set("date calendar time day")


def date_column(
    q: LinkedQuestion, c: Context, i: int, whole_year: bool = False
) -> tuple[ColumnWord | None, ColumnWord | None]:
    """The date or year column that a period applies to: the one just named, otherwise the best of the current
    tables; and another that is nearly as good."""
    column = target_column(q, c, i, 6)
    if column is not None and column.role in ("date", "year"):
        if column.table not in {*c.entities, *q.named} and c.entities:
            # `tickets closed in May`: `resolved_at` of the tickets, and no `closed_on` of a table that is not named
            same = {root(word) for event in column.words for word in SAME_EVENT.get(event, ())}
            dates = [w for w in q.vocabulary.by_table[c.entities[0]] if w.role == "date"]
            own_dates = [w for w in dates if same & set(map(root, w.words))]
            column = own_dates[0] if len(own_dates) == 1 else column
        return column, None
    tables_named = {p for k, x in enumerate(q.items) if q.sorts[k] == "table" for p in range(x.start, x.end)}
    at = q.items[i].start
    states = {p for k, x in enumerate(q.items) if q.sorts[k] == "value" for p in range(x.start, x.end)}
    earlier = (p for p in range(max(0, at - 6), at) if p not in tables_named | states)
    before = [q.tokens[p] for p in earlier if q.tokens[p].kind == "word"]
    stems, roots = {t.stem for t in before}, {root(t.stem) for t in before}
    roots |= {root(same) for t in before for same in SAME_EVENT.get(t.lower, ())}
    all_words = {t.stem for t in q.tokens if t.kind == "word"}
    figures = (e for e in (*c.query.select, *c.query.ordered_by()) if e.function in ("sum", "avg"))
    measured = {e.column[0] for e in figures if e.column}  # `best customer of 2024`: 2024 is a date of orders
    if c.verb_measure is not None and c.verb_measure.column:  # `how much did they spend in 2024`
        measured.add(c.verb_measure.column[0])
    # `trucks without shipments in 2024`: the rows whose absence is being read, if they have a date
    missing = (part for part in c.query.restrictions() if isinstance(part, Membership) and part.where is c.sink)
    absent = next((part for part in missing if _has_date(q, part.table)), None)
    measured = measured or _counted_per(q, c) or ({absent.table} if absent else set())
    near = {} if measured else c.near_tables(i)
    counted = {e.table for e in c.query.select if e.function == "count" and e.table}
    # `cars sold in 2024`: the date of the sale, where a verb before item i names a table
    verbs = [q.table_of(k) for k in range(max(0, i - 3), i) if q.sorts[k] == "table" and not _said_itself(q, k)]
    counted = {table for table in verbs if _has_date(q, table)} or counted
    restricted = [clause[0] for clause in c.query.where]
    stored = (x.left.column for x in restricted if isinstance(x, Condition) and x.operator == "=")
    compared = (q.vocabulary.columns[key] for key in stored if key is not None)
    states_of = {column.table for column in compared if column not in q.vocabulary.name_columns(column.table)}
    tables = measured or {
        *c.entities,
        *q.named,
        *(e.column[0] for e in c.query.select if e.column),
        *(x.left.column[0] for x in restricted if isinstance(x, Condition) and x.left.column),
    }
    named_at = {q.table_of(k): k for k in reversed(range(len(q.items))) if q.sorts[k] == "table"}
    begun = min(named_at.values(), default=i) < i
    later = {t for t, k in named_at.items() if begun and k > i} - set(c.entities)
    candidates: list[tuple[float, ColumnWord]] = []
    for table, columns in q.vocabulary.by_table.items():
        gap = min(q.graph.distance(table, t) for t in tables) if tables else 1.0
        if gap > 2 or (absent and table == absent.of):
            continue
        filled = any(c.role == "date" and not c.column.nullable for c in columns)
        calendar = gap == 1 and bool(set(q.vocabulary.tables[table].words) & _CALENDARS)
        for word in columns:
            if word.role not in ("date", "year"):
                continue
            words = set(word.words)
            hinted = sum(stem(w) in stems or root(w) in roots for w in word.words)
            hinted_far = sum(stem(w) in all_words for w in word.words)
            score = 2.0 * hinted + 0.5 * hinted_far + near.get(table, 0.0) * 2 - 1.2 * gap
            owner = {root(w.removesuffix("ment")) for w in word.owner if w not in _CALENDARS}
            own = bool({root(w) for w in words} & owner)  # `paid_on` of payments
            side = 0.0 if own else 0.4 * bool(_SIDE_DATES & {root(w) for w in words})
            score += 0.3 * (own or bool(words & _EVENTS)) - side + 1.6 * calendar
            score -= 0.3 * (filled and word.column.nullable)  # what every row has dates it
            score += 0.4 * (table in states_of and table not in c.entities)  # `customers with cancelled orders in May`
            score -= 0.6 * (table in later)  # `who joined in May and has ordered since`
            score += 0.5 * (table in counted)  # `how many appointments does Dr. Hill have in 2025`
            score -= 0.3 * bool(measured and table in c.entities and table not in measured)
            score += 0.2 * ((word.role == "year") == whole_year) + 0.1 * (word.words in (("date",), ("year",)))
            candidates.append((score, word))
    candidates.sort(key=lambda pair: -pair[0])
    if candidates and (meant := _meant(q, c, candidates[0][1], tables)) is not None:
        return meant, None
    close = len(candidates) > 1 and candidates[1][0] > candidates[0][0] - 0.25
    return (candidates[0][1] if candidates else None), (candidates[1][1] if close else None)


def _meant(q: LinkedQuestion, c: Context, best: ColumnWord, tables: Collection[str]) -> ColumnWord | None:
    """The date that a team says is meant for the rows, where the question has no word of another one of theirs."""
    said = {root(t.lower) for t in q.tokens if t.kind == "word"}
    said |= {root(same) for t in q.tokens for same in SAME_EVENT.get(t.lower, ())}
    for table in dict.fromkeys((best.table, *(() if best.table in tables else c.entities[:1]))):
        place = q.vocabulary.tables[table].table.meant_date
        dates = [w for w in q.vocabulary.by_table[table] if w.role in ("date", "year") and w.key != place]
        own = {word for w in (*dates, best) for word in w.words if word not in TIME_WORDS and word not in w.owner}
        if place in q.vocabulary.columns and not said & {root(word) for word in own}:
            return q.vocabulary.columns[place]
    return None


def _said_itself(q: LinkedQuestion, k: int) -> bool:
    """Whether item k is the name of its table, and no verb for its rows (`sold` for sales)."""
    return q.tokens[q.items[k].end - 1].lemma in q.vocabulary.tables[q.table_of(k)].words


def _counted_per(q: LinkedQuestion, c: Context) -> set[str]:
    """`parcels per family in 2025`, `family with the most parcels in 2025`: 2025 is a date of the rows that are counted
    for each of the others, or of what they belong to."""
    counted = {e.table for e in c.query.select if e.function == "count" and e.table}
    ranked = {e.table for e in c.query.ordered_by() if e.function == "count" and e.table}
    others = {str(what) for kind, what in c.groups if kind == "table"} | (set(c.entities) if ranked else set())
    others -= ranked
    per = set()
    for t in (counted | ranked) - others:
        owners = (key.ref_table for key in q.vocabulary.tables[t].table.foreign_keys)
        if any(q.many_of(o, t) for o in others) and any(_has_date(q, x) for x in (t, *owners) if x not in others):
            per.add(t)
    return per


def _has_date(q: LinkedQuestion, table: str) -> bool:
    return any(w.role in ("date", "year") for w in q.vocabulary.by_table.get(table, ()))


def between_periods(q: LinkedQuestion, c: Context, i: int, j: int, first: periods.Period) -> Finding | None:
    """`between March and May 2024`: the periods at item j and after it are the bounds."""
    end = q.items[j].start + first.tokens
    for k in range(j + 1, min(len(q.items), j + 6)):
        second = periods.period_at(q.tokens, q.items[k].start, q.today) if q.items[k].start >= end else None
        if second is None:
            continue
        column, doubtful = _dated_by(q, c, i)
        if column is None:
            return None
        left, years = Expression(column=column.key), (first.start.year, second.start.year)
        if column.role == "year":
            within = Condition(left, "between", years if column.numeric else tuple(str(y) for y in years))
        else:
            within = Condition(left, "between", (first.start, second.end), half_open=True)
        restricted = _restricted(q, j, q.items[k].start + second.tokens, column, (first, second))
        return replace(restricted, conditions=(within,), doubts=doubtful.doubts, rivals=doubtful.rivals)
    return None


def dated(q: LinkedQuestion, c: Context, i: int) -> bool:
    """`before the year 2006`: the word alone only introduces a period; its column is chosen together with the
    period."""
    return any(periods.period_at(q.tokens, x.start, q.today) is not None for x in q.items[i + 1 : i + 5]) and bool(
        date_column(q, c, i)[0]
    )


def calendar_word(q: LinkedQuestion, i: int) -> str:
    """The part of a date that item i names (`month`, `weekday`), if no column has that name."""
    return _CALENDAR.get(q.items[i].lower, "") if q.sort(i) == "word" else ""


_CALENDAR = {
    "years": "year", "yearly": "year", "annually": "year", "months": "month", "monthly": "month", "days": "day",
    "daily": "day", "quarters": "quarter", "quarterly": "quarter", "weeks": "week", "weekly": "week",
    "weekdays": "weekday", "hours": "hour", "hourly": "hour",
    **{unit: unit for unit in ("year", "quarter", "month", "week", "day", "weekday", "hour")},
}  # fmt: skip


def calendar_group(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`per month`, `of each year`: group by a part of the date."""
    part = calendar_word(q, i)
    if not part or not (c.grouping or q.items[i].lower.endswith("ly")):
        return None
    column, doubtful = _dated_by(q, c, i)
    if column is None or column.role != "date":
        return None
    group = ("column", Expression(column=column.key, part=part))
    return replace(doubtful, used=(i,), groups=(group,), changes={"grouping": False})


def weekdays(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`on Saturdays`, `at the weekend`: restrict the day of the week of the rows' date."""
    word, before = q.items[i].lower, q.word(i - 1)
    if q.sorts[i] != "word" or not before:
        return None
    restricted = _on_days(word, before)
    if restricted is None:
        return None
    column, doubtful = _dated_by(q, c, i)
    if column is None or column.role != "date":
        return None
    operator, values = restricted
    condition = Condition(Expression(column=column.key, part="weekday"), operator, values)
    return replace(doubtful, used=(i,), conditions=(condition,))


def _on_days(word: str, before: str) -> tuple[Operator, tuple[str, ...]] | None:
    """How the weekday's number, 0 for Sunday, is restricted."""
    day = word.removesuffix("s")
    if day in periods.WEEKDAYS and (word != day or before in ("a", "every", "each", "any")):
        return "=", (str((periods.WEEKDAYS.index(day) + 1) % 7),)
    if day == "weekend" and before in _ON_DAYS:
        return "not between", _MONDAY_TO_FRIDAY
    if (word == "weekdays" and before in _ON_DAYS) or (word == "days" and before == "working"):
        return "between", _MONDAY_TO_FRIDAY
    return None


_ON_DAYS = ("on", "at", "over", "during", "the", "a", "any")
_MONDAY_TO_FRIDAY = ("1", "5")
