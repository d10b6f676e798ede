"""Who is asking: a JSON Web Token of the company's identity provider, or the header of a trusted proxy.

In: the policy file's `jwt` and `proxy` parts, and the headers of a request. Out: a `Person`, None where the request
carries no such proof, or `IdentityRefused`. A token has to be signed by the provider's key with an asymmetric
algorithm, unexpired, and made for this server (RFC 7519, OpenID Connect Core 3.1.3.7). The keys are a file's, or those
that the provider publishes (RFC 7517).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from agent.access.policies import Access, Attribute, BadPolicies, Claim, Person, attribute
from eval.errors import Text2SQLError

if TYPE_CHECKING:
    import jwt

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30
MAX_NAME = 200


class IdentityRefused(Text2SQLError):
    """A proof of identity that does not hold; the message repeats nothing of it."""


class Identity:
    def __init__(self, access: Access, *, reserved: frozenset[str] = frozenset()) -> None:
        """`reserved`: names that only the server's own tokens may give. Raises BadPolicies."""
        self._access = access
        self._reserved = reserved
        self._keys = keys_of(access.jwt.keys) if access.jwt else None

    async def of_token(self, token: str) -> Person | None:
        """The person that a JWT names; None if the text is no JWT, or none is expected. Raises IdentityRefused, and
        KeysUnavailable while nobody can tell."""
        rule = self._access.jwt
        if rule is None or self._keys is None or token.count(".") != 2:
            return None
        import jwt

        try:
            key = await self._keys.key(jwt.get_unverified_header(token).get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=list(ALGORITHMS),
                audience=rule.audience,
                issuer=rule.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            raise IdentityRefused(f"The token is refused: {type(error).__name__}.") from None
        except KeyUnknown as error:
            raise IdentityRefused(str(error)) from None
        groups = claims.get(rule.groups, ())
        return self._named(
            claims.get(rule.name), groups if isinstance(groups, list) else [groups], _attributes(claims, rule.claims)
        )

    def of_proxy(self, peer: str, headers: Callable[[str], list[bytes]]) -> Person | None:
        """The person that the trusted proxy names; None if no proxy is expected. Raises IdentityRefused."""
        rule = self._access.proxy
        if rule is None or peer not in rule.addresses:
            return None
        names, groups = headers(rule.name), headers(rule.groups)
        if len(names) != 1 or len(groups) > 1:
            raise IdentityRefused(f"The proxy has to send {rule.name} once.")
        listed = groups[0].decode("utf-8", "replace").split(",") if groups else []
        return self._named(names[0].decode("utf-8", "replace"), [g.strip() for g in listed if g.strip()], {})

    def _named(self, name: Any, groups: list[Any], attributes: dict[str, Any]) -> Person:
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
            raise IdentityRefused("The proof of identity names no person.")
        if name in self._reserved:
            raise IdentityRefused("The proof of identity has the name of one of this server's own tokens.")
        known = self._access.person(name)
        return Person(name, known.groups | {str(g) for g in groups}, {**attributes, **known.attributes})


_KINDS: dict[Claim, Any] = {
    "text": str,
    "number": int | float,
    "truth": bool,
    "texts": list[str],
    "numbers": list[int | float],
}


def _attributes(claims: Mapping[str, Any], listed: Mapping[str, Claim]) -> dict[str, Attribute]:
    """The claims that the policy file lists. One that the token lacks is no attribute. Raises IdentityRefused for one
    of another type, so that no rule meets a value that it was not written for."""
    found: dict[str, Attribute] = {}
    for name, kind in listed.items():
        if claims.get(name) is not None:
            try:
                found[name] = attribute(TypeAdapter(_KINDS[kind]).validate_python(claims[name], strict=True))
            except ValidationError:
                raise IdentityRefused(f"The token is refused: its claim {name} is not of the kind {kind}.") from None
    return found


FRESH_SECONDS = 300.0
"""After that, a request starts a fetch in the background and goes on with the keys that are there."""
GOOD_SECONDS = 86_400.0
"""How long keys are believed while the provider is away."""
PAUSE_SECONDS = 10.0
"""Between two fetches, so that unknown keys in forged tokens are no way to burden the provider."""
WAIT_SECONDS = 2.0
"""How long a request with an unknown key waits for a fetch that is under way."""
FETCH_SECONDS = 5.0
log = logging.getLogger(__name__)


class KeyUnknown(Text2SQLError):
    """No key of this name is published."""


class KeysUnavailable(Text2SQLError):
    """The provider could not be reached, so that nobody can be told right or wrong; the message says so."""


def keys_of(place: str) -> FileKeys | ProviderKeys:
    """The keys at a path or https address, of which `key` gives that of a token's `kid`, without one the only one there
    is. It raises KeyUnknown, KeysUnavailable. Raises BadPolicies."""
    try:
        import jwt  # noqa: F401
    except ModuleNotFoundError:
        raise BadPolicies("Policies with `jwt` need the extra `jwt`: pip install 'askwell[jwt]'.") from None
    return ProviderKeys(place) if place.startswith("https://") else FileKeys(Path(place))


class FileKeys:
    def __init__(self, path: Path) -> None:
        """Raises BadPolicies."""
        import jwt

        try:
            self._keys = _usable(jwt.PyJWKSet.from_dict(json.loads(path.read_bytes())))
        except (OSError, ValueError) as error:
            raise BadPolicies(f"The keys of `jwt` cannot be read from {path.name}: {error}") from None
        except (jwt.PyJWTError, RecursionError, AttributeError, TypeError) as error:
            why = f"no set of keys ({type(error).__name__})"
            raise BadPolicies(f"The keys of `jwt` cannot be read from {path.name}: {why}") from None

    async def key(self, name: str | None) -> jwt.PyJWK:
        return _key_named(self._keys, name)


class ProviderKeys:
    """PyJWT's client fetches the keys beside the requests: one fetch at a time, at most one in ten seconds whoever
    asks, and the last good set stays valid while the provider is away. Nothing here holds the event loop."""

    def __init__(self, address: str) -> None:
        from jwt import PyJWKClient

        self._client = PyJWKClient(address, timeout=FETCH_SECONDS)  # it follows no redirect
        self._keys: Mapping[str | None, jwt.PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, name: str | None) -> jwt.PyJWK:
        if time.monotonic() - self._fetched > FRESH_SECONDS or name not in self._keys:
            # Start a fetch, if none is under way and the last one is long enough ago
            running = self._fetching is not None and not self._fetching.done()
            if not running and time.monotonic() - self._tried > PAUSE_SECONDS:
                self._tried = time.monotonic()
                self._fetching = asyncio.create_task(self._fetch())
        if name not in self._keys and self._fetching is not None:
            await asyncio.wait({self._fetching}, timeout=WAIT_SECONDS)
        if time.monotonic() - self._fetched > GOOD_SECONDS:
            raise KeysUnavailable("The identity provider's keys cannot be fetched; try again in a little while.")
        return _key_named(self._keys, name)

    async def _fetch(self) -> None:
        import jwt

        try:
            async with asyncio.timeout(FETCH_SECONDS):
                published = await asyncio.to_thread(self._client.get_jwk_set, refresh=True)
            self._keys = _usable(published)
            self._fetched = time.monotonic()
        except (TimeoutError, OSError, ValueError, RecursionError, jwt.PyJWTError) as error:
            log.warning("the identity provider's keys could not be fetched: %s", type(error).__name__)


def _usable(published: jwt.PyJWKSet) -> dict[str | None, jwt.PyJWK]:
    """Keys for signatures by name; the only one also without a name. Raises ValueError."""
    usable = [key for key in published.keys if key.public_key_use in ("sig", None)]
    if not usable:
        raise ValueError("no key for signatures")
    by_name: dict[str | None, jwt.PyJWK] = {key.key_id: key for key in usable if key.key_id}
    return by_name | ({None: usable[0]} if len(usable) == 1 else {})


def _key_named(keys: Mapping[str | None, jwt.PyJWK], name: str | None) -> jwt.PyJWK:
    alone = keys.get(None)
    if name not in keys and (alone is None or alone.key_id):
        raise KeyUnknown("The token is refused: its key is not known.")
    return keys[name] if name in keys else keys[None]
