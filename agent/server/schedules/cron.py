"""The times of a schedule.

In: a cron expression of five fields, a time zone, a moment. Out: the next moment, in UTC. A time that the clocks skip
comes as soon as they have, a time that occurs twice is the first of both; a schedule of every hour goes on through both
(as Debian's cron has it; cronsim).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from eval.errors import InputError

LEAST_MINUTES = 5
"""Minutes between two times of a schedule, at least."""


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


def following(cron: str, zone: str, after: datetime, *, before: bool = False) -> datetime:
    """The first time after a moment; `before`: the last one before it. Raises BadTimes."""
    from cronsim import CronSim, CronSimError

    fields = cron.split()
    if len(fields) != 5:
        raise BadTimes("A cron expression has five fields: minute, hour, day, month, day of the week.")
    if fields[2] != "*" and fields[4] != "*":
        raise BadTimes("Give days of the month or days of the week, not both.")
    try:
        return next(CronSim(cron, after.astimezone(ZoneInfo(zone)), reverse=before)).astimezone(UTC)
    except (CronSimError, StopIteration, OverflowError):
        raise BadTimes("This is no cron expression, or its time never comes.") from None


def latest(cron: str, zone: str, since: datetime, until: datetime) -> datetime | None:
    """The last time between two moments, both included; None where there is none."""
    found = following(cron, zone, until + timedelta(minutes=1), before=True)
    while found > until:
        found = following(cron, zone, found, before=True)
    return found if found >= since else None
