"""What LangChain's callbacks cost a question, in processor time.

`python -m experiments.callbacks_cost` asks a demo question of a scripted endpoint on loopback in three ways, in turn:
with no handler, with one that does nothing, and over `astream_events`. It prints the medians and their ratios.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler

from agent.config import Settings
from agent.graph import build_graph
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint
from agent.runtime.context import RunContext
from eval.databases import open_database
from eval.tasks.demos import demo_path
from tests.openai_server import OpenAIServer, Reply, Request, completion

QUESTION = {"question": "How many customers are there?"}
ROUNDS = 15


def _answer(request: Request) -> Reply:
    schema = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    wanted = schema.get("properties", {})
    if "tasks" in wanted:
        task = {"id": "t1", "description": "Count customers.", "depends_on": []}
        return completion({"plan_type": "single", "confidence": 0.9, "tasks": [task]})
    if "sql" in wanted:
        return completion({"reasoning": "r", "sql": "SELECT COUNT(*) FROM customers"})
    return completion({"reasoning": "r", "score": 0.9} if "score" in wanted else "There are 480 customers.")


async def _measured(url: str) -> dict[str, list[float]]:
    config = Settings(_env_file=None)
    seconds: dict[str, list[float]] = {"no handler": [], "one handler": [], "astream_events": []}
    graph: Any = build_graph()
    with open_database(demo_path("shop")) as database:
        model = OpenAIModel(Endpoint(model="m", base_url=url, seconds=60))
        context = RunContext(database, model, config.judging, config.limits, config.privacy)
        for _ in range(ROUNDS + 2):
            for kind, times in seconds.items():
                began = time.process_time()
                if kind == "astream_events":
                    async for _event in graph.astream_events(QUESTION, version="v2", context=context):
                        pass
                else:
                    handlers = [AsyncCallbackHandler()] if kind == "one handler" else []
                    await graph.ainvoke(QUESTION, {"callbacks": handlers}, context=context)
                times.append(1_000 * (time.process_time() - began))
        await model.close()
    return {kind: times[2:] for kind, times in seconds.items()}


def main() -> None:
    with OpenAIServer() as server:
        server.otherwise = _answer
        seconds = asyncio.run(_measured(server.url))
    base = statistics.median(seconds["no handler"])
    for kind, times in seconds.items():
        middle = statistics.median(times)
        print(f"{kind}: {middle:.1f} ms, {middle / base:.2f} times")


if __name__ == "__main__":
    main()
