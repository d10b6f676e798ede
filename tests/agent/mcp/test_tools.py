"""MCP clients list databases, read a schema, ask and run SQL, over standard input and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("mcp")

from mcp import Client, MCPError, StdioServerParameters

from eval.version import VERSION
from tests import commands
from tests.agent.mcp.client import over_http
from tests.agent.server import processes
from tests.agent.server.running import Running, running, settings_for
from tests.openai_server import OpenAIServer, completion

ACCEPT = "application/json, text/event-stream"
TOKENS = "ana=ana-token-0123456789,bo=bo-token-0123456789"
ANA, BO = "ana-token-0123456789", "bo-token-0123456789"

_ABOUT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
BEGIN = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _ABOUT}

ASKED = {"question": "How many customers are there?"}
Connect = Callable[..., Client]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a child process: nothing of ours but a folder of its own."""
    cache = os.environ.get("TEXT2SQL_CACHE_DIR")
    return processes.environment(tmp_path, **({"TEXT2SQL_CACHE_DIR": cache} if cache else {}))


@pytest.fixture
def stdio(environment: dict[str, str], tmp_path: Path) -> Connect:
    """A client whose server is a child process."""

    def connect(**more: str) -> Client:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "agent.mcp"], env={**environment, **more}, cwd=tmp_path
        )
        return Client(command, read_timeout_seconds=60)

    return connect


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with two clients."""
    with running(settings_for(tmp_path_factory.mktemp("mcp"), TEXT2SQL_TOKENS=TOKENS)) as served:
        yield served


def as_client(token: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **more}


async def exercise(client: Client) -> None:
    """What every client can do, whatever the transport."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"list_databases", "describe_schema", "ask", "run_sql"}
    assert all(tool.output_schema and tool.description for tool in tools.values())
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())

    listed = await called(client, "list_databases")
    assert [d["id"] for d in listed["databases"]] == ["shop", "enterprise"]
    for database in listed["databases"]:
        for called_so in (database["id"], database["name"]):
            known = await called(client, "run_sql", sql="SELECT 1", database=called_so)
            assert known["rows"] == [[1]]

    schema = await called(client, "describe_schema", database="shop", table="ORDERS")
    assert schema["tables"][0]["name"] == "orders"
    assert {"customer_id": "customers.customer_id"}.items() <= {
        c["name"]: c["foreign_key"] for c in schema["tables"][0]["columns"]
    }.items()

    steps: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    answer = await client.call_tool("ask", ASKED, progress_callback=progress)
    content = answer.structured_content
    shown = [content[name] for name in ("status", "rows", "rows_returned", "truncated")]
    assert shown == ["success", [[480]], 1, False]
    assert content["sql"].startswith("SELECT COUNT(*)")
    assert "480" in content["answer"]
    assert (content["reading"], content["left_out"]) == (["the number of rows (called customers) of customers"], [])
    assert steps[0] == "schema analyzer"
    assert any(step.startswith("attempt 1: passes, about ") for step in steps)

    rows = await called(client, "run_sql", sql="SELECT customer_id FROM customers ORDER BY 1", database="shop")
    assert (len(rows["rows"]), rows["rows"][0], rows["truncated"]) == (50, [1], True)
    assert rows["rows_returned"] == 480
    assert rows["status"] == "success"
    wrong = await refused(client, "run_sql", sql="SELECT nam FROM customers")
    assert "The statement failed (error): no such column: nam" in wrong
    assert "Unknown names: column nam." in wrong


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refused(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.structured_content
    return " ".join(block.text for block in result.content)


async def test_over_standard_input_and_output(stdio: Connect) -> None:
    async with stdio() as client:
        await exercise(client)
        assert "drops objects" in await refused(client, "run_sql", sql="DROP TABLE customers")
        assert "no preset" in await refused(client, "ask", question="How many?", database="/etc/passwd")
        assert "no preset" in await refused(client, "describe_schema", database="../shop.sqlite")
        assert "no table 'nothing'" in await refused(client, "describe_schema", table="nothing")
        assert "empty" in await refused(client, "ask", question="  ")
        assert "20,000" in await refused(client, "ask", question="x" * 30_000)
        assert await refused(client, "nothing")
        assert await refused(client, "ask") == "The arguments of ask cannot be used: `question` is missing."
        typed = await refused(client, "run_sql", sql=["SELECT 1"])
        assert typed == "The arguments of run_sql cannot be used: `sql`: Input should be a valid string."


async def test_the_server_names_its_version_and_offers_structures_beside_its_tools(stdio: Connect) -> None:
    async with stdio() as client:
        assert client.server_info.version == VERSION
        offered = client.server_capabilities
        assert offered.tools
        assert offered.resources
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        [whole] = (await client.read_resource("schema://shop")).contents
        [table] = (await client.read_resource("schema://shop/orders")).contents
        for unknown in ("schema://nowhere", "schema://shop/nothing"):
            with pytest.raises(MCPError, match=r"no preset|no table"):
                await client.read_resource(unknown)

    assert [r.uri for r in resources] == ["schema://shop", "schema://enterprise"]
    assert [t.uri_template for t in templates] == ["schema://{database}", "schema://{database}/{table}"]
    assert "orders" in {t["name"] for t in json.loads(whole.text)["tables"]}
    assert [t["name"] for t in json.loads(table.text)["tables"]] == ["orders"]


async def test_a_stranger_sees_only_the_databases_of_everybody(server: Running) -> None:
    async with httpx.AsyncClient(base_url=server.url, headers=as_client(ANA), timeout=60) as http:
        created = await http.post("/databases/upload", files={"file": ("mine.csv", b"a,b\n1,2\n")})
        seen = []
        for token in (ANA, BO):
            async with over_http(server.url, token) as client:
                seen.append({r.uri for r in (await client.list_resources()).resources})
        assert (await http.delete(f"/databases/{created.json()['id']}")).status_code == 204

    assert created.status_code < 300, created.text
    assert len(seen[0] - seen[1]) == 1
    assert seen[1] < seen[0]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_in_the_new_protocol_and_the_old(server: Running, mode: str) -> None:
    async with over_http(server.url, ANA, mode) as client:
        await exercise(client)
        answer = await called(client, "ask", question="How many orders are there?")
    async with httpx.AsyncClient(base_url=server.url) as http:
        kept, others = [(await http.get("/runs", headers=as_client(t))).json()["runs"] for t in (ANA, BO)]

    assert answer["run_id"] in {run["run_id"] for run in kept}
    assert others == []


def test_a_session_belongs_to_the_client_that_began_it(server: Running) -> None:
    session = server.post("/mcp", BEGIN, headers=as_client(ANA, Accept=ACCEPT)).headers["mcp-session-id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    for token, status in ((ANA, 200), (BO, 404), ("wrong-token-0123456789", 401)):
        headers = as_client(token, Accept=ACCEPT, **{"Mcp-Session-Id": session})
        assert server.post("/mcp", listing, headers=headers).status_code == status


def test_one_client_cannot_take_the_sessions_of_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.mcp.http.SESSIONS_OF_A_CLIENT", 2)
    with running(settings_for(tmp_path, TEXT2SQL_TOKENS=TOKENS)) as alone:
        answers = [alone.post("/mcp", BEGIN, headers=as_client(token, Accept=ACCEPT)) for token in (ANA, ANA, ANA, BO)]

    assert [answer.status_code for answer in answers] == [200, 200, 503, 200]
    assert [answer.headers.get("retry-after", "").isdigit() for answer in answers] == [False, False, True, False]


async def test_a_follow_up_goes_on_with_the_thread_and_a_stranger_cannot(server: Running) -> None:
    async with over_http(server.url, ANA) as client:
        first = await called(client, "ask", **ASKED)
        second = await called(client, "ask", question="How many orders are there?", thread=first["thread"])
    async with over_http(server.url, BO) as client:
        message = await refused(client, "ask", question="How many orders are there?", thread=first["thread"])

    assert second["thread"] == first["thread"]
    assert "no such thread" in message


@pytest.mark.parametrize("transport", ["http", "http-legacy", "stdio"])
async def test_cancelling_a_call_stops_the_run_and_its_model_call(
    stdio: Connect, tmp_path: Path, transport: str
) -> None:
    with OpenAIServer() as endpoint:
        endpoint.otherwise = completion("late", delay=60)
        model = {"OPENAI_BASE_URL": endpoint.url, "TEXT2SQL_MODEL": "m"}

        async def cancel(client: Client) -> None:
            call = asyncio.create_task(client.call_tool("ask", ASKED))
            assert await asyncio.to_thread(endpoint.arrived.wait, 30)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await asyncio.to_thread(endpoint.disconnected.wait, 5), "the model call went on"
            assert (await client.call_tool("list_databases")).structured_content, "the server has gone"

        if transport == "stdio":
            async with stdio(**model) as client:
                await cancel(client)
        else:
            with running(settings_for(tmp_path, **model)) as server:
                async with over_http(server.url, mode="legacy" if "legacy" in transport else "auto") as client:
                    await cancel(client)


@pytest.mark.parametrize("mode", ["masked", "schema"])
async def test_a_privacy_mode_holds_behind_the_client_too(tmp_path: Path, mode: str) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_PRIVACY=mode)) as server:
        async with over_http(server.url) as client:
            answer = await called(client, "ask", question="List the name of all customers")
            rows = await called(client, "run_sql", sql="SELECT first_name FROM customers")
            error = await refused(client, "run_sql", sql="SELECT nothing FROM customers")

    assert answer["sql"]
    assert (answer["rows"], rows["rows"]) == ([], [])
    assert answer["hidden"] == rows["hidden"] == answer["answer"]
    assert "The engine's message is hidden." in error
    assert "nothing" not in error


def test_nothing_but_messages_on_standard_output(environment: dict[str, str], tmp_path: Path) -> None:
    sent = [
        BEGIN,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": ASKED}},
    ]
    words, pipe = ("-m", "agent.mcp", "--log-level", "debug"), subprocess.PIPE
    process = commands.Process(*words, cwd=tmp_path, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)
    logged: list[str] = []
    reading = threading.Thread(target=lambda: logged.extend(process.stderr or ()))
    reading.start()
    try:
        process.stdin.write("".join(json.dumps(one) + "\n" for one in sent))
        process.stdin.flush()
        replies: list[dict[str, Any]] = []
        while not any(reply.get("id") == 2 for reply in replies):
            replies.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
    finally:
        process.kill()
        process.wait()
        reading.join()
        process.stdout.close()
        process.stderr.close()

    assert rest == ""
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert replies[-1]["result"]["structuredContent"]["rows"] == [[480]]
    assert any('"event": "run"' in line for line in logged)
