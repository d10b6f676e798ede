"""The offline answer: one or two natural sentences from the question, the column names and the rows.

In: a `SummaryRequest`. Out: Markdown. Figures are those of the rows, rounded to two decimals if they have more; doubts
are stated plainly. The interpretation of the question is shown next to the answer, not in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from agent.models.protocol import SummaryRequest
from agent.parser.periods import DAYS_OF_WEEK
from agent.parser.shapes import GROWTH
from agent.parser.word_lists import participle
from agent.state import QueryResult

SHOWN_VALUES = 10
_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~])")
_HOW_MANY = re.compile(
    r"how many (?P<what>.+?)(?: (?:are|were|is|was) there(?P<rest>.*)|"
    r" (?:do|did) (?:we|you|they) (?:have|get)(?P<rest2>.*))?$",
    re.IGNORECASE,
)
_JOINING = (
    r"(?:in|from|with|without|of|on|at|by|for|to|over|under|above|below|between|during|since|that|who|which|whose)"
)
_VERB = r"(?:is|are|was|were|be|been|do|does|did|have|has|had|can|will)"
_PHRASE_ONLY = re.compile(rf"(?:(?!(?:{_JOINING}|{_VERB})\b)[\w'’-]+ ?){{1,3}}(?:(?<= ){_JOINING} .+)?", re.IGNORECASE)
"""`dogs`, `premium members from France`: a noun with what describes it, and no verb of the sentence itself."""
_DID = re.compile(r"(?:[\w-]+ )?[\w-]+s [a-z]{3,}ed\b", re.IGNORECASE)
"""`concerts occurred`, `students enrolled`: a sentence of its own, with a verb that may bear no `there are`."""
_PLURAL = re.compile(r"(?:[\w-]+ )?[\w-]+s\b", re.IGNORECASE)
_STATED = re.compile(
    r"(?:[\w'’-]+ ){1,3}(?:is|are|was|were|has|have|had|never|"
    r"cost|costs|live|lives|work|works|took|weigh|weighs|lasted|left|came|went|won|lost|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_ASKED_NOUN = re.compile(r"(?P<noun>(?:[\w-]+ )?[\w-]+s) (?:did|do|does|have|has|had|can) ", re.IGNORECASE)
"""`orders did we ship last week`: the noun that was counted."""
_WHAT_IS = re.compile(r"what(?:'s|s| is| are| was| were) (?P<what>(?:the|our) .+)$", re.IGNORECASE)
_PHRASE = re.compile(
    r"(?:total|average|avg|mean|median|revenue|sales|number|count|sum|highest|lowest|turnover)\b", re.I
)
_TIME = re.compile(r"\d{4}(?:-\d{2}|-Q\d|-\d{2}-\d{2})?\Z")
_EXISTS = re.compile(r"(?:is|are|was|were) there\b|(?:do|does|did) (?:we|you|they) (?:have|sell)\b", re.IGNORECASE)
_ENDS = re.compile(r"the data ends before that: no row of [^;]+")
_EQUALS = 3
"""Rows of the same highest figure that are named."""
_RANKED = re.compile(r"\bORDER BY\b.*?\b(?P<direction>DESC|ASC)\b[^)]*\Z", re.IGNORECASE | re.DOTALL)


def summary_text(request: SummaryRequest) -> str:
    """The answer as Markdown."""
    parts = [_one(result, request.question if len(request.results) == 1 else "") for result in request.results]
    if not parts:
        parts = ["I have no answer to this question."]
    text = "\n\n".join(parts)
    if request.doubts:
        text += "\n\n" + "\n".join(f"> Doubt: {_plain(doubt)}" for doubt in request.doubts)
    return text


def _one(result: QueryResult, question: str) -> str:
    if result.status != "success":
        why = _plain(result.error or result.reasoning or "the query did not run")
        return f"I can't answer this: {why}"
    rows = result.data
    ends = _ENDS.search(result.reasoning or "")
    if not rows:
        none = "No: nothing matches." if _EXISTS.match(question) else "Nothing matches: the query returned no rows."
        return f"{none} {ends[0].capitalize()}." if ends else none
    if _EXISTS.match(question) and not (len(rows) == 1 and isinstance(rows[0][0], int | float)):
        return f"Yes. {_listed(result, question)}"
    return _listed(result, question) + (f" {ends[0].capitalize()}." if ends else "")


def _listed(result: QueryResult, question: str) -> str:
    rows, columns = result.data, result.columns
    if len(rows) == 1 and len(columns) == 1:
        return _single(rows[0][0], question, [_figure(result, 0)[1]], bool(_FLAG.match(columns[0])))
    # A name for each of the first rows: its only value, or a person's first and last name; otherwise none
    people = len(columns) == 2 and all(p.match(c) for p, c in zip(_FIRST_LAST, columns, strict=True))
    first = rows[:SHOWN_VALUES]
    named = len(columns) == 1 or (people and all(isinstance(value, str) for row in first for value in row))
    names = [" ".join(_cell(value) for value in row) for row in first] if named else []
    if len(rows) == 1 and names:
        return f"**{names[0]}**."
    if len(rows) == 1:
        return f"{_first_of_rank(result) or _row(columns, rows[0], result.units)}."
    many = f"more than {result.rows_returned}" if result.truncated else str(result.rows_returned or len(rows))
    if names:
        listed = ", ".join(f"**{name}**" for name in names)
        rest = " and others" if len(rows) > SHOWN_VALUES or result.truncated else ""
        return f"There are {many} rows: {listed}{rest}."
    return _several(result, many)


_FIRST_LAST = (
    re.compile(r"(?:first|fore|given)_?name\Z", re.IGNORECASE),
    re.compile(r"(?:last_?|sur|family_?)name\Z", re.I),
)


_LIMITED_TO_ONE = re.compile(
    r"\bORDER BY\b[^()]*?\b(?P<direction>DESC|ASC)\b(?: NULLS \w+)?\s+LIMIT 1\s*\Z", re.IGNORECASE | re.DOTALL
)


def _first_of_rank(result: QueryResult) -> str:
    """`Iron Maiden has the highest revenue: 138.60`, for the first row of a ranking that shows its figure."""
    ranked = _LIMITED_TO_ONE.search(result.sql)
    row = [_named_part(c, v) for c, v in zip(result.columns, result.data[0], strict=False)]
    names, figures = _split(row)
    if ranked is None or not names or len(figures) != 1:
        return ""
    label, unit = _figure(result, figures[0])
    most = _extreme(result, figures[0], ranked["direction"].upper() == "DESC")
    return f"**{' '.join(_cell(row[k]) for k in names)}** has the {most} {label}: **{_cell(row[figures[0]], unit)}**"


def _named_part(column: str, value: object) -> object:
    """The name of a weekday, which statements number from Sunday, and the clock time of an hour."""
    if column == "weekday" and isinstance(value, str) and value.isdecimal() and int(value) < len(DAYS_OF_WEEK):
        return DAYS_OF_WEEK[int(value)]
    if column == "hour_of_day" and isinstance(value, str) and value.isdecimal():
        return f"{int(value):02d}:00"
    return value


_TIMED = re.compile(r"(?:_|\A)(days|hours|minutes|weeks)\Z")


def _figure(result: QueryResult, at: int) -> tuple[str, str]:
    """A figure's label and unit: a percentage and a span of time name their unit in the column's name."""
    column, unit = result.columns[at], _unit(result.units, at)
    if not unit and column.endswith("_percent"):
        return _label(column.removesuffix("_percent")), "percent"
    if not unit and (timed := _TIMED.search(column)):
        return f"{_label(column[: timed.start()])} time".strip(), timed[1]
    return _label(column), unit


def _extreme(result: QueryResult, at: int, highest: bool) -> str:
    """`most` and `fewest` for a number of things, otherwise `highest` and `lowest`."""
    name = re.escape(result.columns[at])
    counted = (
        re.search(rf"(?<![/*+-] )\bCOUNT\((?:\*|DISTINCT [\w.\"]+|[\w.\"]+)\) AS {name}\b", result.sql) is not None
    )
    return ("most" if highest else "fewest") if counted else ("highest" if highest else "lowest")


_YES_OR_NO = re.compile(r"(?:is|are|was|were|does|do|did|has|have|can) ", re.IGNORECASE)
_FLAG = re.compile(r"(?:is|has)_|(?:is|has)[A-Z]|.*(?:_flag|_flg|able|ed)\Z|active\Z")


def _single(value: object, question: str, units: Sequence[str], flag: bool) -> str:
    """One value, in the question's own words if these make a sentence."""
    if value is None:
        return "There is no value to report: the result is empty (NULL)."
    phrase = _plain(question.strip().rstrip("?!. "))
    if flag and value in (0, 1) and _YES_OR_NO.match(question):
        return "**Yes**." if value else "**No**."
    shown = f"**{_cell(value, _unit(units, 0))}**"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and (match := _HOW_MANY.match(phrase)):
        what = f"{match['what']}{match['rest'] or match['rest2'] or ''}"
        # Whether `there are … what` is English: no `concerts occurred`, and no `paid in May`
        first, second = [*what.lower().split(), "in"][:2]
        nameless = participle(first) and re.fullmatch(_JOINING, second)
        names_things = bool(_PHRASE_ONLY.fullmatch(what)) and not nameless and not _DID.match(what)
        if names_things and (value != 1 or not _PLURAL.match(what)):
            return f"There {'is' if value == 1 else 'are'} {shown} {what}."
        if _STATED.match(what):
            return f"{shown} {what}."
        noun = _ASKED_NOUN.match(what)
        return f"{shown} {noun['noun']}." if noun and value != 1 else f"The answer is {shown}."
    if number and (match := _WHAT_IS.match(phrase)) and " and " not in phrase:
        return f"{match['what'][:1].upper()}{match['what'][1:]}: {shown}."
    if number and _PHRASE.match(phrase):
        return f"{phrase[:1].upper()}{phrase[1:]}: {shown}."
    return f"The answer is {shown}."


