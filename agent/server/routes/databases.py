"""`/databases`: add one's own database, by URL or as files, and remove it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from agent.server.errors import ApiError, error_response, required
from agent.server.presets import PresetReply
from agent.server.routes.answers import Id, refusals
from agent.server.services import Here
from agent.server.sse import EventStream
from agent.sources.tabular.plan import Plans, Reading
from agent.sources.uploads import Progress

router = APIRouter(tags=["databases"])

MAX_FILES = 50
_PIECE = 256 * 1024


class DatabaseIn(BaseModel):
    url: str = Field(max_length=4_000)
    """`postgresql://user:password@host/database` and the like; what is allowed is the server's to say."""
    name: str | None = Field(None, max_length=100)


_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "minItems": 1,
                            "items": {"type": "string", "format": "binary"},
                            "description": "SQLite, DuckDB, CSV, Excel, JSON lines or Parquet; "
                            "several tables make one database.",
                        },
                        "name": {"type": "string", "maxLength": 100},
                    },
                }
            }
        },
    }
}


_MEDIA = "text/event-stream"
_UPLOADED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "The database; with `Accept: text/event-stream`, messages with how far the reading is (`doing`, "
        "`part` from 0 to 1), the last of which holds the `database` or the `error`.",
        "content": {_MEDIA: {"schema": {"type": "string"}}},
    }
}


@router.post("/databases", status_code=201, responses=refusals())
async def connect(here: Here, asked: DatabaseIn) -> PresetReply:
    """Connect a database by its URL. Where it may lead is the server's to say; its password is never shown again."""
    record, warnings = await here.sources.connect(here.client.name, asked.url, asked.name)
    reply = here.presets.of_source(record).reply
    return reply.model_copy(update={"description": " ".join([reply.description, *warnings])})


@router.post(
    "/databases/upload",
    status_code=201,
    response_model=PresetReply,
    responses=refusals(415) | _UPLOADED,
    openapi_extra=_FORM,
)
async def upload(here: Here, request: Request) -> PresetReply | Response:
    """Upload a database or table file as a private database. The same files again are the database that there is."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise ApiError(415, "Send the file as multipart/form-data.")
    try:
        form = await request.form(max_files=MAX_FILES, max_fields=5)
    except MultiPartException as error:
        raise ApiError(400, f"The form cannot be read: {error.message}") from error
    files = [item for item in form.getlist("file") if isinstance(item, UploadFile)]
    name = form.get("name")

    async def received(on_progress: Progress) -> PresetReply:
        try:
            sent = [(f.filename or "upload", _pieces(f)) for f in files]
            named = name if isinstance(name, str) else None
            record = await here.sources.receive(here.client.name, sent, named, on_progress)
            return (await here.presets.noted(record)).reply
        finally:
            await form.close()

    if not files:
        await form.close()
        raise ApiError(400, "The form has no `file`.")
    if _MEDIA in request.headers.get("accept", ""):
        return EventStream(_messages(received), status_code=201)
    return await received(lambda *_: None)


@router.get("/databases/{source_id}/plan", responses=refusals(404))
async def plan(here: Here, source_id: Id) -> Reading:
    """How the tables of an uploaded database were read, column by column."""
    return await here.sources.reading(here.client.name, source_id)


@router.put("/databases/{source_id}/plan", responses=refusals(404))
async def change_plan(here: Here, source_id: Id, plans: Plans) -> Reading:
    """Read the files again by other plans; tables that are not named stay as they are."""
    return await here.sources.read_again(here.client.name, source_id, plans)


@router.delete("/databases/{source_id}", status_code=204, responses=refusals(404))
async def remove(here: Here, source_id: Id) -> None:
    """Take a database of yours away. An uploaded one is deleted; a connected one is only forgotten."""
    required(await here.sources.remove(here.client.name, source_id), "database of yours")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


async def _messages(work: Callable[[Progress], Awaitable[BaseModel]]) -> AsyncGenerator[ServerSentEvent, None]:
    """How far the files are read (`doing`, and `part` 0..1), in the end the `database` or the `error`. A client that
    leaves ends the work, which raises ApiError."""
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
