"""What is scheduled is run and sent at its time, once; what fails is tried again or told."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from agent.server.schedules.scheduler import Scheduler
from agent.store.base import MOST
from agent.store.records import ScheduleRecord
from tests.agent.server.schedules.conftest import Desk, Open
from tests.pairs import sections
from tests.receivers import Mails, Webhook

MAIL: dict[str, Any] = {"channel": "mail", "recipients": ["ana@example.org"]}


@contextlib.contextmanager
def held() -> Iterator[asyncio.Event]:
    """Deliveries are prepared once it is set."""
    go_on, prepared = asyncio.Event(), Scheduler._prepared

    async def waiting(self: Scheduler, *given: Any) -> Any:
        await go_on.wait()
        return await prepared(self, *given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Scheduler, "_prepared", waiting)
        yield go_on


async def test_an_answer_is_sent_every_day(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep())

    await desk.later(days=1)
    desk.write("INSERT INTO orders VALUES (9, 1, '2025-03-02', 'paid', 1)")
    await desk.later(days=1)

    assert [post.body["answers"][0]["rows"] for post in hook.posts] == [[[174.75]], [[175.75]]]
    first, second = hook.posts
    assert first.headers["Idempotency-Key"] == first.body["id"] != second.body["id"]
    assert first.body["link"] == f"https://ask.example.org/k/{made['kept_id']}"
    assert f"{desk.begun:%H:%M} UTC" in first.body["about"]
    assert await desk.history(made) == [("sent", ""), ("sent", "")]
    assert made["recipients"] == ["127.0.0.1"]
    assert "secret" not in str(made)
    listed = (await desk.client.get("/schedules")).json()
    assert listed[0]["last_delivery"]["state"] == "sent"
    assert "secret" not in str(listed)


async def test_a_board_is_sent_by_mail_with_its_charts(desk: Desk, post_office: Mails) -> None:
    pytest.importorskip("matplotlib")
    by_status = "SELECT status, COUNT(*) AS n FROM orders GROUP BY status"
    kept = [
        await desk.keep(by_status, title="By $status$", chart={"kind": "column", "x": 0, "y": 1}),
        await desk.keep("SELECT '<img src=x>' AS html", title="<b>HTML</b>"),
    ]
    board = (await desk.client.post("/boards", json={"title": "Monday"})).json()["board_id"]
    await desk.client.patch(f"/boards/{board}", json={"tiles": [{"kept_id": one} for one in kept]})
    made = await desk.plan(None, board_id=board, picture=True, title="Größe & Zahl", **MAIL)

    await desk.later(days=1)

    (mail,) = post_office.received
    told = ("Größe & Zahl", "ana@example.org", "auto-generated")
    assert (mail["subject"], mail["to"], mail["auto-submitted"]) == told
    html, text = mail.get_body(["html"]).get_content(), mail.get_body(["plain"]).get_content()
    assert "<img" not in html
    assert f'<a href="https://ask.example.org/b/{board}">' in html
    assert "| paid | 3 |" in text
    assert "SELECT" not in html + text
    (picture,) = mail.iter_attachments()
    assert (picture.get_content_type(), picture.get_content()[:4]) == ("image/png", b"\x89PNG")
    assert await desk.history(made) == [("sent", "")]


async def test_sending_by_hand_needs_no_condition_and_goes_once_at_a_time(desk: Desk, hook: Webhook) -> None:
    condition = {"kind": "above", "column": "total", "value": 1e9}
    made = await desk.plan(await desk.keep(), condition=condition)
    path = f"/schedules/{made['schedule_id']}/run"
    assert (await desk.client.post(path)).status_code == 202
    assert (await desk.client.post(path)).status_code == 409

    await desk.later(minutes=1)  # by the clock of the test, which a slow machine leaves behind

    assert len(hook.posts) == 1
    assert await desk.history(made) == [("sent", "Sent by hand.")]


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_webhook_is_tried_again_with_growing_pauses(desk: Desk, hook: Webhook, status: int) -> None:
    made = await desk.plan(await desk.keep())
    hook.answer = lambda _: status
    await desk.later(days=1)
    for minutes, tries in ((0.5, 1), (0.6, 2), (2, 2), (2.1, 3), (16, 4), (31, 5), (600, 5)):
        await desk.later(minutes=minutes)
        assert len(hook.posts) == tries, minutes

    assert len({post.body["id"] for post in hook.posts}) == 1, "the receiver can tell that it is the same"
    assert await desk.history(made) == [("failed", f"The webhook takes nothing now ({status}).")]
    delivery = (await desk.client.get(f"/schedules/{made['schedule_id']}/deliveries")).json()[0]["delivery_id"]
    hook.answer = lambda _: 200
    assert (await desk.client.post(f"/deliveries/{delivery}/again")).status_code == 202
    assert (await desk.client.post(f"/deliveries/{delivery}/again")).status_code == 404
    await desk.later(seconds=1)
    assert [state for state, _ in await desk.history(made)] == ["sent"]


@pytest.mark.parametrize(
    ("status", "state"), [(400, "failed"), (404, "failed"), (302, "failed"), (500, "in doubt"), (0, "in doubt")]
)
async def test_what_is_refused_or_in_doubt_is_sent_once(desk: Desk, hook: Webhook, status: int, state: str) -> None:
    made = await desk.plan(await desk.keep())
    hook.answer = lambda _: status

    await desk.later(days=1)
    await desk.later(hours=5)

    assert len(hook.posts) == 1
    assert [state for state, _ in await desk.history(made)] == [state]


async def test_a_receiver_that_is_away_gets_it_when_it_is_back(desk: Desk, hook: Webhook) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        made = await desk.plan(await desk.keep(), webhook=away)
        await desk.later(days=1)
    assert await desk.history(made) == [("due", "The webhook cannot be reached, or its certificate cannot be trusted.")]
    kept = (await desk.client.get("/schedules")).json()[0]["kept_id"]
    await desk.client.put(f"/schedules/{made['schedule_id']}", json=desk.body(kept))
    await desk.later(minutes=2)
    assert len(hook.posts) == 1


@pytest.mark.parametrize(("at", "reply", "state", "reason"), sections("server/schedules.txt")["refused mails"])
async def test_what_a_mail_server_refuses(
    desk: Desk, post_office: Mails, at: str, reply: str, state: str, reason: str
) -> None:
    post_office.refused = {at: reply}
    made = await desk.plan(await desk.keep(), **MAIL)

    await desk.later(days=1)

    [told] = await desk.history(made)
    assert told[0] == state
    assert reason in told[1]
    assert post_office.received == []


async def test_one_refused_address_keeps_no_mail_from_the_others(desk: Desk, post_office: Mails) -> None:
    post_office.refused = {"no@example.org": "550 no"}
    made = await desk.plan(await desk.keep(), channel="mail", recipients=["no@example.org", "ana@example.org"])

    await desk.later(days=1)

    assert post_office.recipients == [["ana@example.org"]]
    assert await desk.history(made) == [("sent", "Not to no@example.org (550).")]


async def test_a_query_that_fails_is_told_without_its_words(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep())
    desk.write("ALTER TABLE orders RENAME COLUMN total TO secret_total")

    await desk.later(days=1)

    assert hook.posts == []
    assert await desk.history(made) in ([("failed", "Its query fails.")], [("failed", "Its query is refused.")])


async def test_what_was_missed_is_made_up_for_once_and_not_when_it_is_old(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep(), cron="*/30 * * * *")
    await desk.later(hours=5)
    assert len(hook.posts) == 1
    daily = await desk.plan(await desk.keep())
    await desk.client.delete(f"/schedules/{made['schedule_id']}")
    await desk.later(days=2, hours=2)

    assert await desk.history(daily) == [("skipped", "Missed: the server did not run then.")]
    assert len(hook.posts) == 1


async def test_a_later_time_takes_the_place_of_one_that_still_waits(desk: Desk, hook: Webhook) -> None:
    made = await desk.plan(await desk.keep(), cron="*/5 * * * *")
    hook.answer = lambda _: 503
    desk.now = datetime.fromisoformat(made["next_run"])
    await desk.later()
    await desk.later(minutes=2)  # its second try; the third comes after four minutes
    hook.answer = lambda _: 200
    await desk.later(minutes=3.5)

    assert [state for state, _ in await desk.history(made)] == ["skipped", "sent"]


async def test_pausing_removing_and_bounds(desk: Desk, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = await desk.keep()
    made = await desk.plan(kept)
    path = f"/schedules/{made['schedule_id']}"
    assert (await desk.client.patch(path, json={"paused": True})).json()["paused"] == "Paused by its owner."
    await desk.later(days=2)
    assert hook.posts == []
    assert (await desk.client.patch(path, json={"paused": False})).json()["paused"] == ""
    await desk.later(days=1)
    assert len(hook.posts) == 1

    monkeypatch.setattr("agent.store.schedules.KEPT", 3)
    for _ in range(5):
        await desk.later(days=1)
    assert len(await desk.history(made)) == 3
    monkeypatch.setitem(MOST, ScheduleRecord, 1)
    assert "remove some first" in str(await desk.plan(kept, status=409))
    assert (await desk.client.delete(f"/kept/{kept}")).status_code == 204
    assert (await desk.client.get("/schedules")).json() == []
    await desk.later(days=1)
    assert len(hook.posts) == 6


async def test_a_delivery_that_is_stopped_before_it_leaves_is_taken_over(desk: Desk, hook: Webhook) -> None:
    await desk.plan(await desk.keep())
    desk.now += timedelta(days=1)
    begun = asyncio.Event()

    async def endless(*_: Any) -> None:
        begun.set()
        await asyncio.sleep(60)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Scheduler, "_prepared", endless)
        (task,) = await Scheduler(desk.services, clock=lambda: desk.now).look()
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    await desk.later(seconds=1)
    assert len(hook.posts) == 1


async def test_what_a_dead_process_sent_is_in_doubt(desk: Desk, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await desk.plan(await desk.keep())

    async def gone(*_: Any) -> str:
        raise asyncio.CancelledError

    with monkeypatch.context() as patched:
        patched.setattr(Scheduler, "_send", gone)
        desk.now += timedelta(days=1)
        await asyncio.gather(*await Scheduler(desk.services, clock=lambda: desk.now).look(), return_exceptions=True)
    assert [state for state, _ in await desk.history(made)] == ["sending"]
    await desk.later(minutes=10)

    assert [state for state, _ in await desk.history(made)] == ["in doubt"]
    assert hook.posts == []
    delivery = (await desk.client.get(f"/schedules/{made['schedule_id']}/deliveries")).json()[0]["delivery_id"]
    await desk.client.post(f"/deliveries/{delivery}/again")
    await desk.later(seconds=1)
    assert len(hook.posts) == 1


async def test_channels_say_what_can_be_sent(opened: Open) -> None:
    async with opened(TEXT2SQL_SMTP_URL="", TEXT2SQL_WEBHOOK_HOSTS="hooks.slack.com") as desk:
        reply = (await desk.client.get("/schedules/channels")).json()
        kept = await desk.keep()
        refused = await desk.plan(kept, status=409, **MAIL)
    assert (reply["mail"], reply["webhook_hosts"]) == (False, ["hooks.slack.com"])
    assert "TEXT2SQL_SMTP_URL" in reply["mail_problem"]
    assert "TEXT2SQL_SMTP_URL" in refused["error"]["message"]


async def test_slack_and_teams_get_text_that_is_no_markup(desk: Desk, hook: Webhook) -> None:
    hostile = "SELECT '<!channel> <https://evil.example|here> ```*x* [a](https://evil.example)' AS words"
    for channel in ("slack", "teams"):
        made = await desk.plan(await desk.keep(hostile, title="<!here> & more"), channel=channel, title="<!everyone>")
    await desk.later(days=1)

    slack, teams = sorted(hook.posts, key=lambda post: "attachments" in post.body)
    said = str(slack.body)
    assert all(sign not in said for sign in ("<!", "<https://evil", "````"))
    assert said.count("```") == 2
    assert "&lt;!channel&gt;" in said
    card = teams.body["attachments"][0]["content"]
    assert (card["type"], card["actions"][0]["url"]) == ("AdaptiveCard", f"https://ask.example.org/k/{made['kept_id']}")
    runs = _runs(card)
    assert {run["type"] for run in runs} == {"TextRun"}, "a TextBlock would read markup"
    assert any("[a](https://evil.example)" in run["text"] or "<!channel>" in run["text"] for run in runs)
    assert "'TextBlock'" not in str(card)


def _runs(part: Any) -> list[dict[str, Any]]:
    if isinstance(part, dict):
        found = list(part.get("inlines", []))
        return found + [run for value in part.values() for run in _runs(value) if run not in found]
    return [run for each in part for run in _runs(each)] if isinstance(part, list) else []


async def test_a_lease_is_renewed_while_its_process_works(desk: Desk, hook: Webhook) -> None:
    """A query of minutes is not taken over by another process."""
    await desk.plan(await desk.keep())
    with held() as go_on:
        working = Scheduler(desk.services, clock=lambda: desk.now)
        desk.now += timedelta(days=1)
        (task,) = await working.look()
        for _ in range(4):
            desk.now += timedelta(seconds=20)
            await working.renew()
            assert await Scheduler(desk.services, clock=lambda: desk.now).look() == []
        go_on.set()
        await task
    assert len(hook.posts) == 1


async def test_one_taken_for_gone_sends_nothing(desk: Desk, hook: Webhook) -> None:
    """A process that was frozen for longer than its lease goes on when another has sent it."""
    made = await desk.plan(await desk.keep())
    with held() as go_on:
        desk.now += timedelta(days=1)
        (task,) = await Scheduler(desk.services, clock=lambda: desk.now).look()
        await asyncio.sleep(0.05)
    await desk.later(minutes=1)
    assert len(hook.posts) == 1
    go_on.set()
    await task

    assert len(hook.posts) == 1
    assert [state for state, _ in await desk.history(made)] == ["sent"]
