"""Time in `enterprise`: days counted from 1 January 2022, timestamps counted in seconds from its midnight.

Counting makes the build fast: texts and keys of a day are looked up, never formatted.
"""

from __future__ import annotations

from datetime import date, timedelta

from experiments.demo_databases.definition import Row

_FIRST = date(2022, 1, 1)
_DAYS = [_FIRST + timedelta(days=n) for n in range((date(2026, 12, 31) - _FIRST).days + 1)]
DAY_SECONDS = 86_400

ISO = [d.isoformat() for d in _DAYS]
"""The ISO text of each day."""
KEY = [d.year * 10_000 + d.month * 100 + d.day for d in _DAYS]
"""The date_key of each day."""
YEAR = [d.year for d in _DAYS]
MONTH = [d.year * 12 + d.month - 1 for d in _DAYS]
"""Months counted from year 0."""
_HOURS = [f" {hour:02d}:{minute:02d}:" for hour in range(24) for minute in range(60)]
_SECONDS = [f"{second:02d}" for second in range(60)]
_HOLIDAYS = {(1, 1): "New Year's Day", (5, 1): "Labour Day", (12, 25): "Christmas Day", (12, 26): "Boxing Day"}


def day_number(iso: str) -> int:
    """Days from 1 January 2022; negative before it."""
    return (date.fromisoformat(iso) - _FIRST).days


START, END = day_number("2023-01-01"), day_number("2025-12-31")
"""First and last day of the facts."""
NOW = (END + 1) * DAY_SECONDS - 1
"""The last timestamp in the warehouse."""


def iso_day(day: int) -> str:
    """ISO text of any day, also before 2022."""
    return ISO[day] if day >= 0 else (_FIRST + timedelta(days=day)).isoformat()


def moment_text(moment: int) -> str:
    """`2024-05-06 07:08:09` for a timestamp in seconds."""
    day, second = divmod(moment, DAY_SECONDS)
    return ISO[day] + _HOURS[second // 60] + _SECONDS[second % 60]


def weekday(day: int) -> int:
    """0 for Monday to 6 for Sunday."""
    return _DAYS[day].weekday()


def month_of_year(day: int) -> int:
    return _DAYS[day].month


def first_of_month(month: int) -> int:
    """The first day of a month counted from year 0."""
    return (date(month // 12, month % 12 + 1, 1) - _FIRST).days


def date_rows() -> list[Row]:
    """The date dimension. The fiscal year begins on 1 July and is named after the year in which it ends."""
    made: list[Row] = []
    for number, d in enumerate(_DAYS):
        fiscal_month = (d.month - 7) % 12
        made.append(
            (
                KEY[number],
                ISO[number],
                d.year,
                (d.month - 1) // 3 + 1,
                d.month,
                _MONTH_NAMES[d.month - 1],
                d.day,
                d.isoweekday(),
                _DAY_NAMES[d.weekday()],
                d.isocalendar().week,
                int(d.isoweekday() > 5),
                _HOLIDAYS.get((d.month, d.day)),
                d.year + (d.month >= 7),
                fiscal_month // 3 + 1,
            )
        )
    return made


_MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
