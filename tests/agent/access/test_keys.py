"""An identity provider that stalls, fails, lies about sizes or changes its keys holds up nobody."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from agent.access import KeysUnavailable
from agent.access import identity as room
from agent.access.identity import ProviderKeys
from tests.agent.server.running import running, settings_for
from tests.receivers import certificate


def published(*names: str) -> bytes:
    """A set of fresh keys with these names."""
    keys = []
    for name in names:
        public = ec.generate_private_key(ec.SECP256R1()).public_key()
        keys.append({**jwt.algorithms.ECAlgorithm.to_jwk(public, as_dict=True), "kid": name, "use": "sig"})
    return json.dumps({"keys": keys}).encode()


class Provider:
    """A small provider over TLS; what it sends can be changed, and it can be made to stall."""

    def __init__(self, certificate: Path) -> None:
        self.status, self.body, self.headers = 200, published("one"), {"Content-Type": "application/json"}
        self.asked = 0
        self.going = threading.Event()
        self.going.set()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                provider.going.wait(30)
                self.send_response(provider.status)
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(provider.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"https://127.0.0.1:{self.server.server_address[1]}/keys"

    def close(self) -> None:
        self.going.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("provider"))


@pytest.fixture
def provider(signed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("SSL_CERT_FILE", str(signed))
    made = Provider(signed)
    yield made
    made.close()


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
