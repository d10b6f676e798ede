"""The model is chosen on the page by those who may; its key is sealed, never shown, and never sent elsewhere."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from agent.models.connections import MOST_BYTES
from tests.agent.server.running import ANA, BEN, running, scripted, settings_for
from tests.openai_server import OpenAIServer, Reply, completion, error
from tests.pairs import FIXTURES
from tests.settings import overridden

KEY = "sk-a-key-that-nobody-may-see"


def test_a_model_is_tried_chosen_sealed_and_given_back(tmp_path: Path, endpoint: OpenAIServer) -> None:
    config = settings_for(tmp_path, TEXT2SQL_TOKENS=f"ana={ANA},ben={BEN}", TEXT2SQL_ADMINS="ana")
    wanted = {"base_url": endpoint.url, "name": "chosen-model", "api_key": KEY}
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
    with running(config) as server, server.client() as client:
        kwargs: list[Any] = [{"headers": {"Authorization": f"Bearer {token}"}} for token in (ANA, BEN)]
        ana, ben = kwargs
        assert client.get("/model", **ana).json()["offline"] is True

        tried = client.post("/model/test", json=wanted, **ana).json()
        kept = client.put("/model", json=wanted | {"strategy": "cascade"}, **ana)

        assert tried["ok"], tried
        assert (tried["name"], tried["asked"], tried["right"]) == ("chosen-model", 3, 0)
        assert tried["strategy"] == "offline"
        assert client.get("/model/servers", **ben).status_code == 403
        told = {"name": "chosen-model", "base_url": "", "has_key": True, "offline": False, "kept": True}
        assert kept.json() | {"base_url": ""} == told | {"may_change": True, "strategy": "cascade"}
        assert client.get("/model", **ben).json()["base_url"] is None
        assert client.put("/model", json=wanted, **ben).status_code == 403
        assert client.post("/model/test", json=wanted, **ben).status_code == 403
        answer = client.post("/query", json={"question": "How many customers?"}, **ben)
        assert '"model":"chosen-model"' in answer.text
        assert "Not judged: the strategy has no judge." in answer.text
    state = b"".join(path.read_bytes() for path in (tmp_path / "state").glob("state.sqlite*"))
    assert KEY.encode() not in state

    with running(config) as server, server.client() as client:  # a server that starts later
        client.headers["Authorization"] = f"Bearer {ANA}"
        assert client.get("/model").json()["name"] == "chosen-model"
        endpoint.otherwise = error(401, "Incorrect API key provided.")
        with OpenAIServer() as elsewhere:
            other = {"base_url": elsewhere.url, "name": "m"}
            client.post("/model/test", json=other)
            sent = [*elsewhere.listed, *elsewhere.requests]
            assert len(sent) > 1
            assert all(KEY not in str(request.headers) for request in sent)
        refused = client.post("/model/test", json={"base_url": endpoint.url, "name": "m"}).json()
        assert (refused["ok"], KEY in refused["message"]) == (False, False)
        assert client.delete("/model").json()["offline"] is True


def test_the_semantic_model_is_in_examples_schema_and_profile(tmp_path: Path) -> None:
    model = FIXTURES / "server/sales_model.yaml"
    with running(settings_for(tmp_path, TEXT2SQL_SEMANTIC_MODEL=model)) as server, server.client() as client:
        files = {"file": ("sales.csv", b"shop,amount\nnorth,1.5\nsouth,2\n")}
        made = client.post("/databases/upload", files=files).json()
        examples = client.get(f"/schema/{made['id']}/examples").json()
        schema, profile = (client.get(f"/schema/{made['id']}{part}").json() for part in ("", "/profile"))
    assert "What was sold" in schema["tables"][0]["comment"]
    assert profile["fingerprint"] == schema["fingerprint"]
    assert examples[0] == "Which shop sold most?"
    assert "Who works where?" not in examples


def test_what_belongs_to_the_configured_endpoint_is_sent_to_no_other(tmp_path: Path, endpoint: OpenAIServer) -> None:
    headers = {"X-Gateway-Key": SecretStr("sesame")}
    config = settings_for(tmp_path, OPENAI_BASE_URL=endpoint.url)
    config = overridden(config, extra_headers=headers, extra_body={"account": "sesame"})
    with OpenAIServer() as elsewhere, running(config) as server, server.client() as client:
        for one in (endpoint, elsewhere):
            one.otherwise = scripted("SELECT COUNT(*) FROM customers")
            asked = {"base_url": one.url, "name": "m"}
            assert client.post("/model/test", json=asked).json()["ok"]
            client.put("/model", json=asked)
            client.post("/query", json={"question": "How many customers?"})
        ours, theirs = ([str((r.headers, r.body)) for r in one.requests] for one in (endpoint, elsewhere))
    assert all("sesame" in request for request in ours if "chat" in request)
    assert len(theirs) > 2
    assert not any("sesame" in str(request.headers) for request in elsewhere.listed)
    assert not any("sesame" in request for request in theirs)


def test_hosts_that_no_setting_names_cannot_be_chosen(tmp_path: Path) -> None:
    inside = ["http://10.0.0.7/v1", "http://192.168.1.5:11434/v1", "http://[fd12::1]/v1"]
    never = ["http://169.254.169.254/latest", "http://[fe80::1]/v1", "http://[::ffff:169.254.169.254]/"]
    never += ["http://0.0.0.0/"]
    with running(settings_for(tmp_path)) as server:
        for address in (*inside, *never, "http://2852039166/", "http://host:99999/v1"):
            for answer in (
                httpx.put(f"{server.url}/model", json={"base_url": address, "name": "m"}),
                httpx.post(f"{server.url}/model/test", json={"base_url": address, "name": "m"}),
            ):
                assert answer.status_code in (403, 422), address
    with running(settings_for(tmp_path, TEXT2SQL_MODEL_HOSTS="10.0.0.0/8,*")) as server:
        chosen = {
            address: httpx.put(f"{server.url}/model", json={"base_url": address, "name": "m"}).status_code
            for address in (*inside, *never, "https://1.1.1.1/v1")
        }
    assert [address for address, status in chosen.items() if status == 200] == [inside[0], "https://1.1.1.1/v1"]


def test_an_endpoint_cannot_lead_elsewhere_nor_fill_the_memory(tmp_path: Path, endpoint: OpenAIServer) -> None:
    told = {}
    with OpenAIServer() as elsewhere, running(settings_for(tmp_path)) as server, server.client() as client:
        asked = {"base_url": endpoint.url, "name": "m", "api_key": KEY}
        client.put("/model", json=asked)
        for name, reply in {
            "redirects": Reply(307, headers={"Location": f"{elsewhere.url}/chat/completions"}),
            "bytes": Reply(body=b" " * (MOST_BYTES + 1)),
            "packed": Reply(body=gzip.compress(b" " * 10_000_000), headers={"Content-Encoding": "gzip"}),
            "controls": completion("\x1b[2J\x1b]0;owned\x07" + "x" * 10_000),
        }.items():
            endpoint.otherwise = reply
            tried = client.post("/model/test", json=asked).json()
            assert "message" in tried, (name, tried)
            told[name] = tried["message"]
            streamed = client.post("/query", json={"question": "How many customers?"}).text
            assert streamed.rstrip().splitlines()[-1].startswith('data: {"event":"done"'), name
        assert elsewhere.requests == []
    assert "redirects (307), which is not followed" in told["redirects"]
    assert all(text.isprintable() and len(text) <= 400 for text in told.values())
    assert "sent more than" in told["bytes"]
    assert "packed" in told["packed"]