def _row(columns: Sequence[str], row: Sequence[object], units: Sequence[str] = ()) -> str:
    """One row: its names first, then its figures with their labels."""
    names, figures = _split(row)
    if not names or not figures or len(figures) > 3:
        return ", ".join(
            f"{_label(c)}: **{_cell(v, _unit(units, k))}**" for k, (c, v) in enumerate(zip(columns, row, strict=False))
        )
    figure_text = ", ".join(f"{_label(columns[k])} **{_cell(row[k], _unit(units, k))}**" for k in figures)
    return f"**{' '.join(_cell(row[k]) for k in names)}**: {figure_text}"


def _split(row: Sequence[object]) -> tuple[list[int], list[int]]:
    """The positions of a row's leading names, and of its figures."""
    names = [k for k, v in enumerate(row) if isinstance(v, str)]
    figures = [k for k, v in enumerate(row) if isinstance(v, int | float) and not isinstance(v, bool)]
    whole = len(names) + len(figures) == len(row) and names == list(range(len(names))) and len(names) <= 2
    return (names, figures) if whole else ([], [])


def _several(result: QueryResult, many: str) -> str:
    """Many rows of several columns: the leader and its margin, the course of a series, or the first row."""
    if len(result.columns) == 3 and result.columns[2] == GROWTH:
        grown = [[row[0], row[2]] for row in result.data if row[2] is not None]
        if len(grown) > 1:
            growth = {"columns": result.columns[::2], "data": grown, "units": result.units[::2]}
            return _several(result.model_copy(update=growth), str(len(grown)))
    columns = result.columns
    rows: list[list[Any]] = [[_named_part(c, v) for c, v in zip(columns, row, strict=False)] for row in result.data]
    names, figures = _split(rows[0])
    alike = all(_split(row) == (names, figures) for row in rows)  # not so where a figure is missing
    if not alike or len(figures) != 1 or not names or result.truncated:
        return f"There are {many} rows. The first is {_row(columns, rows[0], result.units)}."
    at = figures[0]
    label, unit = _figure(result, at)
    most, least_word = _extreme(result, at, True), _extreme(result, at, False)
    values = [row[at] for row in rows]
    called = [" ".join(_cell(row[k]) for k in names) for row in rows]
    best, least = (extreme(range(len(values)), key=lambda k: values[k]) for extreme in (max, min))
    if all(_TIME.match(str(row[names[0]])) for row in rows) and called == sorted(called):
        return (
            f"{many} rows from {called[0]} ({_cell(values[0], unit)}) to {called[-1]} ({_cell(values[-1], unit)}); "
            f"the {most} {label}: **{_cell(values[best], unit)}** in {called[best]}."
        )
    ranked = _RANKED.search(result.sql)
    falling = bool(ranked) and all(a >= b for a, b in pairwise(values))
    rising = bool(ranked) and all(a <= b for a, b in pairwise(values))
    if falling or rising:
        word = most if falling else least_word
        equal = sum(value == values[0] for value in values)
        if equal > 1:
            named = ", ".join(f"**{one}**" for one in called[: min(equal, _EQUALS)])
            others = f" and {equal - _EQUALS} others" if equal > _EQUALS else ""
            return f"{named}{others} have the {word} {label}, {_cell(values[0], unit)} each; {many} rows in all."
        ahead = "ahead of" if falling else "below"
        return (
            f"**{called[0]}** has the {word} {label}: **{_cell(values[0], unit)}**, "
            f"{ahead} {called[1]} ({_cell(values[1], unit)}); "
            f"{many} rows in all."
        )
    if values[best] == values[least]:
        return f"There are {many} rows, all with the same {label}: **{_cell(values[best], unit)}**."
    return (
        f"There are {many} rows. **{called[best]}** has the {most} {label}: **{_cell(values[best], unit)}**; "
        f"{called[least]} the {least_word}: {_cell(values[least], unit)}."
    )


def _label(column: str) -> str:
    """A column's name in words; a bare expression is only a value."""
    if re.search(r"[()*]", column):
        return "value"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).replace("_", " ").lower()
    return _plain(words.strip()) or "value"


def _unit(units: Sequence[str], place: int) -> str:
    return units[place] if place < len(units) else ""


def _cell(value: object, unit: str = "") -> str:
    if value is None:
        return "NULL"
    if unit:
        return f"{_cell(value)} {_plain('%' if unit.casefold() == 'percent' else unit)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # A measured number without binary noise: thousands set apart, two decimals at most, three digits below
        # one
        if not math.isfinite(value):
            return str(value)
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        if len(repr(value).partition(".")[2]) <= 2:
            return f"{value:,}"
        return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return _plain(str(value))


def _plain(text: str) -> str:
    """Row values and names are data: their Markdown characters are escaped, line breaks removed, and length limited."""
    flat = " ".join(text.split())
    return _MARKS.sub(r"\\\1", flat if len(flat) <= 400 else flat[:399] + "…")
