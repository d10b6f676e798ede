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

from eval.errors import Text2SQLError

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

_KIND_OF: dict[int, Kind] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "bad_request",
    408: "bad_request",
    409: "busy",
    413: "too_large",
    414: "too_large",
    415: "bad_request",
    422: "bad_request",
    429: "rate_limited",
    431: "too_large",
    501: "unavailable",
    503: "unavailable",
}


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
        self.kind: Kind = kind or _KIND_OF.get(status, "internal")
        self.headers = headers or {}


def required(record: Record | None, what: str) -> Record:
    """The record that was looked up. Raises ApiError 404 if there is none."""
    if record is None:
        raise ApiError(404, f"There is no such {what}.")
    return record


def error_response(
    status: int, message: str, *, kind: Kind | None = None, request_id: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """The one form of a refusal, also for middleware that has no route."""
    body = ErrorReply(
        error=ErrorBody(kind=kind or _KIND_OF.get(status, "internal"), message=message, request_id=request_id)
    )
    return JSONResponse(body.model_dump(), status_code=status, headers=headers)


def install_errors(app: FastAPI) -> None:
    """Install a handler for every exception."""

    @app.exception_handler(ApiError)
    async def refused(request: Request, error: ApiError) -> JSONResponse:
        return error_response(
            error.status, str(error), kind=error.kind, request_id=_request_id(request), headers=error.headers
        )

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        return error_response(
            error.status_code,
            str(error.detail),
            request_id=_request_id(request),
            headers=dict(error.headers) if error.headers else None,
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        if any(e["type"] == "json_invalid" for e in error.errors()):
            return error_response(400, "The body is no valid JSON.", request_id=_request_id(request))
        problems = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()[:5])
        return error_response(422, problems, request_id=_request_id(request))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        log.exception("A request failed inside", exc_info=error)
        return error_response(500, "Something went wrong inside.", request_id=_request_id(request))


def _request_id(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))
