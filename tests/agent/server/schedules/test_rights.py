"""A schedule shows what its owner may see when it runs, and nothing of it where they may no longer ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agent.server.running import ANA, BEN
from tests.agent.server.schedules.conftest import Desk, Open
from tests.receivers import Webhook

CANARY = "ana@example.org"
EMAILS = "SELECT email FROM customers WHERE email = 'ana@example.org'"


def as_token(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def policies(folder: Path, name: str, rules: str) -> Path:
    file = folder / name
    file.write_text(rules)
    return file


ALL = "- {who: {GROUP}, database: '*', tables: visible}"
NO_EMAILS = "- {who: {GROUP}, database: '*', tables: {customers: {columns: {email: hidden}}, orders: visible}}"
ROWS = "- {who: {GROUP}, database: '*', tables: {customers: {rows: \"name <> 'Ana'\"}}}"


def rules(rule: str, who: str = "") -> str:
    return f"rules:\n{rule.replace('GROUP', who)}\n"


async def spoken(desk: Desk, made: dict[str, Any]) -> str:
    """Everything that the owner is told of a schedule."""
    listed = await desk.client.get("/schedules")
    return f"{listed.text} {await desk.history(made)}"


async def test_an_owner_whose_token_is_gone_gets_nothing(opened: Open, hook: Webhook) -> None:
    async with opened(TEXT2SQL_TOKENS=f"ana={ANA},ben={BEN}", headers=as_token(ANA)) as desk:
        made = await desk.plan(await desk.keep())
    async with opened(TEXT2SQL_TOKENS=f"ben={BEN}", headers=as_token(BEN)) as desk:
        await desk.later(days=1)
        (delivery,) = await desk.services.store.deliveries("ana", made["schedule_id"])
    assert (delivery.state, delivery.reason) == ("failed", "Its owner may no longer ask here.")
    assert hook.posts == []


async def test_schedules_of_the_open_server_end_where_tokens_are_asked_for(opened: Open, hook: Webhook) -> None:
    async with opened() as desk:
        await desk.plan(await desk.keep())
    async with opened(TEXT2SQL_TOKENS=f"ben={BEN}", headers=as_token(BEN)) as desk:
        await desk.later(days=1)
    assert hook.posts == []


async def test_what_belongs_to_others_does_not_exist(opened: Open, hook: Webhook) -> None:
    both = {"TEXT2SQL_TOKENS": f"ana={ANA},ben={BEN}"}
    async with opened(headers=as_token(ANA), **both) as desk:
        kept = await desk.keep()
        made = await desk.plan(kept)
        hook.answer = lambda _: 404
        await desk.later(days=1)
        (delivery,) = await desk.services.store.deliveries("ana", made["schedule_id"])
        desk.client.headers.update(as_token(BEN))
        path = f"/schedules/{made['schedule_id']}"
        assert (await desk.client.get("/schedules")).json() == []
        await desk.plan(kept, status=404)
        for method, address, body in (
            ("GET", f"{path}/deliveries", None),
            ("POST", f"{path}/run", None),
            ("PUT", path, desk.body(kept)),
            ("PATCH", path, {"paused": True}),
            ("DELETE", path, None),
            ("POST", f"/deliveries/{delivery.delivery_id}/again", None),
        ):
            assert (await desk.client.request(method, address, json=body)).status_code == 404, address


@pytest.mark.parametrize("rule", [NO_EMAILS, ROWS, ""])
async def test_narrower_rights_count_from_the_next_time(opened: Open, hook: Webhook, tmp_path: Path, rule: str) -> None:
    tokens = {"TEXT2SQL_TOKENS": f"ana={ANA}", "headers": as_token(ANA)}
    before = policies(tmp_path, "before.yaml", rules(ALL))
    after = policies(tmp_path, "after.yaml", rules(rule) if rule else "rules: []")
    async with opened(TEXT2SQL_POLICIES=before, **tokens) as desk:
        kept = await desk.keep(EMAILS, title="Mails")
        made = await desk.plan(kept)
        alert = await desk.plan(kept, condition={"kind": "new rows"})
        await desk.later(days=1)
        assert CANARY in str(hook.posts)
    hook.posts.clear()
    async with opened(TEXT2SQL_POLICIES=after, **tokens) as desk:
        await desk.client.post(f"/schedules/{made['schedule_id']}/run")
        await desk.later(days=2)
        told = await spoken(desk, made) + await spoken(desk, alert)
    assert CANARY not in str(hook.posts) + told
    assert "SELECT" not in told
    if rule != ROWS:
        assert hook.posts == []
        assert "Its owner may no longer see this answer." in told


async def test_a_board_leaves_out_what_may_no_longer_be_seen(opened: Open, hook: Webhook, tmp_path: Path) -> None:
    tokens = {"TEXT2SQL_TOKENS": f"ana={ANA}", "headers": as_token(ANA)}
    async with opened(TEXT2SQL_POLICIES=policies(tmp_path, "b.yaml", rules(ALL)), **tokens) as desk:
        kept = [await desk.keep(EMAILS, title="Mails of people"), await desk.keep(title="Total")]
        board = (await desk.client.post("/boards", json={"title": "Monday"})).json()["board_id"]
        await desk.client.patch(f"/boards/{board}", json={"tiles": [{"kept_id": one} for one in kept]})
        await desk.plan(None, board_id=board)
    async with opened(TEXT2SQL_POLICIES=policies(tmp_path, "a.yaml", rules(NO_EMAILS)), **tokens) as desk:
        await desk.later(days=1)
    (post,) = hook.posts
    assert [answer["title"] for answer in post.body["answers"]] == ["Total"]
    assert CANARY not in str(post)
    assert "Mails of people" not in str(post)


PROXY = "proxy: {addresses: [10.0.0.7]}\n"


async def test_a_person_is_taken_as_last_proved_for_ninety_days(opened: Open, hook: Webhook, tmp_path: Path) -> None:
    file = policies(tmp_path, "p.yaml", PROXY + rules(ALL, "group: sales"))

    def through_proxy(groups: str) -> dict[str, Any]:
        return {"peer": "10.0.0.7", "headers": {"X-Forwarded-User": "cy", "X-Forwarded-Groups": groups}}

    async with opened(TEXT2SQL_POLICIES=file, **through_proxy("sales")) as desk:
        made = await desk.plan(await desk.keep())
        await desk.later(days=1)
        assert len(hook.posts) == 1
        desk.client.headers["X-Forwarded-Groups"] = "guests"
        await desk.client.get("/schedules")  # the page is opened: the person is another now
        await desk.later(days=1)
        assert len(hook.posts) == 1
        assert (await desk.history(made))[-1] == ("failed", "Its owner may no longer see this answer.")
        desk.client.headers["X-Forwarded-Groups"] = "sales"
        await desk.client.get("/schedules")
        await desk.later(days=91)
        listed = (await desk.client.get("/schedules")).json()[0]
        assert listed["paused"] == "Its owner has not been here for 90 days."
        assert (await desk.history(made))[-1] in (
            ("failed", "Its owner has not been here for 90 days."), ("skipped", "Missed: the server did not run then.")
        )  # fmt: skip
        assert len(hook.posts) == 1


async def test_a_group_that_the_policy_file_took_back_is_not_kept(opened: Open, hook: Webhook, tmp_path: Path) -> None:
    people = "people: {cy: {groups: [sales]}}\n"
    proved = {"peer": "10.0.0.7", "headers": {"X-Forwarded-User": "cy"}}
    before = policies(tmp_path, "b.yaml", PROXY + people + rules(ALL, "group: sales"))
    after = policies(tmp_path, "a.yaml", PROXY + rules(ALL, "group: sales"))
    async with opened(TEXT2SQL_POLICIES=before, **proved) as desk:
        await desk.plan(await desk.keep())
    async with opened(TEXT2SQL_POLICIES=after, **proved) as desk:
        await desk.later(days=1)
    assert hook.posts == []
