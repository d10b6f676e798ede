"""Sends a document by SMTP.

In: settings, addresses, a document with pictures. Out: nothing, or which addresses were refused. A password goes over
TLS alone, unless the mail server is this machine. The Message-ID is the delivery's, so one that arrives twice is known.
"""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

from agent.config import DeliverySettings
from agent.server.documents import Document, as_html, as_markdown
from agent.server.middleware.addresses import is_loopback, listed
from agent.server.schedules import NotDelivered, Unsure

SECONDS = 15.0
"""Time that the mail server has for one reply."""
BEGIN_SECONDS = 60.0
"""Time for everything before the message itself."""
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_ADDRESS = re.compile(rf"(?=.{{1,64}}@){_ATOM}(?:\.{_ATOM})*@([A-Za-z0-9-]{{1,63}}(?:\.[A-Za-z0-9-]{{1,63}})*)")


def mail_problem(settings: DeliverySettings) -> str | None:
    """Why no mail is sent here; None where it is."""
    if settings.smtp_url is None:
        return "No mail server is set: TEXT2SQL_SMTP_URL."
    parts = urlsplit(settings.smtp_url.get_secret_value())
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        return "TEXT2SQL_SMTP_URL is not written as smtp://user:password@host:port."
    if not _ADDRESS.fullmatch(settings.mail_from or ""):
        return "TEXT2SQL_MAIL_FROM holds no address to send from."
    return None


def mail_domains(settings: DeliverySettings) -> list[str]:
    """The domains that may get mail; `*` for all."""
    own = (settings.mail_from or "").rpartition("@")[2]
    return sorted(domain.lower() for domain in listed(settings.mail_to) or {own} if domain)


def refused_address(settings: DeliverySettings, addresses: Sequence[str]) -> str | None:
    """What is wrong with the first address that may get no mail."""
    domains = mail_domains(settings)
    for address in addresses:
        match = _ADDRESS.fullmatch(address)
        if match is None:
            return f"{address[:100]!r} is no mail address."
        if "*" not in domains and match[1].lower() not in domains:
            return f"Mail goes only to {', '.join(domains)}."
    return None


def send_mail(
    settings: DeliverySettings,
    addresses: Sequence[str],
    key: str,
    document: Document,
    pictures: Sequence[tuple[str, bytes]],
) -> str:
    """Send it; returns what the history tells of addresses that were refused. Blocks. Raises NotDelivered, Unsure."""
    if problem := mail_problem(settings) or refused_address(settings, addresses):
        raise NotDelivered(problem)
    assert settings.smtp_url is not None
    assert settings.mail_from is not None
    message = _message(settings.mail_from, addresses, key, document, pictures).as_bytes()
    begun, handing_over, refused = time.monotonic(), False, []
    smtp: smtplib.SMTP | None = None
    try:
        smtp = _connected(settings.smtp_url.get_secret_value())
        _require("the sender", smtp.mail(settings.mail_from)[0])
        refused = [(address, code) for address in addresses if (code := smtp.rcpt(address)[0]) not in (250, 251)]
        if len(refused) == len(addresses):
            _require("every address", min(code for _, code in refused))
        if time.monotonic() - begun > BEGIN_SECONDS:
            raise NotDelivered("The mail server is too slow.", again=True)
        handing_over = True
        _require("the message", smtp.data(message)[0])
    except smtplib.SMTPResponseException as error:
        _require("the login" if isinstance(error, smtplib.SMTPAuthenticationError) else "to go on", error.smtp_code)
        raise Unsure("The mail server answered what cannot be read.") from None
    except ssl.SSLError:
        raise NotDelivered("The mail server's certificate cannot be trusted.") from None
    except (smtplib.SMTPException, OSError):
        if handing_over:
            raise Unsure("The connection to the mail server broke off while it took the message.") from None
        raise NotDelivered("The mail server cannot be reached, or ended the connection.", again=True) from None
    finally:
        if smtp is not None:
            with contextlib.suppress(smtplib.SMTPException, OSError):
                smtp.quit()
            smtp.close()
    return f" Not to {', '.join(f'{address} ({code})' for address, code in refused)}." if refused else ""


def _connected(url: str) -> smtplib.SMTP:
    parts = urlsplit(url)
    host, here = parts.hostname or "", parts.hostname == "localhost" or is_loopback(parts.hostname or "")
    tls = ssl.create_default_context()
    if parts.scheme == "smtps":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=SECONDS, context=tls)
    else:
        smtp = smtplib.SMTP(host, parts.port or 587, timeout=SECONDS)
    try:
        smtp.ehlo_or_helo_if_needed()
        if parts.scheme == "smtp" and not here:
            if smtp.has_extn("starttls"):
                smtp.starttls(context=tls)
            elif parts.username:
                raise NotDelivered("The mail server offers no TLS, so it gets no password.")
        if parts.username:
            smtp.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        smtp.close()
        raise
    return smtp


def _require(what: str, code: int) -> None:
    """Raises NotDelivered for a reply that refuses: 4xx for now, 5xx for good."""
    if not 200 <= code < 300:
        raise NotDelivered(f"The mail server refuses {what} ({code}).", again=400 <= code < 500)


def _message(
    sender: str, addresses: Sequence[str], key: str, document: Document, pictures: Sequence[tuple[str, bytes]]
) -> EmailMessage:
    message = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
    message["From"] = Address("text2sql", addr_spec=sender)
    message["To"] = [Address(addr_spec=address) for address in addresses]
    message["Subject"] = "".join(c if c.isprintable() else " " for c in document.title)
    message["Message-ID"] = f"<{key}@{sender.rpartition('@')[2]}>"
    message["Date"] = datetime.now(UTC)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(as_markdown(document))
    message.add_alternative(as_html(document), subtype="html")
    for name, picture in pictures:
        message.add_attachment(picture, "image", "png", filename=f"{name}.png", disposition="inline")
    return message
