"""The owner of a schedule as a client, without a request.

In: a schedule. Out: the `Client` that its owner would be if they asked now, or `NotDelivered`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from agent.access import Person
from agent.access.policies import attribute
from agent.server.access import Client
from agent.server.middleware.tokens import Tokens
from agent.server.schedules import NotDelivered
from agent.store.records import ScheduleRecord

UNSEEN_DAYS = 90
"""Days after which an owner whom nobody has proved anew is no longer taken for the person they were."""


def proved(client: Client, tokens: Tokens) -> dict[str, Any] | None:
    """What somebody else (a token of the identity provider, a proxy) has proved of a client: groups and attributes
    beyond those of the policy file, which is read anew each time. None for a name of the settings."""
    person = client.person
    if person is None or tokens.access is None or person.name in {*tokens.names.values(), tokens.local}:
        return None
    known = tokens.access.person(person.name)
    return {
        "groups": sorted(person.groups - known.groups),
        "attributes": {key: value for key, value in person.attributes.items() if key not in known.attributes},
    }


def owner_of(schedule: ScheduleRecord, tokens: Tokens, now: datetime) -> Client:
    """Raises NotDelivered."""
    name = schedule.owner
    if name in tokens.names.values():
        return tokens.client(name)
    open_here = tokens.auth == "off" or (tokens.auth == "auto" and not tokens)
    if open_here and name == tokens.client(tokens.local).name:
        return tokens.client(tokens.local)
    access = tokens.access
    if access is None or not (access.jwt or access.proxy) or schedule.person is None:
        raise NotDelivered("Its owner may no longer ask here.")
    if now - schedule.seen > timedelta(days=UNSEEN_DAYS):
        raise NotDelivered(f"Its owner has not been here for {UNSEEN_DAYS} days.", pause=True)
    known = access.person(name)
    attributes = {key: attribute(value) for key, value in schedule.person["attributes"].items()}
    groups = known.groups | set(schedule.person["groups"])
    return tokens.client_of(Person(name, groups, {**attributes, **known.attributes}))
