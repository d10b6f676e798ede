"""A client of a2a-sdk 0.3, as AgentBeats has it: fetch the card, send one text part, take what comes back.

The two versions of the SDK cannot be installed together, so the client runs in another interpreter, as a script.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any
from uuid import uuid4


def spoken(url: str, text: str, *how: str) -> dict[str, Any]:
    """`state` of the task, and `artifacts`: a list for each of what its parts hold. `how`: `stream`. The test is
    skipped where TEXT2SQL_TEST_A2A_03_PYTHON names no interpreter."""
    import pytest

    python = os.environ.get("TEXT2SQL_TEST_A2A_03_PYTHON")
    if not python:
        pytest.skip("TEXT2SQL_TEST_A2A_03_PYTHON names no interpreter that has a2a-sdk 0.3")
    words = [python, __file__, url, text, *how]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


async def speak(url: str, text: str, streaming: bool) -> dict[str, Any]:
    import httpx
    from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    from a2a.types import Message, Part, Role, TextPart

    async with httpx.AsyncClient(timeout=300) as http:
        card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)
        parts = [Part(root=TextPart(text=text))]  # type: ignore[call-arg] # as version 0.3 has it
        message = Message(role=Role.user, parts=parts, message_id=uuid4().hex)
        task, _ = [event async for event in client.send_message(message)][-1]
    value = [[getattr(p.root, p.root.kind) for p in artifact.parts] for artifact in task.artifacts or []]
    return {"state": task.status.state.value, "artifacts": value}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(speak(sys.argv[1], sys.argv[2], "stream" in sys.argv[3:]))))
