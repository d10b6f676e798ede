"""Sends a document to a webhook: of Slack, of Microsoft Teams, or as JSON for programs.

In: an address, a document. Out: nothing, or `NotDelivered`, `Unsure`. The host has to be listed, its addresses are
looked up once and checked, and the connection goes to a checked one; no redirect is followed. Values are text for the
receiver: Slack's signs are escaped, Teams gets runs of text, which know no markup.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

import httpx

from agent.server.documents import Document, Section, cell_text
from agent.server.middleware.addresses import listed
from agent.server.replies import as_json
from agent.server.schedules import NotDelivered, Unsure
from agent.sources import SourceRefused
from agent.sources.connections import Address, check_host
from eval.databases import DatabaseUnreachable

SECONDS = 20.0
"""Time for an answer, of which the status alone is read."""
_TIMES = httpx.Timeout(SECONDS, connect=5.0)
_SLACK_TEXT = 2_800
"""Slack takes 3,000 characters in a block."""
_SLACK_ANSWERS = 10
_TEAMS_BYTES = 24_000
"""Teams takes 28 KB."""
_CELL = 40


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that may be sent to."""

    parts: SplitResult
    addresses: Sequence[Address]


async def checked_webhook(url: str, hosts: str) -> Webhook:
    """`hosts`: TEXT2SQL_WEBHOOK_HOSTS. Raises NotDelivered; the message does not repeat the address."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:
        host, port, parts = "", 0, urlsplit("")
    if len(url) > 2_000 or not url.isascii() or not url.isprintable() or " " in url or not host or parts.username:
        raise NotDelivered("This is no address of a webhook.")
    in_place = [rule for rule in listed(hosts) if rule in ("*", "localhost") or _is_network(rule)]
    try:
        addresses = await check_host(host, port, hosts, ",".join([*in_place, "*"]))
    except SourceRefused:
        raise NotDelivered(f"{host[:100]} is not among the hosts that TEXT2SQL_WEBHOOK_HOSTS allows.") from None
    except DatabaseUnreachable:
        raise NotDelivered(f"There is no host named {host[:100]}.", again=True) from None
    here = all(address.is_loopback for address in addresses)
    if parts.scheme != "https" and not (parts.scheme == "http" and here):
        raise NotDelivered("A webhook has to begin with https://.")
    if not (port == 443 or port >= 1024 or here):
        raise NotDelivered(f"Port {port} is not allowed here.")
    return Webhook(parts, addresses)


def _is_network(rule: str) -> bool:
    try:
        ipaddress.ip_network(rule, strict=False)
    except ValueError:
        return False
    return True


async def send_webhook(
    url: str, hosts: str, kind: Literal["slack", "teams", "json"], key: str, document: Document
) -> None:
    """Raises NotDelivered, Unsure."""
    webhook = await checked_webhook(url, hosts)
    body = as_json({"slack": _slack, "teams": _teams, "json": _plain}[kind](document, key)).encode()
    parts = webhook.parts
    name = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    headers = {
        "Host": f"[{name}]{port}" if ":" in name else f"{name}{port}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
        "User-Agent": "text2sql",
    }
    path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    async with httpx.AsyncClient(verify=_tls(), timeout=_TIMES, trust_env=False, follow_redirects=False) as client:
        for address in webhook.addresses:
            at = f"[{address}]" if address.version == 6 else str(address)
            request = client.build_request(
                "POST", f"{parts.scheme}://{at}{port}{path}", content=body, headers=headers,
                extensions={"sni_hostname": name},
            )  # fmt: skip
            try:
                async with asyncio.timeout(2 * SECONDS):
                    response = await client.send(request, stream=True)
                    status = response.status_code
                    await response.aclose()
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
            except (httpx.HTTPError, TimeoutError):
                raise Unsure("The webhook took the message and gave no answer.") from None
            if 200 <= status < 300:
                return
            # busy, or refused by it (a redirect, too): it has surely not taken it; of any other failure nobody knows
            if status in (408, 425, 429, 503):
                raise NotDelivered(f"The webhook takes nothing now ({status}).", again=True)
            if 300 <= status < 500:
                raise NotDelivered(f"The webhook refuses the message ({status}).")
            raise Unsure(f"The webhook failed ({status}).")
    raise NotDelivered("The webhook cannot be reached, or its certificate cannot be trusted.", again=True)


@cache
def _tls() -> ssl.SSLContext:
    """Reading the certificates takes longer than a delivery."""
    return httpx.create_ssl_context()


def _plain(document: Document, key: str) -> dict[str, Any]:
    answers = [
        {"title": section.heading, "columns": section.columns, "rows": section.rows, "note": _note(section)}
        for section in document.sections
    ]
    return {"id": key, "title": document.title, "about": document.about, "link": document.link, "answers": answers}


def _note(section: Section) -> str:
    return " ".join(filter(None, (section.note, section.facts)))


def _slack(document: Document, _: str) -> dict[str, Any]:
    head = f"*{_for_slack(document.title)}*\n{_for_slack(document.about)}"
    texts = [head]
    for section in document.sections[:_SLACK_ANSWERS]:
        lines = [f"*{_for_slack(section.heading)}*"] if section.heading != document.title else []
        table, size = [], 0
        for row in [section.columns, *section.rows] if section.columns else []:
            line = _for_slack(" | ".join(_short(cell) for cell in row))
            size += len(line) + 1
            if size > _SLACK_TEXT:
                break
            table.append(line)
        lines += ["```", *table, "```"] if table else []
        texts.append("\n".join([*lines, _for_slack(_note(section))]))
    if document.link:
        texts.append(f"<{document.link}|Open it on the page>")
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": text[:3_000], "verbatim": True}}
        for text in texts
        if text
    ]
    return {"text": head[:3_000], "blocks": blocks, "unfurl_links": False, "unfurl_media": False}


def _for_slack(text: str) -> str:
    """Text in which nothing is a link, a mention or a sign of Slack's own."""
    one_line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'"), ("*", "∗"), ("~", "∼")):
        one_line = one_line.replace(sign, name)
    return one_line[:_SLACK_TEXT]


def _teams(document: Document, _: str) -> dict[str, Any]:
    """A message with an Adaptive Card, as workflows of Teams take it."""
    body: list[dict[str, Any]] = [
        _run(document.title, size="Large", weight="Bolder"),
        _run(document.about, isSubtle=True),
    ]
    left = _TEAMS_BYTES
    for section in document.sections:
        parts = [_run(section.heading, weight="Bolder")] if section.heading != document.title else []
        rows = []
        for row in [section.columns, *section.rows] if section.columns else []:
            cells = [{"type": "TableCell", "items": [_run(_short(cell))]} for cell in row]
            left -= len(as_json(cells)) + 40
            if left < 0:
                break
            rows.append({"type": "TableRow", "cells": cells})
        if rows:
            columns = [{"width": 1}] * len(section.columns)
            parts.append({"type": "Table", "columns": columns, "firstRowAsHeader": True, "rows": rows})
        parts.append(_run(_note(section), isSubtle=True, size="Small"))
        left -= sum(len(as_json(part)) for part in parts if part["type"] != "Table")
        if left < 0:
            break
        body += parts
    open_it = [{"type": "Action.OpenUrl", "title": "Open it on the page", "url": document.link}]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": body,
        "actions": open_it if document.link else [],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def _run(text: str, **look: Any) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text or " ", **look}]}


def _short(cell: Any) -> str:
    text = cell_text(cell)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"
