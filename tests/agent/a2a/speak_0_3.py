"""A client of a2a-sdk 0.3, as AgentBeats has it: fetch the card, send one text part, join the parts of what comes back.

Run by another interpreter, because the two versions of the SDK cannot be installed together:
`PYTHON tests/agent/a2a/speak_0_3.py URL TEXT` prints one JSON object, with `state` and the joined `text`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TextPart


async def speak(url: str, text: str) -> dict[str, str]:
    async with httpx.AsyncClient(timeout=300) as http:
        card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
        message = Message(role=Role.user, parts=[Part(root=TextPart(text=text))], message_id=uuid4().hex)
        task, _ = [event async for event in client.send_message(message)][-1]
    parts = [*(task.status.message.parts if task.status.message else [])]
    parts += [part for artifact in task.artifacts or [] for part in artifact.parts]
    return {"state": task.status.state.value, "text": "\n".join(part.root.text for part in parts)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(speak(*sys.argv[1:3]))))
