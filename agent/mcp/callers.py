"""Who is behind a call over MCP."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from agent.server.access import Client, client_in
from agent.server.services import ClientServices, Services

SESSION_HEADER = b"mcp-session-id"


def session_of(scope: Any) -> str:
    """The id of the session that a request names; empty without one."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == SESSION_HEADER), "")


def call_name(client: Client, session: str, request_id: object) -> str:
    """The name of a call for its cancellation; empty without a session, in which alone its id is unique."""
    return f"mcp {client.name} {session} {request_id}"[:1000] if session else ""


def call_of(context: Context, client: Client) -> str:
    request = context.request_context.request
    return "" if request is None else call_name(client, session_of(request.scope), context.request_id)


def caller(context: Context, services: Services) -> ClientServices:
    """The services for the client of the HTTP request behind a call; over standard input, for the user of this machine.
    Raises ToolError."""
    request = context.request_context.request
    client = services.presets.local() if request is None else client_in(request.scope)
    if client is None:
        raise ToolError("A bearer token is needed.")
    return services.on_behalf_of(client)
