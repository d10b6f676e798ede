"""Errors as a client sees them: one JSON form for every refusal, never a stack trace.

In: an `ApiError` raised by a route, or any other exception. Out: `{"error": {kind, message, request_id}}` with its
status.
"""

from __future__ import annotations

import logging
from typing import Literal, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from agent.results.result_errors import BadRequest, ExtraMissing, ResultError, ResultGone, StatementFailed
from agent.store import NotFound, StoreError, ThreadBusy, TooMany, client_message
from eval.databases.types import DatabaseError
from eval.errors import InputError, Text2SQLError

log = logging.getLogger(__name__)
Record = TypeVar("Record")

Kind = Literal[
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_found",
    "too_large",
    "rate_limited",
    "busy",
    "unavailable",
    "internal",
]

STATUSES: dict[int, tuple[Kind, str]] = {
    400: ("bad_request", "The request makes no sense as it is."),
    401: ("unauthorized", "A bearer token is needed."),
    403: ("forbidden", "That is not allowed here."),
    404: ("not_found", "There is no such thing, or it is not yours."),
    405: ("bad_request", "The path has no such method."),
    408: ("bad_request", "The body did not arrive in time."),
    409: ("busy", "It cannot be done now: a question is still running on this thread, or the run has no result."),
    413: ("too_large", "The body, the question or the file is too large."),
    414: ("too_large", "The address is too long."),
    415: ("bad_request", "The body is not sent as it has to be."),
    422: ("bad_request", "A parameter or the body is not as described."),
    429: ("rate_limited", "Too many requests; `Retry-After` says when to come back."),
    431: ("too_large", "The headers are too large."),
    500: ("internal", "A fault inside; the request id finds it in the log."),
    501: ("unavailable", "An optional package is not installed."),
    503: ("unavailable", "The server is busy, starting or stopping, or a database that it needs is unreachable."),
}
"""The kind of a refusal with this status, and what the description of the API says of it."""

AGAIN_SECONDS = 5
"""After which a client may try again what is not available now, unless the refusal knows better."""


class ErrorBody(BaseModel):
    kind: Kind
    message: str
    """For people; holds no credentials and no row."""
    request_id: str = ""


class ErrorReply(BaseModel):
    """The body of every answer that is not 2xx."""

    error: ErrorBody


class ApiError(Text2SQLError):
    """A refusal with its HTTP status. The message is for the user."""

    def __init__(
        self, status: int, message: str, kind: Kind | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind: Kind = kind or STATUSES.get(status, STATUSES[500])[0]
        self.headers = headers or {}


def required(record: Record | None, what: str) -> Record:
    """The record that was looked up, or whether it was removed. Raises ApiError 404 if there is none."""
    if record is None or record is False:
        raise ApiError(404, f"There is no such {what}.")
    return record


def error_response(
    status: int, message: str, *, kind: Kind | None = None, request_id: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """The one form of a refusal."""
    body = ErrorReply(
        error=ErrorBody(kind=kind or STATUSES.get(status, STATUSES[500])[0], message=message, request_id=request_id)
    )
    wait = {"Retry-After": str(AGAIN_SECONDS)} if status == 503 else {}
    return JSONResponse(body.model_dump(), status_code=status, headers={**wait, **(headers or {})})


_STATUS_OF: dict[type[Exception], int] = {
    NotFound: 404,
    TooMany: 409,
    ThreadBusy: 409,
    InputError: 400,
    ResultGone: 404,
    ExtraMissing: 501,
    BadRequest: 400,
    StatementFailed: 400,
    ResultError: 503,
    DatabaseError: 503,
}
"""Of errors whose message is for clients; that of the nearest ancestor counts."""


def install_errors(app: FastAPI) -> None:
    """Install a handler for every exception."""
    ours = (ApiError, StoreError, InputError, ResultError, DatabaseError)
    for kind in (*ours, HTTPException, RequestValidationError, Exception):
        app.exception_handler(kind)(_refused)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    kind: Kind | None = None
    headers: dict[str, str] = {}
    message = str(error)
    match error:
        case ApiError():
            status, kind, headers = error.status, error.kind, error.headers
        case HTTPException():
            status, message, headers = error.status_code, str(error.detail), dict(error.headers or {})
            if status == 405:  # the router names the methods of the first route at this path only
                at = [r for r in request.app.routes if r.matches(request.scope)[0] is not Match.NONE]
                headers = {"Allow": ", ".join(sorted({m for r in at for m in getattr(r, "methods", None) or ()}))}
        case RequestValidationError():
            if any(e["type"] == "json_invalid" for e in error.errors()):
                status, message = 400, "The body is no valid JSON."
            else:
                problems = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5]]
                status, message = 422, "; ".join(problems)
        case _ if own := [_STATUS_OF[one] for one in type(error).__mro__ if one in _STATUS_OF]:
            status = own[0]
            kind = "too_large" if isinstance(error, TooMany) else None
            headers = {"Retry-After": "2"} if isinstance(error, ThreadBusy) else {}
        case StoreError():
            log.warning("The state cannot be used: %s", error)  # names its place, which is not for clients
            status, message = 503, client_message(error)
        case _:
            log.exception("A request failed inside", exc_info=error)
            status, message = 500, "Something went wrong inside."
    return error_response(status, message, kind=kind, request_id=request_id(request.scope), headers=headers)


def request_id(scope: Scope) -> str:
    """The id that the outermost layer gave the request; empty outside of it."""
    return str(scope.get("state", {}).get("request_id", ""))


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    message: str,
    *,
    kind: Kind | None = None,
    headers: dict[str, str] | None = None,
) -> None:
    """Respond with an error from a layer in front of the routes. If the request has a body, the connection is closed,
    so that the unread body is not parsed as the next request."""
    has_body = any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )
    close = {"Connection": "close"} if has_body else {}
    headers = {**close, **(headers or {})}
    response = error_response(status, message, kind=kind, request_id=request_id(scope), headers=headers)
    await response(scope, receive, send)
