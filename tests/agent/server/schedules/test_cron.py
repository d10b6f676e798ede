"""The times of schedules: across changes of the clocks, weekdays, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from agent.server.schedules.cron import BadTimes, checked, following, latest
from tests.pairs import rows, sections

BERLIN = ZoneInfo("Europe/Berlin")


def times(cron: str, zone: str, after: str, count: int) -> list[str]:
    """As the clock on the wall shows them, with the hours from UTC."""
    at, found = datetime.fromisoformat(after).replace(tzinfo=ZoneInfo(zone)), []
    for _ in range(count):
        at = following(cron, zone, at)
        found.append(at.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M%z")[:-2])
    return found


def test_a_time_that_the_clocks_skip_comes_as_soon_as_they_have() -> None:
    shown = ["03-28 02:30+01", "03-29 03:00+02", "03-30 02:30+02"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", 3) == shown


def test_a_time_that_comes_twice_counts_once() -> None:
    shown = ["10-24 02:30+02", "10-25 02:30+02", "10-26 02:30+01"]
    assert times("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00", 3) == shown


def test_every_twenty_minutes_goes_on_through_both_hours_and_over_the_gap() -> None:
    assert times("*/20 * * * *", "Europe/Berlin", "2026-10-25T02:10", 6) == [
        "10-25 02:20+02", "10-25 02:40+02", "10-25 02:00+01", "10-25 02:20+01", "10-25 02:40+01", "10-25 03:00+01"
    ]  # fmt: skip
    assert times("*/20 * * * *", "Europe/Berlin", "2026-03-29T01:30", 3) == [
        "03-29 01:40+01", "03-29 03:00+02", "03-29 03:20+02"
    ]  # fmt: skip


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "UTC"])
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 23])
def test_a_daily_time_comes_once_every_day_of_a_year(zone: str, hour: int) -> None:
    at, days = datetime(2025, 12, 31, 12, tzinfo=UTC), []
    for _ in range(366):
        at = following(f"30 {hour} * * *", zone, at)
        days.append(at.astimezone(ZoneInfo(zone)).date())
    assert {b - a for a, b in pairwise(days)} == {timedelta(days=1)}


@pytest.mark.parametrize(
    ("field", "days"),
    sections("server/schedules.txt")["weekdays"],
)  # fmt: skip
def test_weekdays_are_counted_as_cron_counts_them(field: str, days: str) -> None:
    at, found = datetime(2026, 6, 1, tzinfo=UTC), set()
    for _ in range(14):
        at = following(f"0 8 * * {field}", "UTC", at)
        found.add(f"{at:%a}")
    assert found == set(days.split())


@pytest.mark.parametrize(("cron", "zone", "why"), rows("server/times.jsonl"))
def test_what_is_no_time_is_refused(cron: str, zone: str, why: str) -> None:
    with pytest.raises(BadTimes, match=why):
        checked(cron, zone, datetime(2026, 1, 1, tzinfo=UTC))


def test_of_several_missed_times_the_latest_counts() -> None:
    since, until = datetime(2026, 6, 1, 8, 0, tzinfo=BERLIN), datetime(2026, 6, 1, 9, 7, tzinfo=BERLIN)
    assert latest("*/5 * * * *", "Europe/Berlin", since, until) == until.replace(minute=5)
    assert latest("0 8 * * *", "Europe/Berlin", since, until) == since
    assert latest("0 7 * * *", "Europe/Berlin", since, until) is None


def test_the_last_day_of_the_month_exists_in_every_month() -> None:
    at, found = datetime(2027, 1, 1, tzinfo=UTC), []
    for _ in range(3):
        at = following("0 8 L * *", "UTC", at)
        found.append(at.date())
    assert found == [date(2027, 1, 31), date(2027, 2, 28), date(2027, 3, 31)]
