"""`/schedules`, `/deliveries`: kept answers and boards that are sent at their times, and what came of it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from agent.server.errors import ApiError, required
from agent.server.middleware.addresses import listed
from agent.server.replies import Reply
from agent.server.routes.answers import Id, refusals
from agent.server.schedules import NotDelivered
from agent.server.schedules.cron import BadTimes, checked, following
from agent.server.schedules.mail import mail_domains, mail_problem, refused_address
from agent.server.schedules.owners import proved
from agent.server.schedules.pictures import can_draw
from agent.server.schedules.webhook import checked_webhook
from agent.server.services import ClientServices, CurrentServices, Here
from agent.store import SecretMissing
from agent.store.records import BoardRecord, Condition, DeliveryRecord, DeliveryState, KeptRecord, ScheduleRecord

router = APIRouter(tags=["schedules"])

BY_OWNER = "Paused by its owner."
SEEN_EVERY = timedelta(hours=1)


class Times(BaseModel):
    cron: str = Field(max_length=200)
    """Minute, hour, day of the month, month, day of the week (0 or 7: Sunday)."""
    zone: str = Field(max_length=60)
    """IANA name of the time zone."""


class ScheduleIn(Times):
    """All of it: a change gives every field, too."""

    title: str = Field(min_length=1, max_length=200)
    kept_id: str | None = Field(None, max_length=200)
    board_id: str | None = Field(None, max_length=200)
    channel: Literal["mail", "slack", "teams", "json"]
    recipients: list[Annotated[str, Field(max_length=320)]] = Field([], max_length=20)
    """Addresses of mail."""
    webhook: str | None = Field(None, max_length=2_000)
    """Its address; in a change, None keeps the one that is there."""
    table: bool = True
    picture: bool = False
    link: bool = True
    condition: Condition | None = None
    quiet_hours: float = Field(0.0, ge=0.0, le=720.0)


class PauseIn(BaseModel):
    paused: bool


class DeliveryReply(Reply):
    delivery_id: str
    schedule_id: str
    due: datetime
    state: DeliveryState
    next_try: datetime
    reason: str
    ended: datetime | None


class ScheduleReply(Reply):
    schedule_id: str
    title: str
    kept_id: str | None
    board_id: str | None
    cron: str
    zone: str
    channel: Literal["mail", "slack", "teams", "json"]
    recipients: list[str]
    """Of a webhook the host alone."""
    table: bool
    picture: bool
    link: bool
    condition: Condition | None
    quiet_hours: float
    paused: str
    """Why nothing is sent; empty while it is."""
    next_run: datetime
    last_delivery: DeliveryReply | None = None


class ChannelsReply(Reply):
    """What can be sent from this server."""

    mail: bool
    mail_problem: str | None
    """Why no mail is sent."""
    mail_domains: list[str]
    """`*`: all."""
    webhook_hosts: list[str]
    pictures: bool
    links: bool


class TimesReply(Reply):
    next: list[datetime]
    """The next three times."""


@router.get("/schedules/channels", responses=refusals())
async def channels(services: CurrentServices) -> ChannelsReply:
    """What can be sent from here, and where to."""
    settings = services.settings.deliveries
    problem = mail_problem(settings)
    return ChannelsReply(
        mail=problem is None,
        mail_problem=problem,
        mail_domains=mail_domains(settings) if problem is None else [],
        webhook_hosts=sorted(listed(settings.webhook_hosts)),
        pictures=can_draw(),
        links=settings.public_url is not None,
    )


@router.post("/schedules/times", responses=refusals(409))
async def times(asked: Times) -> TimesReply:
    """The next three times of a cron expression."""
    found = [_first(asked, datetime.now(UTC))]
    while len(found) < 3:
        found.append(following(asked.cron, asked.zone, found[-1]))
    return TimesReply(next=found)


@router.get("/schedules", responses=refusals())
async def schedules(here: Here) -> list[ScheduleReply]:
    """Your schedules, the latest first, each with its last delivery."""
    records = await here.store.of_owner(ScheduleRecord, here.owner)
    person, now = proved(here.client, here.tokens), datetime.now(UTC)
    if any(record.person != person or now - record.seen > SEEN_EVERY for record in records):
        await here.store.owner_seen(here.owner, person, now)
    last = await here.store.last_deliveries(here.owner)
    return [_reply(record, last.get(record.schedule_id)) for record in records]


@router.post("/schedules", status_code=201, responses=refusals(404, 409))
async def add_schedule(here: Here, asked: ScheduleIn) -> ScheduleReply:
    """Send a kept answer or a board of yours at certain times."""
    now = datetime.now(UTC)
    values = await _values(here, asked, now)
    record = ScheduleRecord(schedule_id=secrets.token_urlsafe(12), owner=here.owner, created=now, **values)
    await here.store.add(record)
    return _reply(record)


@router.put("/schedules/{schedule_id}", responses=refusals(404, 409))
async def change_schedule(here: Here, schedule_id: Id, asked: ScheduleIn) -> ScheduleReply:
    """Change a schedule. With another condition, what it has seen so far is forgotten."""
    record = await here.mine(ScheduleRecord, schedule_id)
    values = await _values(here, asked, datetime.now(UTC), record)
    other = (values["condition"], asked.kept_id) != (record.condition, record.kept_id)
    forgotten = {"memory": "", "told": None} if other else {}  # it is about another condition
    return _reply(await here.store.change(record, **values, **forgotten))


@router.patch("/schedules/{schedule_id}", responses=refusals(404))
async def pause_schedule(here: Here, schedule_id: Id, asked: PauseIn) -> ScheduleReply:
    """Pause a schedule, or go on with it: from its next time on."""
    record = await here.mine(ScheduleRecord, schedule_id)
    now = datetime.now(UTC)
    seen: dict[str, Any] = {"person": proved(here.client, here.tokens), "seen": now}
    following_run = following(record.cron, record.zone, now)
    changed = {**seen, "paused": BY_OWNER if asked.paused else "", "next_run": following_run}
    return _reply(await here.store.change(record, **changed))


@router.delete("/schedules/{schedule_id}", status_code=204, responses=refusals(404))
async def remove_schedule(here: Here, schedule_id: Id) -> None:
    """Remove a schedule with its history."""
    required(await here.store.remove_schedule(here.owner, schedule_id), "schedule")


@router.post("/schedules/{schedule_id}/run", status_code=202, responses=refusals(404, 409))
async def run_schedule(here: Here, schedule_id: Id) -> DeliveryReply:
    """Send it now, whatever its condition says."""
    record = await here.mine(ScheduleRecord, schedule_id)
    delivery = await here.store.deliver_now(record, datetime.now(UTC))
    if delivery is None:
        raise ApiError(409, "It is being sent already.")
    here.look_for_due.set()
    return DeliveryReply.of(delivery)


@router.get("/schedules/{schedule_id}/deliveries", responses=refusals(404))
async def deliveries(here: Here, schedule_id: Id) -> list[DeliveryReply]:
    """The deliveries of a schedule, the latest first, at most 50."""
    record = await here.mine(ScheduleRecord, schedule_id)
    return [DeliveryReply.of(one) for one in await here.store.deliveries(here.owner, record.schedule_id)]


@router.post("/deliveries/{delivery_id}/again", status_code=202, responses=refusals(404))
async def deliver_again(here: Here, delivery_id: Id) -> DeliveryReply:
    """Send a delivery again that failed, or of which nobody knows whether it arrived."""
    again = await here.store.deliver_again(here.owner, delivery_id, datetime.now(UTC))
    delivery = required(again, "delivery that failed or is in doubt")
    here.look_for_due.set()
    return DeliveryReply.of(delivery)


def _reply(record: ScheduleRecord, last: DeliveryRecord | None = None) -> ScheduleReply:
    return ScheduleReply.of(record).model_copy(update={"last_delivery": last and DeliveryReply.of(last)})


def _first(asked: Times, now: datetime) -> datetime:
    try:
        return checked(asked.cron, asked.zone, now)
    except BadTimes as error:
        raise _refusal(str(error)) from None


def _refusal(message: str) -> ApiError:
    """For what is well written and cannot be done; asking again would not help."""
    return ApiError(409, message, "bad_request")


async def _values(
    here: ClientServices, asked: ScheduleIn, now: datetime, before: ScheduleRecord | None = None
) -> dict[str, Any]:
    """The fields of a record. Raises ApiError 409 for what cannot be sent, 404 for what is not the client's."""
    settings = here.settings.deliveries
    if (asked.kept_id is None) == (asked.board_id is None):
        raise _refusal("A schedule is for a kept answer or for a board.")
    if asked.condition and asked.board_id is not None:
        raise _refusal("A condition is about a kept answer, not about a board.")
    if asked.condition and asked.condition.kind != "new rows" and not asked.condition.column:
        raise _refusal("A condition on a value needs a column.")
    if asked.kept_id is not None:
        await here.mine(KeptRecord, asked.kept_id)
    if asked.board_id is not None:
        await here.mine(BoardRecord, asked.board_id)
    values = asked.model_dump(exclude={"condition", "webhook"}) | {"condition": asked.condition}
    values |= {"title": " ".join(asked.title.split()) or "Untitled", "next_run": _first(asked, now)}
    values |= {"person": proved(here.client, here.tokens), "seen": now, "webhook": before.webhook if before else ""}
    if asked.channel == "mail":
        if problem := mail_problem(settings) or refused_address(settings, asked.recipients):
            raise _refusal(problem)
        if not asked.recipients:
            raise _refusal("A mail needs an address.")
        return {**values, "webhook": ""}
    try:
        if asked.webhook:
            webhook = await checked_webhook(asked.webhook, settings.webhook_hosts)
            return {**values, "webhook": here.store.sealed(asked.webhook), "recipients": [webhook.parts.hostname]}
    except (NotDelivered, SecretMissing) as error:
        raise _refusal(str(error)) from None
    if before is None or not before.webhook:
        raise _refusal("The address of the webhook is missing.")
    return {**values, "recipients": before.recipients}
