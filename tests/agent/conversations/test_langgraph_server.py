"""`langgraph dev` serves the graph, and LangGraph's SDK asks it: each turn of a thread answers its own question.

Needs an interpreter with `langgraph-cli[inmem]` and this project, named by TEXT2SQL_TEST_LANGGRAPH_PYTHON: its server
is not a dependency of this project.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from eval.assessment.subprocesses import free_port

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def server(shop_file: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of a running `langgraph dev`."""
    python = os.environ.get("TEXT2SQL_TEST_LANGGRAPH_PYTHON")
    if not python:
        pytest.skip("TEXT2SQL_TEST_LANGGRAPH_PYTHON names no interpreter that has langgraph-cli[inmem]")
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEXT2SQL_", "OPENAI_"))}
    cache = {"TEXT2SQL_CACHE_DIR": str(tmp_path / "cache"), "TEXT2SQL_STATE_DIR": str(tmp_path / "state")}
    shipped = json.loads((ROOT / "langgraph.json").read_text())
    graphs = {name: str(ROOT / place) for name, place in shipped["graphs"].items()}
    # a file of its own, because the server writes its state beside it
    (tmp_path / "langgraph.json").write_text(json.dumps({"dependencies": [str(ROOT)], "graphs": graphs}))
    command = [python, "-m", "langgraph_cli", "dev", "--port", str(port), "--no-browser", "--no-reload"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**kept, **cache, "TEXT2SQL_DB_PATH": str(shop_file), "PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(f"http://127.0.0.1:{port}/ok", process, tmp_path / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 180
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, timeout=2).status_code == 200:
                return
        time.sleep(0.3)
    pytest.fail(log.read_text()[-2_000:])


async def test_each_turn_of_a_thread_answers_its_own_question_through_the_sdk(server: str) -> None:
    from langgraph_sdk import get_client

    rows = []
    async with get_client(url=server) as client:
        thread = (await client.threads.create())["thread_id"]
        for question in ("How many customers are there?", "How many cities are there?", "How many orders are there?"):
            state: Any = await client.runs.wait(thread, "text2sql", input={"question": question})
            assert len(state["query_results"]) == 1, state
            rows.append(state["query_results"][0]["data"])
        schemas: Any = await client.assistants.get_schemas((await client.assistants.search())[0]["assistant_id"])

    assert rows == [[[4]], [[3]], [[4]]]
    assert {"question", "final_answer"} <= schemas["input_schema"]["properties"].keys()
