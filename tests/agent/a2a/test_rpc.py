"""A2A's JSON-RPC over a real server: with the official client (1.0), and protocol 0.3 as it is on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.pairs import rows

pytest.importorskip("a2a")

from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.types.a2a_pb2 import CancelTaskRequest, GetTaskRequest, Message, Role, SendMessageRequest, TaskState

from eval.a2a.jsonrpc import RecentTasks
from tests.agent.a2a.conftest import CUSTOMERS, Slow, message, rpc, task

COUNT = "SELECT COUNT(*) AS customers FROM customers"


def request(part: Any, **others: str) -> SendMessageRequest:
    message = Message(message_id=uuid4().hex, role=Role.ROLE_USER, parts=[part], **others)
    return SendMessageRequest(message=message)


@contextlib.asynccontextmanager
async def talking(url: str, *, streaming: bool = False) -> AsyncIterator[Any]:
    """The official client."""
    async with httpx.AsyncClient(timeout=30) as http:
        yield await create_client(url, client_config=ClientConfig(httpx_client=http, streaming=streaming))


async def sent(url: str, part: Any, *, streaming: bool = False) -> list[Any]:
    async with talking(url, streaming=streaming) as client:
        return [event async for event in client.send_message(request(part))]


@pytest.mark.parametrize("part", [new_text_part(json.dumps(task())), new_data_part(task())])
async def test_a_task_is_answered_with_one_part(url: str, part: Any) -> None:
    [event] = await sent(url, part)

    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert not event.task.status.message.parts
    assert answer_of(event)["sql"] == COUNT
    assert answer_of(event)["task_id"] == "t1"
    [event] = await sent(url, new_text_part(json.dumps(task(question="Zorble the quux frobnicators?"))))
    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert answer_of(event)["sql"] == ""
    assert "Zorble" in answer_of(event)["error"]


def answer_of(event: Any) -> Any:
    [artifact] = event.task.artifacts
    [part] = artifact.parts
    return json.loads(part.text)


async def test_a_stream_tells_the_steps_while_they_happen(url: str) -> None:
    events = await sent(url, new_text_part(json.dumps(task())), streaming=True)

    messages = [e.status_update.status.message.parts[0].text for e in events if e.status_update.status.message.parts]
    assert messages == ["Reading the schema.", "Writing SQL.", "Checking the SQL."]
    assert [
        json.loads(e.artifact_update.artifact.parts[0].text)["sql"] for e in events if e.HasField("artifact_update")
    ] == [COUNT]
    assert events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_question_without_a_schema_is_asked_for_one_and_then_answered(url: str) -> None:
    async with talking(url) as client:
        [first] = [e async for e in client.send_message(request(new_text_part("How many customers are there?")))]
        reply = json.loads(first.task.status.message.parts[0].text)
        follow_up = request(new_data_part({"schema": CUSTOMERS}), task_id=first.task.id)
        [second] = [e async for e in client.send_message(follow_up)]

    assert first.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert "has no schema" in reply["error"]
    assert second.task.id == first.task.id
    assert second.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert answer_of(second)["sql"] == COUNT


async def test_a_task_that_brings_its_schema_begins_a_new_conversation(url: str) -> None:
    whole, short = json.dumps(task(question="List the ids of customers")), "only the first 3"
    async with talking(url) as client:
        context: dict[str, str] = {}
        answers = []
        for words in (whole, short, whole, json.dumps(task(question=short)), short):
            [event] = [e async for e in client.send_message(request(new_text_part(words), **context))]
            context = {"context_id": event.task.context_id}
            answers.append(answer_of(event))

    assert answers[1]["sql"] == "SELECT id FROM customers LIMIT 3"
    assert "customers" in answers[1]["read_as"]
    assert answers[2]["sql"] == answers[0]["sql"] == "SELECT id FROM customers"
    assert [answer["sql"] for answer in answers[3:]] == ["", ""]


async def test_cancelling_a_task_stops_its_model_call(slow: tuple[str, Slow]) -> None:
    url, model = slow
    async with talking(url, streaming=True) as client:
        events = client.send_message(request(new_text_part(json.dumps(task()))))
        first = await anext(events)
        assert await asyncio.to_thread(model.asked.wait, 10)
        cancelled = await client.cancel_task(CancelTaskRequest(id=first.task.id))
        stored = await client.get_task(GetTaskRequest(id=first.task.id))
        await events.aclose()

    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
    assert stored.status.state == TaskState.TASK_STATE_CANCELED
    assert await asyncio.to_thread(model.stopped.wait, 5)


def test_protocol_0_3_sends_and_gets_and_cancels_nothing_that_has_ended(url: str) -> None:
    sent_task = rpc(url, "message/send", message(json.dumps(task())))["result"]
    reply = rpc(url, "tasks/get", {"id": sent_task["id"]})["result"]

    assert sent_task["kind"] == "task"
    assert sent_task["status"]["state"] == "completed"
    [part] = sent_task["artifacts"][0]["parts"]
    assert part["kind"] == "text"
    assert json.loads(part["text"])["sql"] == COUNT
    assert reply["artifacts"] == sent_task["artifacts"]
    assert rpc(url, "tasks/cancel", {"id": sent_task["id"]})["error"]["code"] == -32002


def test_protocol_0_3_streams(url: str) -> None:
    body = {"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": message(json.dumps(task()))}
    with httpx.stream("POST", url, json=body, timeout=30) as reply:
        assert reply.headers["content-type"].startswith("text/event-stream")
        events = [json.loads(line[6:])["result"] for line in reply.iter_lines() if line.startswith("data: ")]

    assert [e["kind"] for e in events] == ["task", *["status-update"] * 4, "artifact-update", "status-update"]
    assert events[-1]["status"]["state"] == "completed"
    assert events[-1]["final"] is True


@pytest.mark.parametrize(("method", "params", "code"), rows("a2a/wrong_calls.jsonl"))
def test_wrong_calls_get_the_code_of_the_protocol(url: str, method: str, params: Any, code: int) -> None:
    reply = rpc(url, method, params)

    assert reply["error"]["code"] == code
    assert "Traceback" not in json.dumps(reply)


def test_a_file_is_refused_as_a_kind_that_is_not_read_and_broken_json_is_called_that(url: str) -> None:
    part = {"kind": "file", "file": {"name": "x.png", "mimeType": "image/png", "bytes": "AAAA"}}
    given = message("x")
    given["message"]["parts"] = [part]

    assert rpc(url, "message/send", given)["error"]["code"] == -32005

    asked = rpc(url, "message/send", message('{"question": "How'))["result"]

    assert asked["status"]["state"] == "input-required"
    assert "cannot be read as JSON" in json.loads(asked["status"]["message"]["parts"][0]["text"])["error"]


async def test_only_the_last_tasks_are_kept() -> None:
    from a2a.auth.user import UnauthenticatedUser
    from a2a.server.context import ServerCallContext
    from a2a.types.a2a_pb2 import Task, TaskStatus

    store, context = RecentTasks(kept=3), ServerCallContext(user=UnauthenticatedUser())
    for number, state in enumerate(["WORKING", "COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED"]):
        status = TaskStatus(state=getattr(TaskState, f"TASK_STATE_{state}"))
        await store.save(Task(id=str(number), status=status), context)

    kept = [number for number in range(5) if await store.get(str(number), context)]
    assert kept == [0, 3, 4]
