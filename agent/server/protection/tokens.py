"""Who is asking: bearer tokens, and the machine's own user where no token is asked for.

In: TEXT2SQL_TOKENS and TEXT2SQL_AUTH; a request. Out: a `Client` in `scope["state"]["client"]`, or 401, 403 or 429.
Tokens are kept as SHA-256 only and compared in constant time. Failed tries are counted by address.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.access import Client
from agent.server.protection.addresses import header_values, is_local, is_open, peer
from agent.server.protection.rates import Buckets
from agent.server.protection.refusing import refuse

if TYPE_CHECKING:
    from agent.config import Settings

LOCAL = Client("local")
SHORTEST = 16
"""Characters of a token."""
FAILED_TRIES = 10
"""Wrong tokens in a row from one address; one more every 6 seconds."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What RFC 6750 allows in a header."""
_IN_ADDRESS = frozenset({"access_token", "api_key", "api-key", "apikey", "auth", "authorization", "bearer", "token"})
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="text2sql"'}
_REFUSED = {"WWW-Authenticate": 'Bearer realm="text2sql", error="invalid_token"'}

OPEN_TO_NOBODY = (
    "This server has no tokens, so it answers only its own machine, called directly. To use it from elsewhere or "
    "through a proxy, start it with TEXT2SQL_TOKENS=name=token."
)


class TokensInvalid(ValueError):
    """TEXT2SQL_TOKENS can't be used; the message repeats no token."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The names that may ask, by the digest of their token."""

    names: dict[bytes, str]
    auth: Literal["auto", "required", "off"] = "auto"

    @classmethod
    def of(cls, settings: Settings) -> Tokens:
        """Raises TokensInvalid."""
        names: dict[bytes, str] = {}
        text = settings.tokens.get_secret_value() if settings.tokens else ""
        for number, entry in enumerate((e.strip() for e in text.split(",") if e.strip()), 1):
            name, separator, token = (part.strip() for part in entry.partition("="))
            if not separator or not _NAME.fullmatch(name):
                raise TokensInvalid(
                    f"TEXT2SQL_TOKENS: entry {number} is not written as name=token "
                    "(a name has up to 64 letters, digits, dots, dashes, underscores or @)."
                )
            if len(token) < SHORTEST or not _TOKEN.fullmatch(token):
                raise TokensInvalid(
                    f"TEXT2SQL_TOKENS: the token of {name!r} needs at least {SHORTEST} characters out of letters, "
                    "digits and -._~+/."
                )
            if names.setdefault(_digest(token.encode()), name) != name:
                raise TokensInvalid(f"TEXT2SQL_TOKENS: {name!r} has the token of another name.")
        return cls(names, settings.auth)

    def __bool__(self) -> bool:
        return bool(self.names)

    def needed(self, scope: Scope) -> bool:
        """Whether this request has to show a token."""
        if self.auth == "off":
            return False
        return self.auth == "required" or bool(self.names) or not is_local(scope)

    def name_of(self, token: bytes) -> str | None:
        digest = _digest(token)
        found = None
        for known, name in self.names.items():  # all of them, so that time tells nothing
            if hmac.compare_digest(known, digest):
                found = name
        return found


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class WhoIsAsking:
    def __init__(self, app: ASGIApp, *, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens
        self._failures = Buckets(per_second=1 / 6, burst=FAILED_TRIES)
        self._succeeded: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._in_address(scope):
            message = "Send the token in the header `Authorization: Bearer`, never in an address: addresses are logged."
            await refuse(scope, receive, send, 400, message)
            return
        if not self._tokens.needed(scope):
            scope["state"]["client"] = LOCAL
        elif not is_open(scope):
            if not self._tokens:
                await refuse(scope, receive, send, 403, OPEN_TO_NOBODY)
                return
            if problem := self._problem(scope):
                status, message, headers = problem
                await refuse(scope, receive, send, status, message, headers=headers)
                return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str, dict[str, str]] | None:
        given = header_values(scope, b"authorization")
        if not given:
            return 401, "A bearer token is needed.", _CHALLENGE
        if len(given) > 1:
            return 400, "There is more than one Authorization header.", {}
        scheme, _, token = given[0].partition(b" ")
        token = token.strip(b" ")
        if scheme.lower() != b"bearer" or not token:
            return 401, "The Authorization header is not of the form `Bearer TOKEN`.", _CHALLENGE
        address = peer(scope)
        name = self._tokens.name_of(token)
        known_here = name is not None and (address, name) in self._succeeded
        # Past the limit a right token is refused like a wrong one, unless it was used from here before: else every
        # further guess would still be answered.
        if not known_here and (wait := self._failures.wait(address)):
            message = "Too many tries with a wrong token; wait a little."
            return 429, message, {"Retry-After": str(wait)}
        if name is None:
            self._failures.take(address)
            return 401, "The token is not known.", _REFUSED
        self._succeeded[address, name] = None
        self._succeeded.move_to_end((address, name))
        while len(self._succeeded) > Buckets.KEPT:
            self._succeeded.popitem(last=False)
        scope["state"]["client"] = Client(name)
        return None

    def _in_address(self, scope: Scope) -> bool:
        query = scope.get("query_string", b"")
        if not query:
            return False
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
        return any(name.lower() in _IN_ADDRESS for name, _ in pairs) or any(
            len(value) >= SHORTEST and self._tokens.name_of(value.encode("latin-1", "replace")) for _, value in pairs
        )
