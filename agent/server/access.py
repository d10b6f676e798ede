"""Authentication result: from a request to its `Client`, whose name owns everything that the client creates.

In: a request that passed the access middleware. Out: the client that the middleware identified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.types import Scope

from agent.access.policies import Person
from agent.server.errors import ApiError
from agent.store.records import KeptRecord, RunRecord

_UNSEEN = {"sql": "", "answer": None, "short": "Given with other rights; ask again."}


@dataclass(frozen=True, slots=True)
class Client:
    """Someone who may ask."""

    name: str
    """The name of the token or of the person, who owns what it makes; `local` where no token is asked for."""
    person: Person | None = None
    """Who it is for the policies; None where there are none."""
    rights: str = ""
    """A digest of what the person may see."""

    def saw(self, record: RunRecord | KeptRecord) -> bool:
        """Whether it is the client's own and was seen with the rights that the client has now."""
        return not self.rights or (record.owner == self.name and record.rights == self.rights)

    def sees(self, run: RunRecord) -> RunRecord:
        """A run of the client's, without what its answer showed where that was seen with other rights."""
        return run if self.saw(run) else run.model_copy(update=_UNSEEN)


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
