"""The responses that routes share: errors, events and files for the OpenAPI description, and large JSON."""

from __future__ import annotations

import asyncio
import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Header, Path, Query, Response
from pydantic import BaseModel

from agent.server.documents import Document, as_html, as_markdown
from agent.server.errors import STATUSES

Id = Annotated[str, Path(max_length=200)]
"""The id of a record in a path."""

_ERROR = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorReply"}}}

ALWAYS = (400, 401, 403, 408, 413, 414, 422, 429, 431, 503)
"""Statuses that the access middleware, the validation and the store can return on any route."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route: the common ones and its own."""
    return {s: {"description": STATUSES[s][1], "content": _ERROR} for s in sorted({*ALWAYS, *statuses})}


DOCUMENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {kind: {"schema": {"type": "string"}} for kind in ("text/html", "text/markdown")},
    }
}

DocumentFormat = Annotated[Literal["html", "markdown"], Query(alias="format")]
LONGEST_NAME = 60
"""Characters of a file's name without its ending."""


def document_response(document: Document, wanted: Literal["html", "markdown"]) -> Response:
    """A document as a file that is named after its title."""
    text, ending = (as_html(document), "html") if wanted == "html" else (as_markdown(document), "md")
    return Response(text, media_type=f"text/{wanted}; charset=utf-8", headers=disposition(document.title, ending))


def disposition(title: str, ending: str) -> dict[str, str]:
    """The headers of a file that is named after the title: in plain ASCII for old programs, and as it is for others."""
    name = "-".join(re.findall(r"\w+", title.lower()))[:LONGEST_NAME].strip("-_") or "text2sql"
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode() or "text2sql"
    value = f"attachment; filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(f'{name}.{ending}')}"
    return {"Content-Disposition": value, "Cache-Control": "no-store"}


EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events. Each message has `id: N` (1, 2, 3, ...) and one JSON object in `data:`, "
        "which is a `StreamEvent`; with `?named=true` its name also stands in `event:`. The first is `run`, the last "
        "is always `done`; a comment is sent every ten seconds. Headers: `X-Run-ID`, `X-Thread-ID`.",
        "content": {
            "text/event-stream": {
                "schema": {
                    "type": "object",
                    "description": "One message of the stream.",
                    "required": ["id", "data"],
                    "properties": {
                        "id": {"type": "string", "pattern": "^[0-9]+$"},
                        "event": {"type": "string"},
                        "data": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": {"$ref": "#/components/schemas/StreamEvent"},
                        },
                    },
                }
            }
        },
        "headers": {"X-Run-ID": {"schema": {"type": "string"}}, "X-Thread-ID": {"schema": {"type": "string"}}},
    }
}


UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "Unchanged since the `ETag` in `If-None-Match`."}}
KnownTag = Annotated[str | None, Header(max_length=200, description="The `ETag` of an earlier response.")]


async def tagged_json(made: Callable[[], BaseModel], known: str | None) -> Response:
    """A large response with an `ETag`, made and encoded off the event loop; 304 without a body where `known` is its
    tag."""

    def encoded() -> tuple[bytes, str]:
        body = made().model_dump_json().encode()
        return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'

    body, tag = await asyncio.to_thread(encoded)
    if known == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})
