"""Plain REST for evaluators that speak no JSON-RPC: `POST /generate` and `POST /a2a/message`.

In: a task as JSON. Out: the contract's JSON: 200 with SQL, or with an empty SQL and the reason; 400 where there is no
question or no JSON, 413 where the body is too large. A client that goes away stops its run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from agent.a2a.answer import answered
from agent.a2a.task import MAX_PARTS, QuestionMissing, TaskAnswer, TaskRequest, TaskUnusable, read_parts, read_task
from agent.config import Settings
from agent.models.protocol import Model
from agent.runner import MAX_QUESTION
from eval.a2a.http_requests import GONE, from_web_page, while_there
from eval.errors import Text2SQLError

MAX_BYTES = 8 * 1024 * 1024
"""Size limit of one request."""

_WITH_TEXT: dict[str, Any] = {
    "required": ["text"],
    "properties": {"text": {"type": "string", "pattern": "^[A-Za-z0-9 ]*[A-Za-z0-9]$"}, "data": False},
}
_WITH_QUESTION: dict[str, Any] = {
    "required": ["data"],
    "properties": {
        "data": {
            "type": "object",
            "required": ["question"],
            "properties": {"question": {"type": "string", "maxLength": MAX_QUESTION, "pattern": r"\S"}},
        }
    },
}


class Message(BaseModel):
    """Parts as A2A has them; `kind` and `type` mean the same."""

    parts: list[dict[str, Any]] = Field(
        description='`{"kind": "data", "data": {…}}` with the task, or `{"kind": "text", "text": "…"}` with its JSON '
        "or its question; one of them holds the question.",
        max_length=MAX_PARTS,
        json_schema_extra={"contains": {"anyOf": [_WITH_TEXT, _WITH_QUESTION]}},
    )


class _Refused(Text2SQLError):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def rest_router(config: Settings, *, model: Model | None = None, status: bool = True) -> APIRouter:
    """The routes. `model`: a shared model, which the caller closes; None makes one per task from the settings.
    `status=False` leaves out `GET /`, `/health` and `/ready`, for a server that has its own."""
    router = APIRouter(tags=["a2a"])
    replies: dict[int | str, dict[str, Any]] = {
        400: {"model": TaskAnswer, "description": "No question, or no JSON."},
        415: {"model": TaskAnswer, "description": "Not sent as JSON."},
        413: {"model": TaskAnswer, "description": f"More than {MAX_BYTES:,} bytes."},
    }

    @router.post("/generate", response_model=TaskAnswer, responses=replies, openapi_extra=_body(TaskRequest))
    async def generate(request: Request) -> JSONResponse:
        """Write SQL for a question about the schema that comes with it."""
        return await _reply(request, lambda given: read_task(given, config.database.dialect))

    @router.post("/a2a/message", response_model=TaskAnswer, responses=replies, openapi_extra=_body(Message))
    async def message(request: Request) -> JSONResponse:
        """The same, with the task in the parts of a message."""
        return await _reply(request, lambda given: read_parts(_parts(given), config.database.dialect), parts=True)

    async def _reply(request: Request, read: Any, parts: bool = False) -> JSONResponse:
        try:
            given = await _json(request)
            task = await asyncio.to_thread(read, given)
        except _Refused as refused:
            return _wire(TaskAnswer(sql="", error=str(refused)), refused.status, parts)
        except TaskUnusable as problem:
            return _wire(problem.answer, 400 if isinstance(problem, QuestionMissing) else 200, parts)
        except ClientDisconnect:
            return JSONResponse(None, GONE)
        answer = await while_there(request, answered(task, config, model))
        return JSONResponse(None, GONE) if answer is None else _wire(answer, parts=parts)

    if not status:
        return router

    @router.get("/")
    async def about() -> dict[str, Any]:
        """What this is."""
        return {
            "name": "text2sql",
            "description": "Writes SQL for a question about the schema that comes with it.",
            "card": "/.well-known/agent-card.json",
            "endpoints": ["POST /", "POST /generate", "POST /a2a/message", "GET /health", "GET /ready"],
        }

    @router.get("/health")
    async def health() -> dict[str, Any]:
        """The process answers."""
        return {
            "status": "ok",
            "model": config.model.answering or config.model.name,
            "dialect": config.database.dialect,
            "max_retries": config.judging.max_retries,
        }

    @router.get("/ready", responses={503: {"description": "Still loading."}})
    async def ready(request: Request) -> JSONResponse:
        """A task would be worked on at once."""
        warming: asyncio.Future[Any] | None = getattr(request.app.state, "warming", None)
        done = warming is None or warming.done()
        return JSONResponse({"status": "ready" if done else "loading"}, 200 if done else 503)

    return router


def _body(model: type[BaseModel]) -> dict[str, Any]:
    """The request body for the OpenAPI description. The routes parse the body themselves, so that errors have the
    contract's form."""
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _parts(given: Any) -> list[Any]:
    """The values of a message's parts, texts and data; or the task itself, where it comes without a message. Raises
    QuestionMissing."""
    message = given.get("message", given) if isinstance(given, Mapping) else None
    if isinstance(message, Mapping) and "parts" not in message and "question" in message:
        return [message]
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if not isinstance(parts, list) or not parts:
        raise QuestionMissing('A message has parts: {"parts": [{"kind": "data", "data": {"question": …}}]}.')
    return [p["data"] if "data" in p else p.get("text") for p in parts if isinstance(p, Mapping)]


async def _json(request: Request) -> Any:
    """The body as JSON. Raises _Refused."""
    if from_web_page(request.headers.get("content-type", "")):
        raise _Refused(415, "Send the request as application/json.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise _Refused(413, f"The request has more than {MAX_BYTES:,} bytes.")
    try:
        return await asyncio.to_thread(json.loads, body)
    except (ValueError, RecursionError):
        raise _Refused(400, "The request is not JSON.") from None


def _wire(answer: TaskAnswer, status: int = 200, parts: bool = False) -> JSONResponse:
    """The answer; `parts`: also as the parts of a message, for clients that read those."""
    wire = answer.wire()
    more = {"parts": [{"kind": "data", "type": "data", "data": wire}]} if parts else {}
    return JSONResponse({**wire, **more}, status)
