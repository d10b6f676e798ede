"""The same three-turn conversations through every door: each reads them alike and gives the same SQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from sqlglot import parse_one
from typing_extensions import TypedDict

from agent.batch import _turns
from agent.cli.session import Asker
from agent.runner import run
from eval.databases import open_database
from eval.databases.base import Database
from eval.tasks import demo_path
from tests.agent.a2a.conftest import serving
from tests.agent.server.running import Running, running, settings_for
from tests.pairs import sections
from text2sql import Thread, Turn, build_graph

Talk = Callable[[list[str]], Awaitable[list[str]]]

CONVERSATIONS = sections("conversations/doors.txt")["three turns"]


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with open_database(demo_path("shop")) as database:
        yield database


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(settings_for(tmp_path_factory.mktemp("doors"))) as server:
        yield server


@pytest.fixture(scope="module")
def a2a() -> Iterator[str]:
    with serving() as url:
        yield url


def structure(database: Database) -> dict[str, Any]:
    """The structure as a client of A2A sends it."""
    tables = []
    for table in database.schema().tables:
        keys = {k.columns[0]: f"{k.ref_table}.{k.ref_columns[0]}" for k in table.foreign_keys}
        columns = [
            {
                **{key: getattr(c, key) for key in ("name", "type", "nullable", "primary_key")},
                "foreign_key": keys.get(c.name),
            }
            for c in table.columns
        ]
        tables.append({"name": table.name, "columns": columns})
    return {"tables": tables}


@pytest.fixture
async def reference(shop: Database) -> Talk:
    """The history alone, handed on by the caller."""

    async def talk(turns: list[str]) -> list[str]:
        history: list[Turn] = []
        said = []
        for number, words in enumerate(turns, 1):
            answer = await run(words, database=shop, model="offline", history=history)
            history.append(Turn(number=number, asked=words, question=answer.read_as or words, sql=answer.sql))
            said.append(answer.sql)
        return said

    return talk


def by_http(server: Running) -> Talk:
    async def talk(turns: list[str]) -> list[str]:
        said: list[str] = []
        thread: dict[str, str] = {}
        for words in turns:
            stream = server.ask(words, preset="shop", **thread)
            thread = {"thread_id": stream.thread_id}
            said.append(stream.of("answer")[0]["sql"])
        return said

    return talk


def by_mcp(server: Running) -> Talk:
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def talk(turns: list[str]) -> list[str]:
        said: list[str] = []
        thread: dict[str, str] = {}
        async with Client(streamable_http_client(f"{server.url}/mcp"), read_timeout_seconds=60) as client:
            for words in turns:
                reply = await client.call_tool("ask", {"question": words, "database": "shop", **thread})
                thread = {"thread": reply.structured_content["thread"]}
                said.append(reply.structured_content["sql"])
        return said

    return talk


def by_a2a(url: str, tables: dict[str, Any]) -> Talk:
    async def talk(turns: list[str]) -> list[str]:
        said: list[str] = []
        context: dict[str, str] = {}
        async with httpx.AsyncClient(timeout=60) as http:
            for words in turns:
                task = words if context else json.dumps({"question": words, "schema": tables})
                part = {"kind": "text", "text": task}
                message = {"messageId": uuid4().hex, "role": "user", "parts": [part], **context}
                call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
                done = (await http.post(url, json=call)).json()["result"]
                context = {"contextId": done["contextId"]}
                said.append(json.loads(done["artifacts"][0]["parts"][0]["text"])["sql"])
        return said

    return talk


def by_langgraph(database: Database, *, node: bool) -> Talk:
    class Mail(TypedDict, total=False):
        question: str
        history: list[Turn]
        query_results: list[Any]

    async def talk(turns: list[str]) -> list[str]:
        if node:
            builder = StateGraph(Mail)
            builder.add_node("ask", build_graph(database, "offline"))
            builder.add_edge(START, "ask")
            builder.add_edge("ask", END)
            graph: Any = builder.compile(checkpointer=InMemorySaver())
        else:
            graph = build_graph(database, "offline", InMemorySaver())
        states = [await graph.ainvoke({"question": q}, {"configurable": {"thread_id": "t"}}) for q in turns]
        return [state["history"][-1].sql for state in states]

    return talk


def by_thread(database: Database) -> Talk:
    async def talk(turns: list[str]) -> list[str]:
        thread = Thread(database, model="offline")
        return [(await thread.run(words)).sql for words in turns]

    return talk


def by_command_line(database: Database) -> Talk:
    async def talk(turns: list[str]) -> list[str]:
        from rich.console import Console

        asker = Asker(Console(quiet=True), model="offline", quiet=True, database=database, thread="t")
        return [(await asyncio.to_thread(asker.ask, words)).sql for words in turns]

    return talk


def by_batch(database: Database) -> Talk:
    async def talk(turns: list[str]) -> list[str]:
        return [line["sql"] for line in await _turns(turns, database, "offline")]

    return talk


DOORS = ["http", "mcp", "a2a", "langgraph", "node of a graph", "Thread", "command line", "batch"]


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, shop: Database) -> Talk:
    ask = request.getfixturevalue
    makers: dict[str, Callable[[], Talk]] = {
        "http": lambda: by_http(ask("server")),
        "mcp": lambda: by_mcp(ask("server")),
        "a2a": lambda: by_a2a(ask("a2a"), structure(shop)),
        "langgraph": lambda: by_langgraph(shop, node=False),
        "node of a graph": lambda: by_langgraph(shop, node=True),
        "Thread": lambda: by_thread(shop),
        "command line": lambda: by_command_line(shop),
        "batch": lambda: by_batch(shop),
    }
    return makers[request.param]()


@pytest.mark.parametrize("turns", CONVERSATIONS, ids=lambda turns: turns[0])
async def test_every_door_holds_the_same_conversation(door: Talk, reference: Talk, turns: list[str]) -> None:
    said = await door(turns)

    assert [plain(sql) for sql in said] == [plain(sql) for sql in await reference(turns)]
    assert all(said)
    assert len(set(said)) == 3


def plain(sql: str) -> str:
    """Without its layout: what is not executed comes in one line."""
    return parse_one(sql, read="sqlite").sql("sqlite")
