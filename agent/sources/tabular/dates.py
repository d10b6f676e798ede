"""Dates as people write them: in figures, with the month's name, with weekday and clock.

In: the cells of a column with how often each occurs. Out: how its dates are written, or None where it holds none, and
the SQL expression that reads them. One order of day and month is decided for the whole column. Patterns are for
Python's `re` and DuckDB's RE2 alike.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent.sources.tabular.notation import notation
from agent.sources.tabular.numbers import ENOUGH, LONGEST
from agent.sources.tabular.plan import Order
from agent.sources.tabular.sql import BLANKS, PAD, literal

MONTHS = {name: number for number, names in enumerate(notation("months"), 1) for name in names}
"""The number of a month by its name in English, German, French, Dutch, Spanish, Italian, Portuguese and Swedish."""
MONTH = f"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? {1,4})?"
_DAY, _NUMBER, _YEAR = "(?P<d>[0-9]{1,2})", "(?P<m>[0-9]{1,2})", "(?P<y>[0-9]{4})"
_ANY_YEAR = "'?(?P<y>[0-9]{4}|[0-9]{2})"
_NAMED = f"(?P<name>{MONTH})"
_CLOCK = (
    r"(?:(?:T|,? {1,4})(?P<clock>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
    r"(?: {0,4}(?P<half>[ap])\.?m\.?)?(?: {0,4}(?P<zone>Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?"
)
FORMS = {
    "ymd": rf"{_YEAR}[-/. ]{_NUMBER}[-/. ]{_DAY}",
    "dmy": rf"{_DAY}[-/. ]{_NUMBER}[-/. ]{_ANY_YEAR}",
    "mdy": rf"{_NUMBER}[-/. ]{_DAY}[-/. ]{_ANY_YEAR}",
    "named day": rf"{_WEEKDAY}{_DAY}(?:st|nd|rd|th|\.)?(?: of)?[ /-]{{0,4}}{_NAMED}[.,]?[ /-]{{0,4}}{_ANY_YEAR}",
    "named month": rf"{_WEEKDAY}{_NAMED}\.?[ /-]{{0,4}}{_DAY}(?:st|nd|rd|th)?(?:, {{0,4}}| {{1,4}}|[/-]){_ANY_YEAR}",
    "named year": rf"{_YEAR}[ /-]{_NAMED}[ /-]{_DAY}",
    "month of year": rf"{_NAMED}[., ]{{0,2}}[ /'-]{{0,4}}{_ANY_YEAR}",
    "year and month": rf"{_YEAR}[-/]{_NUMBER}",
    "month and year": rf"{_NUMBER}/{_YEAR}",
    "compact": "(?P<y>(?:19|20)[0-9]{2})(?P<m>0[1-9]|1[0-2])(?P<d>[0-3][0-9])",
}
"""How a day is written, without its clock. `dmy` and `mdy` are the two readings of one form."""
SERIAL = "serial"
"""Days since the end of 1899, as spreadsheets count them: 44562.5 is 1 January 2022 at noon."""
_SERIAL = "[1-7][0-9]{4}(?:[.][0-9]{1,12})?"
TIME = rf"(?i){PAD}(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?: ?[ap]\.?m\.?)?{PAD}"
WITHOUT_DAY = frozenset({"month of year", "year and month", "month and year"})
_FULL = {form: re.compile(rf"(?i){text}{_CLOCK}") for form, text in FORMS.items()}
_DATE_NAME = re.compile(r"(?i)(^|[\W_])(date|day|dt|datum|tag|on|at|time|timestamp)([\W_]|$)|date")
_SERIAL_NAME = re.compile(
    r"(?i)(?:^|[\W_])(?:date|datum|fecha|dob|birthday|geburtstag)(?:[\W_]|$)|[a-z](?-i:Date)(?:[A-Z]|$)"
)
_PIVOT = 50
"""Years of two digits from here on are of the last century."""


@dataclass(frozen=True, slots=True)
class Written:
    forms: tuple[str, ...]
    """Those that occur, the most frequent first; of `dmy` and `mdy` the one decided."""
    order: Order | None = None
    clock: bool = False
    either: bool = False
    """Whether day and month could be exchanged in every cell, and are not in all the same."""
    zones: bool = False
    several_zones: bool = False
    """Whether the clocks are of places further apart than summer time is from winter time."""
    why_not: str | None = None


def written(header: str, cells: Mapping[str, int], order: Order | None, *, forced: bool) -> Written | None:
    """How the dates of a column are written. `order`: what was decided, or what the file's other columns have."""
    forms: Counter[str] = Counter()
    fits: Counter[str] = Counter()
    firsts: dict[str, set[int]] = {"dmy": set(), "mdy": set()}
    zones: set[str] = set()
    total, read, misfits = sum(cells.values()), 0, 0
    clock = False
    compact, serial = forced or bool(_DATE_NAME.search(header)), forced or bool(_SERIAL_NAME.search(header))
    for cell, count in cells.items():
        if serial and re.fullmatch(_SERIAL, cell) and 10_000 <= int(cell[:5]) <= 73_050:  # from 1927 to 2099
            read += count
            forms[SERIAL] += count
            clock = clock or "." in cell
            continue
        found = dict(_found(cell, compact)) if len(cell) <= LONGEST else {}
        if not found:
            misfits += count
            if not forced and total - misfits < ENOUGH * total:
                return None
            continue
        read += count
        for form, match in found.items():
            clock = clock or match["clock"] is not None
            zones.add((match["zone"] or "").upper() if match["clock"] else "")
            if form in firsts:
                firsts[form].add(int(match["d"]))
        forms["in figures" if firsts.keys() & found.keys() else next(iter(found))] += count
        if firsts.keys() & found.keys():
            same = all(match["d"].lstrip("0") == match["m"].lstrip("0") for match in found.values())
            fits[next(iter(found)) if len(found) == 1 else "same" if same else "either"] += count
    if not read:
        return None
    offsets = {_minutes(zone) for zone in zones} or {0}
    several = max(offsets) - min(offsets) > 60 or (len(offsets) > 1 and "" in zones)  # an hour is summer time
    days, months = fits["dmy"], fits["mdy"]
    if days and months and min(days, months) > 0.01 * read and not (forced and order):
        return Written((), why_not="some of its dates have the day first and some the month")
    dotted: Order | None = "dmy" if all("." in cell for cell in cells) else None  # nobody writes 12.31.2024
    decided: Order = "dmy" if days > months else "mdy" if months else order or dotted or _by_firsts(firsts) or "mdy"
    decided = order if forced and order else decided
    either = bool(fits["either"]) and not days and not months and not dotted and _by_firsts(firsts) is None
    used = [decided if form == "in figures" else form for form, _ in forms.most_common()]
    return Written(tuple(used), decided if forms["in figures"] else None, clock, either, bool(zones - {""}), several)


