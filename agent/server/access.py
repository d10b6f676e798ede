"""Authentication result: from a request to its `Client`, whose name owns everything that the client creates.

In: a request that passed the access middleware. Out: the client that the middleware identified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from agent.server.errors import ApiError


@dataclass(frozen=True, slots=True)
class Client:
    """Someone who may ask."""

    name: str
    """The name of the token; `local` where no token is asked for."""


async def current_client(request: Request) -> Client:
    """The client of this request. Raises ApiError 401 if the middleware identified none."""
    client = request.scope.get("state", {}).get("client")
    if not isinstance(client, Client):
        raise ApiError(401, "A bearer token is needed.")
    return client


CurrentClient = Annotated[Client, Depends(current_client)]
