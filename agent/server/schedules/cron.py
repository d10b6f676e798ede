"""The times of a schedule.

In: a cron expression of five fields, a time zone, a moment. Out: the next moment, in UTC. APScheduler reads the
expression and finds the next time on a clock without summer time; here that becomes a moment. A time that the clocks
skip is that much later, a time that occurs twice is the first of both; a schedule of every hour goes on through both.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from zoneinfo import ZoneInfo

from eval.errors import InputError

LEAST_MINUTES = 5
"""Minutes between two times of a schedule, at least."""
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MOMENT = timedelta(microseconds=1)


class BadTimes(InputError):
    """A cron expression or time zone that cannot be used."""


def checked(cron: str, zone: str, after: datetime) -> datetime:
    """The first time of a new schedule. Raises BadTimes."""
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        raise BadTimes(f"There is no time zone {zone[:60]!r}.") from None
    first = following(cron, zone, after)
    times = [first]
    while len(times) < 14 and times[-1] - first < timedelta(days=400):
        times.append(following(cron, zone, times[-1]))
    if any(b - a < timedelta(minutes=LEAST_MINUTES) for a, b in pairwise(times)):
        raise BadTimes(f"Times have to be {LEAST_MINUTES} minutes apart at least.")
    return first


def following(cron: str, zone: str, after: datetime) -> datetime:
    """The first time after a moment. Raises BadTimes."""
    from apscheduler.triggers.cron import CronTrigger

    fields = cron.split()
    if len(fields) != 5:
        raise BadTimes("A cron expression has five fields: minute, hour, day, month, day of the week.")
    if fields[2] != "*" and fields[4] != "*":
        raise BadTimes("Give days of the month or days of the week, not both.")
    here = ZoneInfo(zone)
    hourly = fields[1] == "*"
    clock: tzinfo = timezone(after.astimezone(here).utcoffset() or timedelta()) if hourly else UTC
    try:
        trigger = CronTrigger.from_crontab(" ".join([*fields[:4], _weekdays(fields[4])]), timezone=clock)
        wall = after if hourly else after.astimezone(here).replace(tzinfo=UTC, fold=0) - timedelta(hours=3)
        while (found := trigger.get_next_fire_time(None, wall + _MOMENT)) is not None:
            moment: datetime = (found if hourly else found.replace(tzinfo=here)).astimezone(UTC)
            if moment > after:
                return moment
            wall = found
    except (ValueError, OverflowError):
        raise BadTimes("This is no cron expression that can be read here.") from None
    raise BadTimes("This time never comes.")


def latest(cron: str, zone: str, since: datetime, until: datetime) -> datetime | None:
    """The last time between two moments, both included; None where there is none."""
    found = None
    time = following(cron, zone, since - _MOMENT)
    while time <= until:
        found, time = time, following(cron, zone, time)
    return found


def _weekdays(field: str) -> str:
    """Numbers as cron counts them, from Sunday, as names: APScheduler counts from Monday and has no range that ends on
    a Sunday. Raises ValueError."""
    if field == "*":
        return field
    days: list[str] = []
    for part in field.lower().split(","):
        match = re.fullmatch(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?", part)
        if match is None:
            raise ValueError(part)
        first, last, step = match.groups()
        if first == "*":
            start, end = 0, 6
        else:
            start = _day(first)
            end = _day(last) if last else (6 if step else start)
        end += 7 if end < start else 0
        days += [_DAYS[day % 7] for day in range(start, end + 1, int(step or 1))]
    return ",".join(dict.fromkeys(days))


def _day(text: str) -> int:
    return int(text) % 7 if text in set("01234567") else _DAYS.index(text[:3] if len(text) > 2 else "?")
