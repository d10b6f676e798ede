"""Alerts: what crosses, changes or is new is told once, and not in a quiet period."""

from __future__ import annotations

from typing import Any

import pytest

from agent.server.schedules import NotDelivered
from agent.server.schedules.scheduler import seen
from agent.store.records import Condition
from tests.agent.server.schedules.conftest import Desk
from tests.pairs import rows
from tests.receivers import Mails, Webhook


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


async def test_a_board_has_no_condition(desk: Desk) -> None:
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
