"""Authentication result: from a request to its `Client`, whose name owns everything that the client creates.

In: a request that passed the access middleware. Out: the client that the middleware identified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.types import Scope

from agent.access.person import Person
from agent.server.errors import ApiError

_BESIDE = "\n"
"""Between a name and rights; no name holds it."""


def name_of(owner: str) -> str:
    """The client's name in an `owner`."""
    return owner.partition(_BESIDE)[0]


@dataclass(frozen=True, slots=True)
class Client:
    """Someone who may ask."""

    name: str
    """The name of the token or of the person; `local` where no token is asked for."""
    person: Person | None = None
    """Who it is for the policies; None where there are none."""
    rights: str = ""
    """A digest of what the person may see."""

    @property
    def owner(self) -> str:
        """The owner of runs, threads and feedback. It changes with the person's rights: what was seen with other
        rights is not shown again."""
        return f"{self.name}{_BESIDE}{self.rights}" if self.rights else self.name

    def sees_as(self, owner: str) -> bool:
        """Whether what this owner saw may be shown to the client without asking the database again."""
        return not self.rights or owner == self.owner


def client_in(scope: Scope) -> Client | None:
    """The client that the access middleware identified; None where it identified none."""
    client = scope.get("state", {}).get("client")
    return client if isinstance(client, Client) else None


async def current_client(request: Request) -> Client:
    """The client of this request. Raises ApiError 401 if the middleware identified none."""
    client = client_in(request.scope)
    if client is None:
        raise ApiError(401, "A bearer token is needed.")
    return client


CurrentClient = Annotated[Client, Depends(current_client)]
