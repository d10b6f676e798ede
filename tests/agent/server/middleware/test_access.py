"""Who gets in: tokens, the machine's own user, pages of other origins, and every way around them that we know of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Mount, Route

from agent.config import ServerSettings
from agent.server.middleware import TokensInvalid, host_problem
from agent.server.middleware.tokens import Tokens
from tests.agent.server.middleware.conftest import ANA, BO, TOKENS, Serve
from tests.agent.server.running import running, settings_for
from tests.pairs import rows, sections, values


def error_of(reply: httpx.Response) -> tuple[int, str]:
    error = reply.json()["error"]
    assert error["request_id"] == reply.headers["x-request-id"]
    return reply.status_code, error["kind"]


def test_without_tokens_a_request_through_a_proxy_is_told_what_to_set(serve: Serve) -> None:
    server = serve()

    for header in ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP"]:
        reply = httpx.get(f"{server.url}/runs", headers={header: "127.0.0.1"})

        assert error_of(reply) == (403, "forbidden")
        assert "TEXT2SQL_TOKENS" in reply.json()["error"]["message"]
        assert server.reached == []


def test_with_tokens_each_name_is_its_own_client_and_open_paths_need_none(serve: Serve) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)

    assert httpx.get(f"{server.url}/runs", headers=ANA).json() == {"client": "ana"}
    assert httpx.get(f"{server.url}/runs", headers=BO).json() == {"client": "bo"}
    assert httpx.get(f"{server.url}/runs", headers={"authorization": f"bEARER  {ANA['Authorization'][7:]}"}).is_success
    for path in ["/health", "/", "/.well-known/agent-card.json", "/assets/app.js", "/t/some-thread"]:
        assert httpx.get(f"{server.url}{path}").status_code in (200, 404)
        assert httpx.post(f"{server.url}{path}").status_code == 401


def test_without_a_token_there_is_a_challenge(serve: Serve) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)

    for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "TRACE", "FROB"):
        reply = httpx.request(method, f"{server.url}/runs")
        assert reply.status_code == 401, method
        assert reply.headers["www-authenticate"].startswith("Bearer"), method
    assert error_of(httpx.get(f"{server.url}/runs")) == (401, "unauthorized")
    assert server.reached == []


@pytest.mark.parametrize("value", [*values("server/refused_tokens.jsonl"), "Bearer \udcff\udcfe\udc80"])
def test_what_is_not_exactly_a_token_is_refused(serve: Serve, value: str) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)
    head = f"GET /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: {value}\r\n\r\n"

    reply = server.raw(head.encode("utf-8", "surrogateescape"))

    assert reply.startswith(b"HTTP/1.1 401 ")
    assert server.reached == []


def test_neither_two_headers_nor_a_spelling_of_a_path_get_past_the_token(serve: Serve) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)
    lines = "Authorization: Bearer ana-token-0123456789\r\nAuthorization: Bearer bo-token-0123456789\r\n"

    reply = server.raw(f"GET /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lines}\r\n".encode())

    assert reply.startswith(b"HTTP/1.1 400 ")
    assert server.reached == []
    for path in sections("server/requests.txt")["paths behind the token"][0]:
        for method in ("GET", "HEAD", "POST"):
            reply = server.raw(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            status = int(reply.split(b" ", 2)[1])
            # "/t/..;/runs" is one of the page's own addresses; no route but the page could answer it.
            assert status in (400, 401) or (path == "/t/..;/runs" and status == 404), (method, reply[:80])
        assert server.reached == []


def test_a_token_in_an_address_is_refused_whatever_else_is_shown(serve: Serve) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)

    for query in ["token=abc", "access_token=abc", "API_KEY=abc", "q=ana-token-0123456789"]:
        for path in ("/runs", "/health"):
            reply = httpx.get(f"{server.url}{path}?{query}", headers=ANA)
            assert error_of(reply) == (400, "bad_request")
            assert "Authorization" in reply.json()["error"]["message"]
        assert server.reached == []


async def test_a_websocket_scope_reaches_no_app(serve: Serve) -> None:
    """With a server that does speak WebSocket (`uvicorn agent.server:app` without our options)."""
    server = serve()
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await server.app({"type": "websocket", "path": "/mcp/", "headers": []}, receive, send)  # type: ignore[arg-type]

    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert server.reached == []


def test_wrong_tokens_are_counted_and_right_ones_are_never_locked_out(serve: Serve) -> None:
    server = serve(TEXT2SQL_TOKENS=TOKENS)
    wrong = {"Authorization": "Bearer wrong-token-0123456789"}

    statuses = [httpx.get(f"{server.url}/runs", headers=wrong).status_code for _ in range(12)]
    guessed = httpx.get(f"{server.url}/runs", headers=wrong)

    assert statuses == [401] * 10 + [429] * 2
    assert error_of(guessed) == (429, "rate_limited")
    assert 1 <= int(guessed.headers["retry-after"]) <= 6
    assert httpx.get(f"{server.url}/runs", headers=ANA).is_success
    assert httpx.get(f"{server.url}/runs", headers=BO).is_success


def test_a_rebound_name_is_refused_where_no_token_is_asked_for(serve: Serve) -> None:
    server = serve()

    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]", "0.0.0.0"]:
        for path in ("/runs", "/health"):
            reply = httpx.get(f"{server.url}{path}", headers={"Host": f"{host}:{server.port}"})
            assert error_of(reply) == (403, "forbidden")
        assert server.reached == []


def test_names_of_the_machine_allowed_ones_and_with_tokens_any_are_answered(serve: Serve) -> None:
    server = serve(TEXT2SQL_SERVER_HOSTS="sql.example.org, other.example.org")

    for host in ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8000", "sql.example.org"]:
        assert httpx.get(f"{server.url}/runs", headers={"Host": host}).status_code == 200
    assert httpx.get(f"{serve(TEXT2SQL_TOKENS=TOKENS).url}/runs", headers={**ANA, "Host": "any.org"}).is_success
    strict = serve(TEXT2SQL_TOKENS=TOKENS, TEXT2SQL_SERVER_HOSTS="sql.example.org")
    assert httpx.get(f"{strict.url}/runs", headers={**ANA, "Host": "any.org"}).status_code == 403


def test_pages_of_another_origin_are_refused(serve: Serve) -> None:
    server = serve()

    for origin in ["https://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1"]:
        reply = httpx.post(
            f"{server.url}/query", content=b"{}", headers={"Origin": origin, "Content-Type": "text/plain"}
        )

        assert error_of(reply) == (403, "forbidden")
        assert "access-control-allow-origin" not in reply.headers
        assert server.reached == []


def test_an_allowed_origin_gets_its_preflight_and_its_headers(serve: Serve) -> None:
    server = serve(TEXT2SQL_CORS_ORIGINS="https://reports.example.org/", TEXT2SQL_TOKENS=TOKENS)
    origin = {"Origin": "https://reports.example.org"}
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}

    preflight = httpx.options(f"{server.url}/query", headers={**origin, **asked})
    answered = httpx.post(f"{server.url}/query", content=b"1", headers={**origin, **ANA})
    refused = httpx.post(f"{server.url}/query", content=b"1", headers=origin)
    other = httpx.options(f"{server.url}/query", headers={"Origin": "https://evil.example", **asked})

    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == "https://reports.example.org"
    assert "access-control-allow-credentials" not in preflight.headers
    assert answered.headers["access-control-allow-origin"] == "https://reports.example.org"
    assert "X-Run-ID" in answered.headers["access-control-expose-headers"]
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://reports.example.org"
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize("origins", ["*", "reports.example.org", "https://a.example/path", "javascript://a"])
def test_what_is_no_origin_is_refused_at_the_start(serve: Serve, origins: str) -> None:
    with pytest.raises(ValueError, match="TEXT2SQL_CORS_ORIGINS"):
        serve(TEXT2SQL_CORS_ORIGINS=origins)


@pytest.mark.parametrize(("tokens", "problem"), sections("server/requests.txt")["bad tokens"])
def test_bad_tokens_are_named_without_being_repeated(tokens: str, problem: str) -> None:
    settings = ServerSettings.model_validate({"TEXT2SQL_TOKENS": tokens})

    with pytest.raises(TokensInvalid) as raised:
        Tokens.of(settings)

    assert problem in str(raised.value)
    for entry in tokens.split(","):
        token = entry.partition("=")[2]
        assert not token or token not in str(raised.value)
    assert "TEXT2SQL_TOKENS" in (host_problem("127.0.0.1", settings) or "")


@pytest.mark.parametrize(("host", "variables", "problem"), rows("server/hosts.jsonl"))
def test_where_a_server_may_listen(host: str, variables: dict[str, str], problem: str | None) -> None:
    refusal = host_problem(host, ServerSettings.model_validate(variables))

    assert (problem in refusal) if problem and refusal else (refusal is None and problem is None)


# --- the app that is served, with every route that it has ---

OPEN = {"/", "/health", "/ready", "/.well-known/agent.json", "/.well-known/agent-card.json"}
PAGE = ("/assets", "/t/", "/r/", "/data/", "/index.html", "/favicon")


def routes(app: Any) -> list[tuple[str, str]]:
    """(method, path) of everything that is routed, placeholders filled in."""
    described = app.openapi()["paths"]
    requests = [(method.upper(), path) for path, methods in described.items() for method in methods]
    for route in app.routes:
        path = str(getattr(route, "path", ""))
        if isinstance(route, Mount):
            requests += [("GET", f"{path}/x"), ("POST", f"{path}/x")]
        elif isinstance(route, Route):
            requests += [(method, path) for method in (route.methods or {"GET", "POST", "DELETE"})]
    return [(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in requests]


def test_every_route_needs_a_token_but_those_that_tell_nothing(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_TOKENS=TOKENS)) as server, server.client() as client:
        known = routes(server.app)
        assert len(known) > 25
        assert {"/query", "/mcp", "/metrics", "/sql", "/generate"} <= {path for _, path in known}
        for method, path in known:
            status = client.request(method, path).status_code
            is_open = method in ("GET", "HEAD") and (path in OPEN or path.startswith(PAGE))
            assert (status != 401) is is_open, (method, path, status)
        for path in sorted(OPEN):
            text = client.get(path).text
            assert ANA["Authorization"][7:] not in text
            assert str(Path.home()) not in text
