"""An upload as a stream of server-sent events: how far its files are read, and in the end the database or the refusal.

In: the work, which tells what it does. Out: a response whose messages each hold one JSON object: `doing` and `part`
(0..1), or last `database` or `error`. A client that leaves ends the work.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from pydantic import BaseModel
from sse_starlette import ServerSentEvent

from agent.server.errors import ApiError, error_response
from agent.server.sse import EventStream
from agent.sources.uploads import Progress

MEDIA = "text/event-stream"
UPLOADED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "The database; with `Accept: text/event-stream`, messages with how far the reading is (`doing`, "
        "`part` from 0 to 1), the last of which holds the `database` or the `error`.",
        "content": {MEDIA: {"schema": {"type": "string"}}},
    }
}
Work = Callable[[Progress], Awaitable[BaseModel]]


def stream_upload(work: Work) -> EventStream:
    """`work` raises ApiError."""
    return EventStream(_messages(work), status_code=201)


async def _messages(work: Work) -> AsyncGenerator[ServerSentEvent, None]:
    steps: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(lambda what, part: steps.put_nowait({"doing": what, "part": part})))
    task.add_done_callback(lambda _: steps.put_nowait(None))
    try:
        while (step := await steps.get()) is not None:
            yield _message(step)
        try:
            yield _message({"database": (await task).model_dump(mode="json")})
        except ApiError as error:
            yield _message(json.loads(bytes(error_response(error.status, str(error), kind=error.kind).body)))
    finally:
        task.cancel()


def _message(about: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(data=json.dumps(about, ensure_ascii=False), sep="\n")
