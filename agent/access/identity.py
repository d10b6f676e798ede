"""Who is asking: a JSON Web Token of the company's identity provider, or the header of a trusted proxy.

In: the policy file's `jwt` and `proxy` parts, and the headers of a request. Out: a `Person`, None where the request
carries no such proof, or `IdentityRefused`. A token has to be signed by the provider's key with an asymmetric
algorithm, unexpired, and made for this server (RFC 7519, OpenID Connect Core 3.1.3.7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agent.access.keys import KeyUnknown, keys_of
from agent.access.policies import Access, Attribute, Claim, Person, attribute
from eval.errors import Text2SQLError

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
