"""Days, weeks, months, quarters and years before or after a day, by the calendar.

In: a day and a distance. Out: a day in the years 1 to 9999; a longer distance ends at the first or the last one.
"""

from __future__ import annotations

import datetime as dt
from calendar import monthrange

_DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""How many months a unit has."""
DAYS_OF_WEEK = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
"""By the number that statements give them."""
_LAST_MONTH = dt.MAXYEAR * 12 + 11


def days_later(day: dt.date, days: int) -> dt.date:
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


def months_later(day: dt.date, months: int) -> dt.date:
    """The same day of a later month, or its last day if it is shorter; a negative number leads back."""
    year, month = divmod(min(max(day.year * 12 + day.month - 1 + months, 12), _LAST_MONTH), 12)
    return dt.date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def before(day: dt.date, count: int, unit: str) -> dt.date:
    """The day so many days, weeks, months, quarters or years earlier."""
    if unit in _DAYS:
        return days_later(day, -count * _DAYS[unit])
    return months_later(day, -count * MONTHS[unit])
