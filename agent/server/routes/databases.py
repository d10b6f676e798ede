"""`/databases`: add one's own database, by URL or as files, and remove it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from agent.server.access import CurrentClient
from agent.server.errors import ApiError, required
from agent.server.replies import DatabaseIn, PresetReply
from agent.server.routes.answers import refusals
from agent.server.services import CurrentServices
from agent.server.upload_stream import MEDIA, UPLOADED, stream_upload
from agent.sources.tabular.plan import Plans, Reading
from agent.sources.uploads import Progress

router = APIRouter(tags=["databases"])

MAX_FILES = 50
SourceId = Annotated[str, Path(max_length=200)]
_PIECE = 256 * 1024

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


@router.post("/databases", status_code=201, responses=refusals())
async def connect(services: CurrentServices, client: CurrentClient, asked: DatabaseIn) -> PresetReply:
    """Connect a database by its URL. Where it may lead is the server's to say; its password is never shown again."""
    record, warnings = await services.sources.connect(client.name, asked.url, asked.name)
    reply = services.presets.of_source(record).reply
    return reply.model_copy(update={"description": " ".join([reply.description, *warnings])})


@router.post(
    "/databases/upload",
    status_code=201,
    response_model=PresetReply,
    responses=refusals(415) | UPLOADED,
    openapi_extra=_FORM,
)
async def upload(services: CurrentServices, client: CurrentClient, request: Request) -> PresetReply | Response:
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
            record = await services.sources.receive(client.name, sent, named, on_progress)
            return (await services.presets.noted(record)).reply
        finally:
            await form.close()

    if not files:
        await form.close()
        raise ApiError(400, "The form has no `file`.")
    if MEDIA in request.headers.get("accept", ""):
        return stream_upload(received)
    return await received(lambda *_: None)


@router.get("/databases/{source_id}/plan", responses=refusals(404))
async def plan(services: CurrentServices, client: CurrentClient, source_id: SourceId) -> Reading:
    """How the tables of an uploaded database were read, column by column."""
    return await services.sources.reading(client.name, source_id)


@router.put("/databases/{source_id}/plan", responses=refusals(404))
async def change_plan(services: CurrentServices, client: CurrentClient, source_id: SourceId, plans: Plans) -> Reading:
    """Read the files again by other plans; tables that are not named stay as they are."""
    return await services.sources.read_again(client.name, source_id, plans)


@router.delete("/databases/{source_id}", status_code=204, responses=refusals(404))
async def remove(services: CurrentServices, client: CurrentClient, source_id: SourceId) -> None:
    """Take a database of yours away. An uploaded one is deleted; a connected one is only forgotten."""
    required(await services.sources.remove(client.name, source_id), "database of yours")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece
