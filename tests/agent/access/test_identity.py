"""A JSON Web Token or the header of a trusted proxy says who is asking; a forged one is refused."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from agent.access import Access, BadPolicies, Identity, IdentityRefused, Person, access_of
from agent.config import DatabaseSettings
from tests.agent.access.company import POLICIES
from tests.agent.server.running import Running, running, settings_for
from tests.pairs import rows

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLAIMS = {"iss": "https://id.example.org", "aud": "text2sql", "sub": "carl", "groups": ["sales"], "region": "EU"}


def token(key: Any = KEY, algorithm: str = "RS256", **changed: Any) -> str:
    claims = {**CLAIMS, "exp": time.time() + 60, **changed}
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, key, algorithm, headers={"kid": "one"})


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("identity")
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
    (folder / "keys.json").write_text(json.dumps({"keys": [{**public, "kid": "one"}]}))
    issuer = f"jwt: {{issuer: 'https://id.example.org', audience: text2sql, keys: {folder / 'keys.json'}, "
    issuer += "claims: {region: text, level: number, teams: texts}}\n"
    (folder / "access.yaml").write_text(f"{issuer}proxy: {{addresses: [10.0.0.7]}}\n{POLICIES}")
    return str(folder / "access.yaml")


def read(policies: str) -> Access:
    access = access_of(DatabaseSettings(TEXT2SQL_POLICIES=policies))
    assert access is not None
    return access


@pytest.fixture(scope="module")
def identity(policies: str) -> Identity:
    return Identity(read(policies), reserved=frozenset({"anna"}))


def person_of(identity: Identity, **changed: Any) -> Person:
    person = asyncio.run(identity.of_token(token(**changed)))
    assert person is not None
    return person


def test_a_token_gives_name_groups_and_attributes(identity: Identity) -> None:
    person = person_of(identity, teams=["a", "b"], city="Oslo")
    assert (person.name, person.groups) == ("carl", {"sales"})
    assert person.attributes == {"region": "EU", "teams": ("a", "b")}  # and no claim that is not listed


def test_a_renewed_token_is_the_same_owner(identity: Identity, policies: str) -> None:
    digest, now = read(policies).digest, time.time()
    claims = [{"exp": now + 60 * k, "iat": now + k, "jti": f"t{k}", "auth_time": now - k} for k in (1, 2)]
    first, second = (digest(person_of(identity, **one)) for one in claims)
    assert first == second != digest(person_of(identity, region="US"))


def test_no_claim_overwrites_who_the_person_is() -> None:
    carl = Person("carl", frozenset({"sales"}), {"person": "anna", "groups": "finance", "region": "EU"})
    assert dict(carl.settings()) == {"text2sql.person": "carl", "text2sql.groups": "sales", "text2sql.region": "EU"}


@pytest.mark.parametrize("claims", [{"region": ["EU", "US"]}, {"region": 7}, {"level": True}, {"teams": "a"}])
def test_a_claim_of_another_kind_is_refused(identity: Identity, claims: dict[str, Any]) -> None:
    with pytest.raises(IdentityRefused, match="is not of the kind"):
        asyncio.run(identity.of_token(token(**claims)))


@pytest.mark.parametrize(
    "forged",
    [
        token(exp=time.time() - 3600),
        token(aud="another"),
        token(iss="https://evil.example.org"),
        token(exp=None),
        token(sub=None),
        token(sub="anna"),
        token(key=OTHER),
        jwt.encode({**CLAIMS, "exp": time.time() + 60}, "secret-secret-secret-secret-secret", "HS256"),
        jwt.encode({**CLAIMS, "exp": time.time() + 60}, "", "none"),
        "a.b.c",
    ],
    ids=["expired", "audience", "issuer", "no expiry", "no name", "reserved", "key", "hmac", "none", "garbage"],
)
def test_a_forged_token_is_refused(identity: Identity, forged: str) -> None:
    with pytest.raises(IdentityRefused):
        asyncio.run(identity.of_token(forged))


def test_a_proxys_header_counts_only_from_its_address(identity: Identity) -> None:
    headers = {"x-forwarded-user": [b"dora"], "x-forwarded-groups": [b"sales, eu"]}
    person = identity.of_proxy("10.0.0.7", lambda name: headers.get(name.lower(), []))
    assert (person.name, person.groups) == ("dora", {"sales", "eu"})
    assert identity.of_proxy("10.0.0.8", lambda name: headers.get(name.lower(), [])) is None
    for sent in ([], [b"dora", b"anna"], [b""], [b"anna"]):
        with pytest.raises(IdentityRefused):
            identity.of_proxy("10.0.0.7", lambda name, sent=sent: sent if name == "X-Forwarded-User" else [])


@pytest.fixture(scope="module")
def server(policies: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    from tests.agent.access.company import build, whole

    folder = tmp_path_factory.mktemp("claims")
    build(f"sqlite://{folder}/company.db", whole())
    database = f"sqlite:///{folder}/company.db"
    with running(settings_for(folder, TEXT2SQL_DATABASE_URL=database, TEXT2SQL_POLICIES=policies)) as served:
        yield served


def test_claims_decide_which_rows_are_seen(server: Running) -> None:
    def asked(bearer: str) -> Any:
        statement = {"sql": "SELECT name FROM staff", "preset": "configured"}
        return server.post("/sql", statement, headers={"Authorization": f"Bearer {bearer}"})

    assert asked(token()).json()["rows"] == [["Anna"], ["Bert"], ["Cleo"]]
    assert asked(token(region="US")).json()["rows"] == [["Sentinel-Dora"], ["Sentinel-Egon"]]
    assert asked(token(region="EU' OR '1' = '1")).json()["rows"] == []
    assert asked(token(region=None)).json()["status"] == "error"
    assert asked(token(region=["EU", "US"])).status_code == 401
    assert asked(token(key=OTHER)).status_code == 401
    assert server.post("/sql", {"sql": "SELECT 1", "preset": "configured"}).status_code == 401


@pytest.mark.parametrize(("text", "why"), rows("access/unusable_policies.jsonl"))
def test_a_policy_file_that_cannot_be_used_says_why(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "access.yaml"
    path.write_text(text)
    with pytest.raises(BadPolicies, match=why):
        Identity(read(str(path)))
