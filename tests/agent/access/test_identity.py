"""A JSON Web Token or the header of a trusted proxy says who is asking; a forged one is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from agent.access import BadPolicies, Identity, IdentityRefused, access_of
from agent.config import DatabaseSettings
from tests.agent.access.company import POLICIES
from tests.agent.server.running import Running, running, settings_for

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
    issuer = f"jwt: {{issuer: 'https://id.example.org', audience: text2sql, keys: {folder / 'keys.json'}}}\n"
    (folder / "access.yaml").write_text(f"{issuer}proxy: {{addresses: [10.0.0.7]}}\n{POLICIES}")
    return str(folder / "access.yaml")


@pytest.fixture(scope="module")
def identity(policies: str) -> Identity:
    access = access_of(DatabaseSettings(TEXT2SQL_POLICIES=policies))
    assert access is not None
    return Identity(access, reserved=frozenset({"anna"}))


def test_a_token_gives_name_groups_and_attributes(identity: Identity) -> None:
    person = identity.of_token(token())
    assert person is not None
    assert (person.name, person.groups, person.attribute("region")) == ("carl", {"sales"}, "EU")


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
        identity.of_token(forged)


def test_a_proxys_header_counts_only_from_its_address(identity: Identity) -> None:
    headers = {"x-forwarded-user": [b"dora"], "x-forwarded-groups": [b"sales, eu"]}
    person = identity.of_proxy("10.0.0.7", lambda name: headers.get(name.lower(), []))
    assert person is not None
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
        return server.post(
            "/sql",
            {"sql": "SELECT name FROM staff", "preset": "configured"},
            headers={"Authorization": f"Bearer {bearer}"},
        )

    assert asked(token()).json()["rows"] == [["Anna"], ["Bert"], ["Cleo"]]
    assert asked(token(region="US")).json()["rows"] == [["Sentinel-Dora"], ["Sentinel-Egon"]]
    assert asked(token(region="EU' OR '1' = '1")).json()["rows"] == []
    assert asked(token(region=None)).json()["status"] == "error"
    assert asked(token(key=OTHER)).status_code == 401
    assert server.post("/sql", {"sql": "SELECT 1", "preset": "configured"}).status_code == 401


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rules: [{who: {}, database: '*', tables: {}, mode: all}]", "mode"),
        ("rules: [{who: {nme: anna}, database: '*', tables: {}}]", "nme"),
        ("rules: &a []\nmore: *a", "aliases"),
        ("rules: []\nrules: []", "twice"),
        ("people: {anna: {Region: EU}}\nrules: []", "Region"),
        ("jwt: {issuer: i, audience: a, keys: nothing.json}\nrules: []", "nothing.json"),
        ("[", "no YAML"),
    ],
)
def test_a_policy_file_that_cannot_be_used_says_why(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "access.yaml"
    path.write_text(text)
    with pytest.raises(BadPolicies, match=why):
        Identity(access_of(DatabaseSettings(TEXT2SQL_POLICIES=str(path))))  # type: ignore[arg-type]
