"""Where nothing may be sent to, what no title, address or value can do to a message, and whose rights have ended."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from agent.config import DeliverySettings, Settings
from agent.server.documents import Document
from agent.server.schedules import NotDelivered
from agent.server.schedules.mail import send_mail
from agent.server.schedules.webhook import checked_webhook
from agent.store.records import ScheduleRecord
from tests.agent.server.running import ANA, BEN
from tests.agent.server.schedules.conftest import Desk, Open
from tests.pairs import rows, sections
from tests.receivers import Mails, Webhook, certificate, mails

DEFAULT = "hooks.slack.com,*.webhook.office.com"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the resolver says."""
    known: dict[str, str] = {}

    def resolve(host: str, *_: Any, **__: Any) -> list[Any]:
        if host not in known:
            raise socket.gaierror
        return [(2, 1, 6, "", (known[host], 443))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return known


@pytest.mark.parametrize(("url", "hosts", "resolved"), rows("server/refused_webhooks.jsonl"))
async def test_a_webhook_that_may_not_be_reached(names: dict[str, str], url: str, hosts: str, resolved: str) -> None:
    host = url.split("://")[-1].split("/")[0].split("@")[-1].split(":")[0]
    names[host] = resolved
    with pytest.raises(NotDelivered) as refused:
        await checked_webhook(url, hosts)
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(("url", "hosts", "resolved"), sections("server/schedules.txt")["allowed webhooks"])
async def test_a_webhook_that_may(names: dict[str, str], url: str, hosts: str, resolved: str) -> None:
    names[url.split("://")[1].split("/")[0].split(":")[0]] = resolved
    assert [str(address) for address in (await checked_webhook(url, hosts)).addresses] == [resolved]


async def test_the_connection_goes_to_the_checked_address(desk: Desk, hook: Webhook, names: dict[str, str]) -> None:
    names |= {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1"}
    settings = desk.services.settings.deliveries.model_copy(update={"webhook_hosts": "localhost"})
    desk.services.settings.__dict__["deliveries"] = settings
    await desk.plan(await desk.keep(), webhook=f"http://localhost:{hook.port}/x?a=1")
    await desk.later(days=1)
    assert (hook.posts[0].headers["Host"], hook.posts[0].path) == (f"localhost:{hook.port}", "/x?a=1")


async def test_a_host_that_is_no_longer_allowed_gets_nothing_more(opened: Open, hook: Webhook) -> None:
    async with opened() as desk:
        made = await desk.plan(await desk.keep())
    async with opened(TEXT2SQL_WEBHOOK_HOSTS="hooks.slack.com") as desk:
        await desk.later(days=1)
        history = await desk.history(made)
        stored = (await desk.services.store.of_owner(ScheduleRecord, "local"))[0]
    assert history == [("failed", "127.0.0.1 is not among the hosts that TEXT2SQL_WEBHOOK_HOSTS allows.")]
    assert "secret" not in stored.model_dump_json()


async def test_an_address_that_gets_no_mail_and_no_title_becomes_a_header(desk: Desk, post_office: Mails) -> None:
    for (address,) in rows("server/addresses.jsonl"):
        await desk.plan(await desk.keep(), channel="mail", recipients=[address], status=409)
    title = "Sales\r\nBcc: x@evil.example\n\n<script>alert(1)</script>\x00\u2028‮ \ud83d\ude00".encode(
        "utf-16", "surrogatepass"
    ).decode("utf-16")
    await desk.plan(await desk.keep(), channel="mail", recipients=["ana@example.org"], title=title)
    await desk.later(days=1)
    (mail,) = post_office.received
    assert mail["bcc"] is None
    assert post_office.recipients == [["ana@example.org"]]
    assert "<script" not in mail.get_body(["html"]).get_content()


def mail_settings(post_office: Mails, login: str) -> DeliverySettings:
    more = {"TEXT2SQL_SMTP_URL": f"smtp://{login}@127.0.0.1:{post_office.port}", "TEXT2SQL_MAIL_FROM": "a@example.org"}
    return Settings(_env_file=None, **more).deliveries


def test_no_password_goes_over_a_line_without_tls(post_office: Mails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.server.schedules.mail.is_loopback", lambda _: False)
    with pytest.raises(NotDelivered, match="offers no TLS") as refused:
        send_mail(mail_settings(post_office, "user:secret"), ["ana@example.org"], "k", Document("t", "a"), [])
    assert "secret" not in str(refused.value)


def test_a_login_goes_over_tls_to_a_server_that_can_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.server.schedules.mail.is_loopback", lambda _: False)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    signed = certificate(tmp_path)
    own.load_cert_chain(signed)
    document, to = Document("t", "a"), ["ana@example.org"]
    with mails(own) as post_office:
        with pytest.raises(NotDelivered, match="cannot be trusted"):
            send_mail(mail_settings(post_office, "user:right"), to, "k", document, [])
        trusting = ssl.create_default_context(cafile=str(signed))
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        with pytest.raises(NotDelivered, match=r"refuses the login \(535\)"):
            send_mail(mail_settings(post_office, "user:wrong"), to, "k", document, [])
        assert post_office.received == []
        assert send_mail(mail_settings(post_office, "user:right"), to, "k", document, []) == ""
        assert post_office.received[0]["message-id"] == "<k@example.org>"


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