def _minutes(zone: str) -> int:
    """Minutes from UTC; 0 without a zone."""
    figures = re.sub(r"[^0-9]", "", zone).ljust(4, "0")
    return (int(figures[:2]) * 60 + int(figures[2:])) * (-1 if zone.startswith("-") else 1)


def _by_firsts(days: Mapping[str, set[int]]) -> Order | None:
    """The order by which every date is the first of a month, if there are several and one order alone does it."""
    day_first, month_first = days["dmy"], days["mdy"]
    if day_first == {1} and len(month_first) > 2:
        return "dmy"
    return "mdy" if month_first == {1} and len(day_first) > 2 else None


def _found(cell: str, compact: bool) -> Iterator[tuple[str, re.Match[str]]]:
    """The forms in which the cell is a day that exists; more than one only for `dmy` and `mdy`."""
    for form, pattern in _FULL.items():
        match = pattern.fullmatch(cell.strip()) if form != "compact" or compact else None
        if match is not None and _exists(form, match):
            yield form, match
            if form != "dmy":
                return


def _exists(form: str, match: re.Match[str]) -> bool:
    parts = match.groupdict()
    month = MONTHS[parts["name"].lower()] if parts.get("name") else int(parts["m"])
    try:
        dt.date(_year(parts["y"]), month, int(parts.get("d") or 1))
        hours, minutes, *_ = (parts["clock"] or "0:0").split(":")
        dt.time(int(hours) % 24 if parts["half"] else int(hours), int(minutes))
    except ValueError:
        return False
    return form != "compact" or _year(parts["y"]) <= 2100


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else int(text) + (1900 if int(text) >= _PIVOT else 2000)


