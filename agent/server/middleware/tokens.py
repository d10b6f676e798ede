"""Authentication: bearer tokens, or the machine's own user where no token is needed.

In: TEXT2SQL_TOKENS and TEXT2SQL_AUTH; a request. Out: a `Client` in `scope["state"]["client"]`, or 401, 403 or 429.
Tokens are stored as SHA-256 only and compared in constant time. Wrong tokens are counted by address. A
right token is always accepted, so that nobody can lock out the other clients of a shared proxy; a token has at least
16 characters, so guessing is hopeless.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.access import Access, BadPolicies, Identity, IdentityRefused, KeysUnavailable, Person, access_of
from agent.config import DatabaseSettings, ServerSettings
from agent.server.access import Client
from agent.server.errors import refuse
from agent.server.middleware.addresses import header_values, is_local, is_open, peer
from agent.server.middleware.request_limits import Limits
from eval.errors import InputError

MIN_TOKEN_LENGTH = 16
"""In characters."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What RFC 6750 allows in a header."""
_TOKEN_PARAMETERS = frozenset(
    {"access_token", "api_key", "api-key", "apikey", "auth", "authorization", "bearer", "token"}
)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="text2sql"'}
_REFUSED = {"WWW-Authenticate": 'Bearer realm="text2sql", error="invalid_token"'}

NO_TOKENS_MESSAGE = (
    "This server has no tokens, so it answers only its own machine, called directly. To use it from elsewhere or "
    "through a proxy, start it with TEXT2SQL_TOKENS=name=token."
)


class TokensInvalid(InputError):
    """TEXT2SQL_TOKENS can't be used; the message repeats no token."""


def tokens_needed(settings: ServerSettings) -> bool:
    """Whether every client has to show a token, from this machine or elsewhere."""
    return settings.auth == "required" or (settings.auth == "auto" and settings.tokens is not None)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The clients by the digest of their token."""

    names: dict[bytes, str]
    auth: Literal["auto", "required", "off"] = "auto"
    access: Access | None = None
    identity: Identity | None = None
    local: str = "local"
    """The person of a request that needs no token."""

    @classmethod
    def of(cls, settings: ServerSettings, database: DatabaseSettings | None = None) -> Tokens:
        """`database`: the settings that name the policies. Raises TokensInvalid."""
        names: dict[bytes, str] = {}
        text = settings.tokens.get_secret_value() if settings.tokens else ""
        for number, entry in enumerate((e.strip() for e in text.split(",") if e.strip()), 1):
            name, separator, token = (part.strip() for part in entry.partition("="))
            if not separator or not _NAME.fullmatch(name):
                raise TokensInvalid(
                    f"TEXT2SQL_TOKENS: entry {number} is not written as name=token "
                    "(a name has up to 64 letters, digits, dots, dashes, underscores or @)."
                )
            if len(token) < MIN_TOKEN_LENGTH or not _TOKEN.fullmatch(token):
                raise TokensInvalid(
                    f"TEXT2SQL_TOKENS: the token of {name!r} needs at least {MIN_TOKEN_LENGTH} characters out of "
                    "letters, digits and -._~+/."
                )
            if names.setdefault(_digest(token.encode()), name) != name:
                raise TokensInvalid(f"TEXT2SQL_TOKENS: {name!r} has the token of another name.")
        try:
            access = access_of(database) if database else None
            identity = Identity(access, reserved=frozenset({*names.values(), "local"})) if access else None
        except BadPolicies as error:
            raise TokensInvalid(str(error)) from error
        return cls(names, settings.auth, access, identity, database.person if database else "local")

    def __bool__(self) -> bool:
        return bool(self.names) or (self.access is not None and bool(self.access.jwt or self.access.proxy))

    def needed(self, scope: Scope) -> bool:
        """Whether this request needs a token."""
        if self.auth == "off":
            return False
        return self.auth == "required" or bool(self) or not is_local(scope)

    def name_of(self, token: bytes) -> str | None:
        digest = _digest(token)
        owner = None
        for known, name in self.names.items():  # compare with all of them, so that the time reveals nothing
            if hmac.compare_digest(known, digest):
                owner = name
        return owner

    def client(self, name: str) -> Client:
        """The client of a token's name."""
        return self.client_of(self.access.person(name)) if self.access else Client(name)

    def client_of(self, person: Person) -> Client:
        return Client(person.name, person, self.access.digest(person) if self.access else "")


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class Authentication:
    def __init__(self, app: ASGIApp, *, tokens: Tokens, limits: Limits) -> None:
        self._app = app
        self._tokens = tokens
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._has_token_in_address(scope):
            message = "Send the token in the header `Authorization: Bearer`, never in an address: addresses are logged."
            await refuse(scope, receive, send, 400, message)
            return
        if not self._tokens.needed(scope):
            scope["state"]["client"] = self._tokens.client(self._tokens.local)
        elif not is_open(scope):
            if not self._tokens:
                await refuse(scope, receive, send, 403, NO_TOKENS_MESSAGE)
                return
            if problem := await self._problem(scope):
                status, message, headers = problem
                await refuse(scope, receive, send, status, message, headers=headers)
                return
        await self._app(scope, receive, send)

    async def _problem(self, scope: Scope) -> tuple[int, str, dict[str, str]] | None:
        given = header_values(scope, b"authorization")
        address = peer(scope)
        identity = self._tokens.identity
        try:
            if identity and (
                person := identity.of_proxy(address, lambda name: header_values(scope, name.lower().encode()))
            ):
                scope["state"]["client"] = self._tokens.client_of(person)
                return None
        except IdentityRefused as error:
            return 401, str(error), _REFUSED
        if not given:
            return 401, "A bearer token is needed.", _CHALLENGE
        if len(given) > 1:
            return 400, "There is more than one Authorization header.", {}
        scheme, _, token = given[0].partition(b" ")
        token = token.strip(b" ")
        if scheme.lower() != b"bearer" or not token:
            return 401, "The Authorization header is not of the form `Bearer TOKEN`.", _CHALLENGE
        name = self._tokens.name_of(token)
        client = self._tokens.client(name) if name is not None else None
        if client is None and identity:
            try:
                person = await identity.of_token(token.decode("latin-1"))
            except IdentityRefused as error:
                return 401, str(error), _REFUSED
            except KeysUnavailable as error:
                return 503, str(error), {"Retry-After": "10"}
            client = self._tokens.client_of(person) if person else None
        if client is None:
            if wait := await self._limits.failed(address):
                return 429, "Too many tries with a wrong token; wait a little.", {"Retry-After": str(wait)}
            return 401, "The token is not known.", _REFUSED
        scope["state"]["client"] = client
        return None

    def _has_token_in_address(self, scope: Scope) -> bool:
        query = scope.get("query_string", b"")
        if not query:
            return False
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        return any(name.lower() in _TOKEN_PARAMETERS for name, _ in pairs) or any(
            len(value) >= MIN_TOKEN_LENGTH and self._tokens.name_of(value.encode("latin-1", "replace"))
            for _, value in pairs
        )
