"""Where nothing may be sent to, and what no title, address or value can do to a message."""

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


async def test_an_address_that_gets_no_mail(desk: Desk) -> None:
    for (address,) in rows("server/addresses.jsonl"):
        await desk.plan(await desk.keep(), channel="mail", recipients=[address], status=409)


async def test_no_title_becomes_a_header(desk: Desk, post_office: Mails) -> None:
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