def sql(column: str, how: Written) -> str:
    """The expression that reads the column; NULL where a cell does not fit or there is no such day."""
    kind = "TIMESTAMP" if how.clock else "DATE"
    cases = " ".join(_case(column, form, how.clock) for form in how.forms)
    return f"TRY_CAST(CASE {cases} END AS {kind})"


def _case(column: str, form: str, clock: bool) -> str:
    if form == SERIAL:
        bare, start = f"trim({column}, {literal(BLANKS)})", f"{'TIMESTAMP' if clock else 'DATE'} '1899-12-30'"
        days = f"to_seconds(round(TRY_CAST({bare} AS DOUBLE) * 86400))" if clock else f"TRY_CAST({bare} AS INTEGER)"
        return f"WHEN regexp_full_match({bare}, {literal(_SERIAL)}) THEN CAST({start} + {days} AS VARCHAR)"
    whole = f"(?i){PAD}" + re.sub(r"\?P<\w+>", "?:", FORMS[form] + _CLOCK) + PAD
    fits = f"regexp_full_match({column}, {literal(whole)})"
    read = f"WHEN {fits} THEN {_day(column, form)}" + (f" || ' ' || {_time(column)}" if clock else "")
    if form == "ymd":  # what the engine reads by itself is by far the fastest
        plain = f"'____-__-__{' __:__:__' if clock else ''}'"
        return f"WHEN {column} LIKE {plain} AND {column} >= '0' THEN {column} {read}"
    if form in ("dmy", "mdy") and not clock:
        signs = (f"%d{sign}%m{sign}%Y" if form == "dmy" else f"%m{sign}%d{sign}%Y" for sign in "./-")
        for shown in signs:
            like = literal(re.sub("%[dm]", "__", shown).replace("%Y", "____"))
            read = f"WHEN {column} LIKE {like} THEN CAST(TRY_STRPTIME({column}, {literal(shown)}) AS VARCHAR) {read}"
    return read


def _group(column: str, text: str, group: str) -> str:
    """What a group of the pattern holds."""
    number = re.findall(r"\(\?P<(\w+)>", text).index(group) + 1
    bare = "(?i)" + re.sub(r"\?P<\w+>", "", text)
    return f"regexp_extract({column}, {literal(bare)}, {number})"


def _day(column: str, form: str) -> str:
    text = f"^{PAD}{FORMS[form]}"
    year = _group(column, text, "y")
    if "{4}|" in FORMS[form]:
        year = (
            f"CASE WHEN length({year}) = 4 THEN {year} "
            f"WHEN TRY_CAST({year} AS INTEGER) >= {_PIVOT} THEN '19' || {year} ELSE '20' || {year} END"
        )
    if "P<name>" in text:
        names = ", ".join(map(literal, MONTHS))
        month = f"({list(MONTHS.values())})[list_position([{names}], lower({_group(column, text, 'name')}))]"
    else:
        month = _group(column, text, "m")
    day = "'1'" if form in WITHOUT_DAY else _group(column, text, "d")
    return f"concat_ws('-', {year}, {month}, {day})"


def is_time(cell: str) -> bool:
    return len(cell) <= LONGEST and re.fullmatch(TIME, cell) is not None


def time_sql(column: str) -> str:
    """A time of day in figures of 24 hours, two for the hour."""
    return _time(f"concat(' ', trim({column}, {literal(BLANKS)}))")


def _time(column: str) -> str:
    clock = literal(r"(?i)[T ]([0-9]{1,2}):([0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?)")
    hours, rest = (f"regexp_extract({column}, {clock}, {group})" for group in (1, 2))
    hours = f"TRY_CAST({hours} AS INTEGER)"
    ends = (literal(f"(?i){letters}[.]?m[.]?{PAD}$") for letters in ("[ap]", "p"))
    half, afternoon = (f"regexp_matches({column}, {end})" for end in ends)
    hour = f"CASE WHEN {half} THEN {hours} % 12 + CASE WHEN {afternoon} THEN 12 ELSE 0 END ELSE {hours} END"
    return f"CASE WHEN {hours} IS NULL THEN '00:00' ELSE concat_ws(':', lpad(({hour})::VARCHAR, 2, '0'), {rest}) END"
