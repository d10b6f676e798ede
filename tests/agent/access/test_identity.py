"""A token or the header of a trusted proxy says who asks; a forged one is refused, and no provider stalls us."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from agent.access import Access, BadPolicies, Identity, IdentityRefused, KeysUnavailable, Person, access_of
from agent.access import identity as room
from agent.access.identity import ProviderKeys
from agent.config import DatabaseSettings
from tests.agent.access.conftest import POLICIES
from tests.agent.server.running import Running, running, settings_for
from tests.http_server import Answer, answered_by
from tests.pairs import rows
from tests.receivers import certificate

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CLAIMS = {"iss": "https://id.example.org", "aud": "text2sql", "sub": "carl", "groups": ["sales"], "region": "EU"}


def token(key: Any = KEY, algorithm: str = "RS256", **changed: Any) -> str:
    claims = {**CLAIMS, "exp": time.time() + 60, **changed}
    return jwt.encode({k: v for k, v in claims.items() if v is not None}, key, algorithm, headers={"kid": "one"})


@pytest.fixture(scope="module")
def identities(tmp_path_factory: pytest.TempPathFactory) -> str:
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
def identity(identities: str) -> Identity:
    return Identity(read(identities), reserved=frozenset({"anna"}))


def person_of(identity: Identity, **changed: Any) -> Person:
    person = asyncio.run(identity.of_token(token(**changed)))
    assert person is not None
    return person


def test_a_token_gives_name_groups_and_attributes_and_renewed_the_same_owner(
    identity: Identity, identities: str
) -> None:
    person = person_of(identity, teams=["a", "b"], city="Oslo")
    assert (person.name, person.groups) == ("carl", {"sales"})
    assert person.attributes == {"region": "EU", "teams": ("a", "b")}  # and no claim that is not listed
    digest, now = read(identities).digest, time.time()
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
def server(identities: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    from tests.agent.access.conftest import build, whole

    folder = tmp_path_factory.mktemp("claims")
    build(f"sqlite://{folder}/company.db", whole())
    database = f"sqlite:///{folder}/company.db"
    with running(settings_for(folder, TEXT2SQL_DATABASE_URL=database, TEXT2SQL_POLICIES=identities)) as served:
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


def published(*names: str) -> bytes:
    """A set of fresh keys with these names."""
    keys = []
    for name in names:
        public = ec.generate_private_key(ec.SECP256R1()).public_key()
        keys.append({**jwt.algorithms.ECAlgorithm.to_jwk(public, as_dict=True), "kid": name, "use": "sig"})
    return json.dumps({"keys": keys}).encode()


@dataclass
class Provider:
    """A small provider over TLS; what it sends can be changed, and it can be made to stall."""

    address: str = ""
    status: int = 200
    body: bytes = field(default_factory=lambda: published("one"))
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    asked: int = 0
    going: threading.Event = field(default_factory=threading.Event)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("provider"))


@pytest.fixture
def provider(signed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("SSL_CERT_FILE", str(signed))
    made = Provider()
    made.going.set()

    def answer(*_: object) -> Answer:
        made.asked += 1
        made.going.wait(30)
        return made.status, made.headers, made.body

    with answered_by(answer, certificate=signed) as place:
        made.address = f"https://{place}/keys"
        yield made
        made.going.set()


async def asked(keys: ProviderKeys, *names: str | None) -> list[Any]:
    """What asking for keys gives, errors included."""
    return await asyncio.gather(*(keys.key(name) for name in names), return_exceptions=True)


def kinds(found: list[Any]) -> list[str]:
    return [type(x).__name__ for x in found]


def test_keys_are_fetched_once_for_many_requests(provider: Provider) -> None:
    keys = ProviderKeys(provider.address)
    found = asyncio.run(asked(keys, "one", None, "one", "two"))
    assert kinds(found) == ["PyJWK", "PyJWK", "PyJWK", "KeyUnknown"]
    assert provider.asked == 1


def test_forged_names_of_keys_do_not_reach_the_provider(provider: Provider) -> None:
    keys = ProviderKeys(provider.address)

    async def attacked() -> list[Any]:
        await keys.key("one")
        return [x for k in range(50) for x in await asked(keys, f"forged{k}")]

    assert set(kinds(asyncio.run(attacked()))) == {"KeyUnknown"}
    assert provider.asked == 1


def test_a_new_key_is_found_after_a_pause(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ProviderKeys(provider.address)

    async def rotated() -> list[Any]:
        await keys.key("one")
        provider.body = published("two", "three")
        refused = await asked(keys, "two")
        monkeypatch.setattr(room, "PAUSE_SECONDS", -1.0)
        return refused + await asked(keys, "two", "three") + await asked(keys, "one")

    assert kinds(asyncio.run(rotated())) == ["KeyUnknown", "PyJWK", "PyJWK", "KeyUnknown"]


def test_the_last_good_keys_stay_while_the_provider_stalls(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ProviderKeys(provider.address)

    async def stalled() -> list[Any]:
        await keys.key("one")
        monkeypatch.setattr(room, "FRESH_SECONDS", -1.0)
        monkeypatch.setattr(room, "PAUSE_SECONDS", -1.0)
        provider.going.clear()
        known = [await keys.key("one") for _ in range(20)]  # none of them waits
        monkeypatch.setattr(room, "WAIT_SECONDS", 30.0)
        patient = asyncio.ensure_future(asked(keys, *(f"forged{k}" for k in range(6))))
        for _ in range(20):  # the event loop goes on beside the six that wait
            await asyncio.sleep(0)
        assert not patient.done()
        monkeypatch.setattr(room, "WAIT_SECONDS", 0.01)
        impatient = await asked(keys, "forged6")
        provider.going.set()
        return known + impatient + await patient

    assert kinds(asyncio.run(stalled())) == ["PyJWK"] * 20 + ["KeyUnknown"] * 7
    assert provider.asked == 2


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (500, b"", {}),
        (302, b"", {"Location": "https://127.0.0.1:1/keys"}),
        (200, b"<html>", {}),
        (200, b"[]", {}),
        (200, b'{"keys": []}', {}),
        (200, b"[" * 100_000, {}),
        (200, b"x", {"Content-Length": "9999999"}),
    ],
    ids=["fails", "redirects", "html", "no object", "no keys", "nested", "wrong size"],
)
def test_a_provider_that_answers_wrongly_is_told(
    provider: Provider, status: int, body: bytes, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    provider.status, provider.body, provider.headers = status, body, headers
    with pytest.raises(KeysUnavailable):
        asyncio.run(ProviderKeys(provider.address).key("one"))
    assert "could not be fetched" in caplog.text


def test_keys_are_not_believed_for_ever(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ProviderKeys(provider.address)

    async def aged() -> None:
        await keys.key("one")
        provider.status = 500
        monkeypatch.setattr(room, "GOOD_SECONDS", -1.0)
        await keys.key("one")

    with pytest.raises(KeysUnavailable):
        asyncio.run(aged())


def test_a_server_answers_beside_a_provider_that_stalls(provider: Provider, tmp_path: Path) -> None:
    provider.going.clear()
    policies = tmp_path / "access.yaml"
    policies.write_text(f"jwt: {{issuer: i, audience: a, keys: '{provider.address}'}}\nrules: []")
    forged = jwt.encode({"iss": "i"}, ec.generate_private_key(ec.SECP256R1()), "ES256", headers={"kid": "one"})
    with running(settings_for(tmp_path, TEXT2SQL_POLICIES=str(policies))) as server, ThreadPoolExecutor(6) as beside:
        waiting = [
            beside.submit(server.get, "/presets", headers={"Authorization": f"Bearer {forged}"}) for _ in range(6)
        ]
        answered = 0
        while not all(one.done() for one in waiting):
            assert server.get("/health").status_code == 200
            answered += 1
        assert {one.result().status_code for one in waiting} == {503}
        assert waiting[0].result().headers["Retry-After"] == "10"
        assert answered > 6
    assert provider.asked == 1
