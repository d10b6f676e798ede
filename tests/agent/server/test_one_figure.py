"""Every door quotes the same probability, and none tells a success below even odds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("mcp")


from agent.runtime.attempts import in_ten
from eval.scoring import EVEN_ODDS
from eval.tasks.demos import demo_path
from tests import commands
from tests.agent.mcp.client import over_http
from tests.agent.server.running import Running

ANSWERED, DOUBTFUL = 0, 5
PLAIN = "How many customers are there?"
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
    async with over_http(server.url) as client:
        done = await client.call_tool("ask", {"question": question, "database": "shop"})
    return dict(done.structured_content or {})


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
