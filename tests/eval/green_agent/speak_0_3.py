"""A client of a2a-sdk 0.3: fetch the card, send one text part that holds the request, take the artifact.

Run by another interpreter, because the two versions of the SDK cannot be installed together:
`PYTHON tests/eval/green_agent/speak_0_3.py URL TEXT [stream]` prints one JSON object, with `state` and `artifacts`, a
list of lists of what the parts hold.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TextPart


async def speak(url: str, text: str, streaming: bool) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=300) as http:
        card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)
        message = Message(role=Role.user, parts=[Part(root=TextPart(text=text))], message_id=uuid4().hex)
        task, _ = [event async for event in client.send_message(message)][-1]
    value = [[getattr(p.root, p.root.kind) for p in artifact.parts] for artifact in task.artifacts or []]
    return {"state": task.status.state.value, "artifacts": value}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(speak(sys.argv[1], sys.argv[2], "stream" in sys.argv[3:]))))
