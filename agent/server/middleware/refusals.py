"""Error responses of the layers, in the same JSON form as those of the routes."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from agent.server.errors import Kind, error_response, request_id


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
    """Respond with an error. If the request has a body, the connection is closed, so that the unread body is not
    parsed as the next request."""
    has_body = any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )
    close = {"Connection": "close"} if has_body else {}
    response = error_response(
        status,
        message,
        kind=kind,
        request_id=request_id(scope),
        headers={**close, **(headers or {})},
    )
    await response(scope, receive, send)
