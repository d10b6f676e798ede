"""What schedules are sent to: a mail server and a webhook on this machine, which keep what they get."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.http_server import Answer, answered_by


@dataclass
class Post:
    path: str
    headers: dict[str, str]
    body: Any
    """What its JSON holds, or its bytes."""


@dataclass
class Webhook:
    port: int = 0
    posts: list[Post] = field(default_factory=list)
    answer: Callable[[Post], int] = lambda _: 200
    """The status; 0: the connection is closed without an answer."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook/secret"


@contextlib.contextmanager
def webhook() -> Iterator[Webhook]:
    made = Webhook()

    def answer(request: BaseHTTPRequestHandler, data: bytes) -> Answer | None:
        of_json = request.headers["Content-Type"] == "application/json"
        post = Post(request.path, dict(request.headers), json.loads(data) if of_json else data)
        made.posts.append(post)
        status = made.answer(post)
        headers = {"Location": "http://127.0.0.1:9/elsewhere"} if 300 <= status < 400 else {}
        return (status, headers, b"{}") if status else None

    with answered_by(answer) as place:
        made.port = int(place.partition(":")[2])
        yield made


@dataclass
class Mails:
    port: int = 0
    received: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Address (or `DATA`) → the reply that refuses it."""

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_RCPT(self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]) -> str:
        if reply := self.refused.get(address):
            return reply
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, _: Session, envelope: Envelope) -> str:
        reply = self.refused.get("DATA", "250 OK")
        if reply == "gone":
            server.transport.abort()
        if reply.startswith("250"):
            message = message_from_bytes(envelope.original_content or b"", policy=default)
            assert isinstance(message, EmailMessage)
            self.received.append(message)
            self.recipients.append(list(envelope.rcpt_tos))
        return reply


def _knows(_: SMTP, __: Session, ___: Envelope, ____: str, given: LoginPassword) -> AuthResult:
    return AuthResult(success=given.password == b"right", handled=False)


@contextlib.contextmanager
def mails(tls: ssl.SSLContext | None = None) -> Iterator[Mails]:
    """`tls`: it offers STARTTLS, and takes the password `right` of anybody then."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        made = Mails(free.getsockname()[1])
    controller = Controller(
        made, hostname="127.0.0.1", port=made.port, tls_context=tls, authenticator=_knows, auth_required=tls is not None
    )
    controller.start()
    try:
        yield made
    finally:
        controller.stop()


def certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 with its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")]), datetime.now(UTC)
    day, number = timedelta(days=1), x509.random_serial_number()
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), number, now - day, now + day)
    made = made.add_extension(here, False).add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "certificate.pem"
    file.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM) + private)
    return file
