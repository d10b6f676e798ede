"""Who is behind a call over MCP."""

from __future__ import annotations

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from agent.server.access import Client
from agent.server.services import Services


def caller(context: Context, services: Services) -> Client:
    """The client of the HTTP request behind a call; over standard input, the user of this machine. Raises ToolError."""
    request = context.request_context.request
    if request is None:
        return services.presets.local()
    client = request.scope.get("state", {}).get("client")
    if not isinstance(client, Client):
        raise ToolError("A bearer token is needed.")
    return client
