"""The times of schedules, across changes of the clocks; and alerts: what is new is told once, not in a quiet period."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent.server.schedules import NotDelivered
from agent.server.schedules.cron import BadTimes, checked, following, latest
from agent.server.schedules.scheduler import seen
from agent.store.records import Condition
from tests.agent.server.schedules.conftest import Desk
from tests.pairs import rows, sections
from tests.receivers import Mails, Webhook

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(("cron", "after", "shown"), rows("server/clocks.jsonl"))
def test_what_the_clocks_skip_comes_as_soon_as_they_have_and_twice_counts_once(
    cron: str, after: str, shown: list[str]
) -> None:
    """As the clock on the wall shows them, with the hours from UTC."""
    at, found = datetime.fromisoformat(after).replace(tzinfo=BERLIN), []
    for _ in shown:
        at = following(cron, "Europe/Berlin", at)
        found.append(at.astimezone(BERLIN).strftime("%m-%d %H:%M%z")[:-2])
    assert found == shown


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "UTC"])
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 23])
def test_a_daily_time_comes_once_every_day_of_a_year(zone: str, hour: int) -> None:
    at, days = datetime(2025, 12, 31, 12, tzinfo=UTC), []
    for _ in range(366):
        at = following(f"30 {hour} * * *", zone, at)
        days.append(at.astimezone(ZoneInfo(zone)).date())
    assert {b - a for a, b in pairwise(days)} == {timedelta(days=1)}


@pytest.mark.parametrize(("field", "days"), sections("server/schedules.txt")["weekdays"])
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


def put(total: float) -> str:
    return f"DELETE FROM orders; INSERT INTO orders VALUES (1, 1, '2024-01-05', 'paid', {total})"


async def told(desk: Desk, hook: Webhook, totals: list[float]) -> list[bool]:
    """For each total, a day apart, whether something arrived."""
    found = []
    for total in totals:
        desk.write(put(total))
        before = len(hook.posts)
        await desk.later(days=1)
        found.append(len(hook.posts) > before)
    return found


async def test_an_alert_is_told_on_crossing(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep(), condition={"kind": "above", "column": "total", "value": 100})

    assert await told(desk, hook, [50, 101, 150, 100, 120]) == [False, True, False, False, True]

    assert await desk.history(made) == [
        ("skipped", "total is not above 100."),
        ("sent", "total is above 100."),
        ("skipped", "total is above 100, as the last time."),
        ("skipped", "total is not above 100."),
        ("sent", "total is above 100."),
    ]
    assert "total is 101." in hook.posts[0].body["about"]


async def test_below_and_changes(desk: Desk, hook: Webhook) -> None:
    kept = await desk.keep()
    below = await desk.plan(kept, condition={"kind": "below", "column": "total", "value": 10})
    assert await told(desk, hook, [50, 9, 8, 10]) == [False, True, False, False]
    await desk.client.delete(f"/schedules/{below['schedule_id']}")
    await desk.plan(kept, condition={"kind": "changes", "column": "total", "value": 10, "percent": True})
    assert await told(desk, hook, [100, 105, 109, 110, 110, 98]) == [False, False, False, True, False, True]


async def test_new_rows_are_told_and_shown_alone(desk: Desk, post_office: Mails) -> None:
    kept = await desk.keep("SELECT id, status FROM orders ORDER BY id DESC")
    more: dict[str, Any] = {"condition": {"kind": "new rows"}, "channel": "mail", "recipients": ["ana@example.org"]}
    made = await desk.plan(kept, **more)
    await desk.later(days=1)
    desk.write("INSERT INTO orders VALUES (7, 1, '2024-01-05', 'fresh', 1)")
    await desk.later(days=1)
    await desk.later(days=1)
    desk.write("UPDATE orders SET status = 'sold' WHERE id = 1")
    await desk.later(days=1)

    first, second = (mail.get_body(["plain"]).get_content() for mail in post_office.received)
    assert "| 7 | fresh |" in first
    assert "paid" not in first
    assert "| 1 | sold |" in second
    assert "fresh" not in second
    assert [reason for _, reason in await desk.history(made)] == [
        "New rows count from here.", "1 new row.", "0 new rows.", "1 new row."
    ]  # fmt: skip


async def test_in_a_quiet_period_nothing_is_told_and_nothing_is_forgotten(desk: Desk, hook: Webhook) -> None:
    rows = await desk.keep("SELECT id FROM orders")
    made = await desk.plan(rows, condition={"kind": "new rows"}, quiet_hours=30)
    await desk.later(days=1)
    for number in (11, 12):
        desk.write(f"INSERT INTO orders VALUES ({number}, 1, '2024-01-05', 'paid', 1)")
        await desk.later(days=1)
    await desk.later(days=1)

    assert [post.body["answers"][0]["rows"] for post in hook.posts] == [[[11]], [[12]]]
    states = [state for state, _ in await desk.history(made)]
    assert states == ["skipped", "sent", "skipped", "sent"]
    assert "Quiet until" in (await desk.history(made))[2][1]


async def test_an_alert_that_could_not_be_sent_is_told_the_next_time(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep(), condition={"kind": "above", "column": "total", "value": 100})
    hook.answer = lambda _: 404
    assert await told(desk, hook, [150]) == [True]
    hook.answer = lambda _: 200

    assert await told(desk, hook, [150, 150]) == [True, False]

    assert [state for state, _ in await desk.history(made)] == ["failed", "sent", "skipped"]


async def test_another_condition_forgets_what_the_one_before_saw(desk: Desk, hook: Webhook) -> None:
    kept = await desk.keep()
    made = await desk.plan(kept, condition={"kind": "above", "column": "total", "value": 100})
    assert await told(desk, hook, [150]) == [True]
    other = desk.body(kept, condition={"kind": "above", "column": "total", "value": 120}, webhook=None)
    changed = await desk.client.put(f"/schedules/{made['schedule_id']}", json=other)
    assert changed.json()["recipients"] == ["127.0.0.1"], changed.text
    desk.now = desk.begun
    await desk.later(days=2)
    assert len(hook.posts) == 2


async def test_what_a_condition_asks_for_and_is_not_there_is_told(desk: Desk, hook: Webhook) -> None:
    gone = await desk.plan(await desk.keep(), condition={"kind": "above", "column": "profit", "value": 1})
    many = await desk.plan(
        await desk.keep("SELECT total FROM orders"), condition={"kind": "changes", "column": "total"}
    )
    await desk.later(days=1)

    assert await desk.history(gone) == [("failed", "The answer has no column 'profit' any more.")]
    assert await desk.history(many) == [("failed", "A change needs an answer of one row.")]
    assert hook.posts == []
    board = (await desk.client.post("/boards", json={"title": "Monday"})).json()["board_id"]
    refused = await desk.plan(None, board_id=board, condition={"kind": "new rows"}, status=409)
    assert "not about a board" in refused["error"]["message"]


@pytest.mark.parametrize(("kind", "rows", "before", "tells"), rows("server/alerts.jsonl"))
def test_the_numbers_that_count(kind: Any, rows: list[list[Any]], before: dict[str, Any], tells: bool) -> None:
    condition = Condition(kind=kind, column="n", value=10)
    assert seen(condition, ["n"], rows, False, before).tells is tells


def test_more_rows_than_can_be_compared_are_told() -> None:
    with pytest.raises(NotDelivered, match="10,000"):
        seen(Condition(kind="new rows"), ["n"], [[1]], True, {})
