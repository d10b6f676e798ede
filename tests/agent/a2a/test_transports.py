"""Other clients: HTTP+JSON beside JSON-RPC, last slashes, a card that names its tokens, messages of other forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.agent.a2a.conftest import serving, task
from tests.agent.server.running import running, settings_for

TOKEN = "0123456789abcdef"
ONE = {"A2A-Version": "1.0"}


def sql_in(content: dict[str, Any]) -> str:
    [artifact] = content["task"]["artifacts"]
    [part] = artifact["parts"]
    return json.loads(part["text"])["sql"].upper()


def test_a_task_over_http_and_json(url: str) -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"data": task()}]}

    reply = httpx.post(f"{url}message:send", json={"message": message}, headers=ONE, timeout=60)

    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/json"
    assert "COUNT" in sql_in(reply.json())


@pytest.mark.parametrize("path", ["agent-card.json", "agent.json"])
def test_the_card_offers_both_transports_to_both_protocols_and_says_since_when_it_is_so(url: str, path: str) -> None:
    reply = httpx.get(f"{url}.well-known/{path}")
    card = reply.json()

    offered = {(i["protocolBinding"], i["protocolVersion"]) for i in card["supportedInterfaces"]}
    assert offered == {(binding, version) for binding in ("JSONRPC", "HTTP+JSON") for version in ("1.0", "0.3")}
    assert (card["url"], card["preferredTransport"], card["skills"][0]["id"]) == (url, "JSONRPC", "text-to-sql")
    assert {i["url"].rstrip("/") for i in card["supportedInterfaces"]} == {url.rstrip("/")}
    assert "securitySchemes" not in card
    assert reply.headers["last-modified"].endswith("GMT")


def test_a_card_says_that_a_token_is_needed() -> None:
    with serving(TEXT2SQL_TOKENS=f"bench={TOKEN}") as url:
        card = httpx.get(f"{url}.well-known/agent-card.json").json()

        assert httpx.post(f"{url}message:send", json={}, headers=ONE).status_code == 401
    [(name, scheme)] = card["securitySchemes"].items()
    assert scheme["httpAuthSecurityScheme"]["scheme"] == "Bearer"
    assert [list(needed["schemes"]) for needed in card["securityRequirements"]] == [[name]]


def test_the_servers_root_and_endpoint_answer_with_and_without_the_last_slash(tmp_path: Path) -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": json.dumps(task())}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    with running(settings_for(tmp_path)) as server:
        for path in ("/a2a", "/a2a/", ""):
            reply = httpx.post(server.url + path, json=body, headers=ONE, timeout=60)
            assert reply.status_code == 200
            assert "COUNT" in sql_in(reply.json()["result"])
        rest = httpx.post(f"{server.url}/a2a/message:send", json={"message": message}, headers=ONE, timeout=60)
        page = httpx.get(server.url)
    assert "COUNT" in sql_in(rest.json())
    assert page.status_code == 200


def test_a_web_page_cannot_use_the_standalone_agent(url: str) -> None:
    foreign = ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Content-Type": "text/plain"})
    for headers in foreign:
        given = {"Content-Type": "application/json", **headers}
        assert httpx.post(f"{url}generate", content=json.dumps(task()), headers=given).status_code in (403, 415)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}
    reply = httpx.post(url, content=json.dumps(body), headers={"Content-Type": "text/plain", **ONE})
    assert (reply.status_code, reply.json()["error"]["code"]) == (415, -32005)


def test_the_standalone_agent_answers_to_the_name_in_its_card_and_to_those_configured() -> None:
    with serving(TEXT2SQL_SERVER_HOSTS="agent.internal") as url:
        for host, status in (("agent.internal", 200), ("127.0.0.1", 200), ("other.internal", 403)):
            assert httpx.get(f"{url}health", headers={"Host": host}).status_code == status
