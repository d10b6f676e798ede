"""The public keys that tokens are signed with: a file's, or those that an identity provider publishes (RFC 7517).

In: the `keys` of the policy file's `jwt` part. Out: the key that a token names. PyJWT's client fetches a provider's
keys, beside the requests: one fetch at a time, at most one in ten seconds whoever asks, and the last good set stays
valid while the provider is away. Nothing here holds the event loop.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.access.policies import BadPolicies
from eval.errors import Text2SQLError

if TYPE_CHECKING:
    import jwt

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
        return _named(self._keys, name)


class ProviderKeys:
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
        return _named(self._keys, name)

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


def _named(keys: Mapping[str | None, jwt.PyJWK], name: str | None) -> jwt.PyJWK:
    alone = keys.get(None)
    if name not in keys and (alone is None or alone.key_id):
        raise KeyUnknown("The token is refused: its key is not known.")
    return keys[name] if name in keys else keys[None]
