"""Assessments over A2A: the official client of protocol 1.0, that of 0.3 where there is one, and 0.3 on the wire."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.types.a2a_pb2 import CancelTaskRequest, Message, Role, SendMessageRequest, TaskState
from google.protobuf.json_format import MessageToDict

from experiments.reference_participants import serving
from tests.eval.green_agent.conftest import KEYS as SEVERAL
from tests.pairs import rows

KEYS = SEVERAL | {"score", "max_score", "pass_rate", "time_used"}
"""Of an assessment of one agent."""


async def sent(url: str, part: Any, *, streaming: bool = False) -> list[Any]:
    async with httpx.AsyncClient(timeout=60) as http:
        client = await create_client(url, client_config=ClientConfig(httpx_client=http, streaming=streaming))
        message = Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=[part])
        return [event async for event in client.send_message(SendMessageRequest(message=message))]


def test_the_official_client_gets_one_artifact_of_one_data_part(evaluator: str, golds: dict[str, str]) -> None:
    with serving(lambda task: {"sql": golds[task["task_id"]]}) as stand:
        request = {"participants": {"p": stand.url}, "config": {"task_count": 2}}
        [event] = asyncio.run(sent(evaluator, new_text_part(json.dumps(request))))
    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    [artifact] = event.task.artifacts
    [part] = artifact.parts
    content = MessageToDict(part.data)
    assert set(content) == KEYS
    assert content["participants"]["p"]["scores"]["ex"] == 1.0
    assert len(stand.asked) == 2


@pytest.mark.parametrize(("given", "problem"), rows("assessment/requests_rejected.jsonl"))
def test_what_is_no_givenis_rejected_with_what_to_send(evaluator: str, given: Any, problem: str) -> None:
    [event] = asyncio.run(sent(evaluator, new_data_part(given)))
    assert event.task.status.state == TaskState.TASK_STATE_REJECTED
    assert problem in event.task.status.message.parts[0].text
    assert not event.task.artifacts


async def test_who_sends_no_givenis_asked_for_one_and_assessed(evaluator: str, golds: dict[str, str]) -> None:
    def message(part: Any, **others: str) -> SendMessageRequest:
        return SendMessageRequest(message=Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=[part], **others))

    with serving(lambda task: {"sql": golds[task["task_id"]]}) as stand:
        request = {"participants": {"p": stand.url}, "config": {"task_count": 1}}
        async with httpx.AsyncClient(timeout=60) as http:
            client = await create_client(evaluator, client_config=ClientConfig(httpx_client=http, streaming=False))
            [first] = [e async for e in client.send_message(message(new_text_part("Who is the best?")))]
            follow_up = message(new_data_part(request), task_id=first.task.id)
            [second] = [e async for e in client.send_message(follow_up)]

    assert first.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert "contains no JSON with participants" in first.task.status.message.parts[0].text
    assert second.task.id == first.task.id
    assert second.task.status.state == TaskState.TASK_STATE_COMPLETED


def test_cancelling_stops_asking(evaluator: str) -> None:
    release, asked = threading.Event(), threading.Event()

    def hang(task: dict[str, Any]) -> dict[str, Any]:
        asked.set()
        release.wait(20)
        return {"sql": ""}

    async def cancelled(url: str) -> Any:
        async with httpx.AsyncClient(timeout=60) as http:
            client = await create_client(evaluator, client_config=ClientConfig(httpx_client=http, streaming=True))
            part = new_data_part({"participants": {"p": url}, "config": {"jobs": 1, "protocol": "rest"}})
            message = Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=[part])
            events = client.send_message(SendMessageRequest(message=message))
            first = await anext(events)
            await asyncio.to_thread(asked.wait, 20)
            return await client.cancel_task(CancelTaskRequest(id=first.task.id))

    with serving(hang) as stand:
        task = asyncio.run(cancelled(stand.url))
        assert task.status.state == TaskState.TASK_STATE_CANCELED
        release.set()
        time.sleep(0.3)
        assert len(stand.asked) == 1


def sent_0_3(evaluator: str, text: str, **task: str) -> dict[str, Any]:
    """The result of a message as protocol 0.3 puts it on the wire."""
    part = {"kind": "text", "text": text}
    message = {"kind": "message", "role": "user", "messageId": uuid4().hex, "parts": [part], **task}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    return httpx.post(evaluator, json=body, timeout=60).json()["result"]


def test_protocol_0_3_is_spoken_on_the_wire(evaluator: str, golds: dict[str, str]) -> None:
    card = httpx.get(evaluator + ".well-known/agent-card.json").json()
    assert card["url"] == evaluator
    assert card["preferredTransport"] == "JSONRPC"
    with serving(lambda task: {"sql": golds[task["task_id"]]}) as stand:
        request = {"participants": {"p": stand.url}, "config": {"task_count": 1}}
        result = sent_0_3(evaluator, json.dumps(request))
    assert result["status"]["state"] == "completed"
    [artifact] = result["artifacts"]
    [part] = artifact["parts"]
    assert part["kind"] == "data"
    assert set(part["data"]) == KEYS
