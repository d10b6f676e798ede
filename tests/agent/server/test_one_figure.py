"""Every door quotes the same probability, and none tells a success below even odds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from agent.runtime.attempts import in_ten
from eval.scoring import EVEN_ODDS
from eval.tasks.demos import demo_path
from tests import commands
from tests.agent.server.running import Running, scripted
from tests.openai_server import OpenAIServer

ANSWERED, DOUBTFUL = 0, 5
PLAIN = "How many customers are there?"
WRONG = "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'"
OFFLINE = [PLAIN, "total revenue by month"]


def quoted(answer: dict[str, Any]) -> float:
    """The one figure of an answer; its headline, attempts, notes and evidence say no other."""
    report = answer["attempts"][-1]["eval_report"]
    chance = answer["confidence"]
    assert chance == round(report["probability"], 4)
    assert in_ten(chance) in answer["verdict"]
    assert in_ten(chance).lower() in answer["attempts"][-1]["verdict"]
    assert report["dimensions"]["correctness"] == 0 or f"{chance:.0%}" in report["analysis"]["notes"]["correctness"]
    assert answer["status"] != "success" or chance >= EVEN_ODDS
    weights = [abs(e["weight"]) for e in report["analysis"]["evidence"]]
    assert weights == sorted(weights, reverse=True)
    return float(chance)


def streamed(server: Running, question: str) -> dict[str, Any]:
    return dict(server.ask(question, preset="shop").of("answer")[-1])


async def by_mcp(server: Running, question: str) -> dict[str, Any]:
    async with (
        httpx2.AsyncClient(timeout=60) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), read_timeout_seconds=60) as client,
    ):
        content = (await client.call_tool("ask", {"question": question, "database": "shop"})).structured_content
    assert content is not None
    return content


def by_command(question: str, *options: str) -> tuple[int, str]:
    done = commands.run("-m", "agent.main", question, "--db", demo_path("shop"), *options)
    return done.returncode, done.stdout


@pytest.mark.parametrize("question", OFFLINE)
def test_all_doors_quote_one_figure(server: Running, question: str) -> None:
    answer = streamed(server, question)
    chance = quoted(answer)

    content = asyncio.run(by_mcp(server, question))
    assert (content["confidence"], content["verdict"]) == (chance, answer["verdict"])

    code, output = by_command(question, "--json")
    assert quoted(json.loads(output)) == chance
    assert code == (ANSWERED if answer["status"] == "success" else DOUBTFUL)

    _, explained = by_command(question, "--explain")
    assert answer["verdict"][1:] in explained
    assert "the engine" in explained.casefold()


def test_a_favourable_opinion_lifts_no_contradicted_query(model_server: Running, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = scripted(WRONG)
    answer = model_server.ask("How many orders are there?").of("answer")[-1]
    assert answer["status"] == "doubtful"
    assert answer["confidence"] < EVEN_ODDS
    assert answer["verdict"].startswith("Likely wrong")
