"""Schedules and their deliveries: what is sent when, and what came of it.

In: records; the time. Out: deliveries to work on, each claimed by one process. An occurrence becomes a delivery in the
transaction that moves its schedule on, so it exists once, however many processes look. A delivery goes from `due` to
`claimed` to `sending`; each step names the attempt that it follows, so a process that was taken for gone changes
nothing that another has taken over. What was `sending` when its process ended is `in doubt`: no process sends it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, update

from agent.store.base import Base, transaction
from agent.store.records import DeliveryRecord, DeliveryState, ScheduleRecord
from agent.store.runs import LEASE_SECONDS
from agent.store.tables import deliveries, micros, schedules, selected

KEPT = 50
"""Latest deliveries of a schedule that are kept."""
BATCH = 20
"""Occurrences that one transaction turns into deliveries."""
TRIES = 100
"""An `attempt` counts the claims; when its owner sends a delivery again, they count on from the next such hundred."""
OPEN: tuple[DeliveryState, ...] = ("due", "claimed", "sending")
IN_DOUBT = "It broke off while it was being sent: it may have arrived or not."

Planned = Callable[[ScheduleRecord], tuple[datetime | None, datetime]]
"""The latest time that was due (None: too long ago), and the next one, of a schedule whose time has come."""


def without_schedules(connection: Connection, *which: ColumnElement[bool]) -> int:
    """Remove schedules with their deliveries; returns how many."""
    gone = select(schedules.c.schedule_id).where(*which)
    connection.execute(delete(deliveries).where(deliveries.c.schedule_id.in_(gone)))
    return connection.execute(delete(schedules).where(*which)).rowcount


class ScheduleStore(Base):
    def sealed(self, text: str) -> str:
        """Raises SecretMissing when there is no key."""
        return self._sealer.seal(text)

    async def memory(self, schedule_id: str) -> dict[str, Any]:
        """What the schedule's condition compares with."""
        query = select(schedules.c.memory).where(schedules.c.schedule_id == schedule_id)
        text = await self._read(lambda connection: connection.scalar(query))
        return dict(json.loads(text)) if text else {}

    async def owner_seen(self, owner: str, person: Mapping[str, Any] | None, at: datetime) -> None:
        """The owner is here, as this person."""
        query = update(schedules).where(schedules.c.owner == owner).values(seen=at, person=person)
        await self._write(lambda connection: connection.execute(query))

    async def remove_schedule(self, owner: str, schedule_id: str) -> bool:
        """False when the owner has none of that id."""
        which = (schedules.c.owner == owner, schedules.c.schedule_id == schedule_id)
        return bool(await self._write(lambda connection: without_schedules(connection, *which)))

    async def deliveries(self, owner: str, schedule_id: str) -> list[DeliveryRecord]:
        """The latest first."""
        query = selected(DeliveryRecord).where(deliveries.c.owner == owner, deliveries.c.schedule_id == schedule_id)
        return await self._all(DeliveryRecord, query.order_by(deliveries.c.due.desc()).limit(KEPT))

    async def last_deliveries(self, owner: str) -> dict[str, DeliveryRecord]:
        """The latest one of each schedule."""
        latest = select(deliveries.c.schedule_id, func.max(deliveries.c.due).label("due"))
        of_each = latest.where(deliveries.c.owner == owner).group_by(deliveries.c.schedule_id).subquery()
        same = and_(deliveries.c.schedule_id == of_each.c.schedule_id, deliveries.c.due == of_each.c.due)
        found = await self._all(DeliveryRecord, selected(DeliveryRecord).join(of_each, same))
        return {one.schedule_id: one for one in found}

    @transaction
    def deliver_now(self, connection: Connection, schedule: ScheduleRecord, at: datetime) -> DeliveryRecord | None:
        """A delivery by hand; None while one of this schedule is on its way."""
        mine = and_(deliveries.c.schedule_id == schedule.schedule_id, deliveries.c.by_hand == 1)
        connection.execute(select(schedules.c.owner).where(_id(schedule.schedule_id)).with_for_update())
        if connection.scalar(select(func.count()).where(mine, deliveries.c.state.in_(OPEN))):
            return None
        record = _delivery(schedule, at, by_hand=1)
        _insert(connection, record)
        return record

    async def deliver_again(self, owner: str, delivery: str, at: datetime) -> DeliveryRecord | None:
        """One that failed or is in doubt becomes due once more; None where there is no such one."""
        its = and_(deliveries.c.owner == owner, deliveries.c.delivery_id == delivery)
        query = update(deliveries).where(its, deliveries.c.state.in_(("failed", "in doubt")))
        anew = {"state": "due", "by_hand": 1, "next_try": at, "ended": None}
        values = {**anew, "attempt": (deliveries.c.attempt // TRIES + 1) * TRIES}
        if not await self._write(lambda connection: connection.execute(query.values(**values)).rowcount):
            return None
        return await self._first(DeliveryRecord, selected(DeliveryRecord).where(its))

    async def anything_due(self, at: datetime) -> bool:
        """Whether there is something for `occur` or `claim`: a server without schedules writes nothing."""
        come = select(schedules.c.schedule_id).where(_come(at)).limit(1)
        free = select(deliveries.c.delivery_id).where(or_(_free(at), _lost(at))).limit(1)
        return await self._read(lambda c: c.scalar(come) is not None or c.scalar(free) is not None)

    @transaction
    def occur(self, connection: Connection, at: datetime, planned: Planned) -> int:
        """Turn the occurrences whose time has come into deliveries; returns how many schedules moved on."""
        due = selected(ScheduleRecord).where(_come(at))
        some = due.order_by(schedules.c.next_run).limit(BATCH).with_for_update(skip_locked=True)
        rows = connection.execute(some).mappings().all()
        for row in rows:
            schedule = ScheduleRecord.model_validate(dict(row))
            latest, following = planned(schedule)
            connection.execute(update(schedules).where(_id(schedule.schedule_id)).values(next_run=following))
            record = _delivery(schedule, latest or schedule.next_run)
            if latest is None:
                missed = {"state": "skipped", "reason": "Missed: the server did not run then.", "ended": at}
                record = record.model_copy(update=missed)
            waiting = update(deliveries).where(
                deliveries.c.schedule_id == schedule.schedule_id,
                deliveries.c.delivery_id != record.delivery_id,
                deliveries.c.state == "due",
                deliveries.c.by_hand == 0,
            )
            later = {"state": "skipped", "reason": "A later one took its place.", "ended": at}
            connection.execute(waiting.values(**later))
            _insert(connection, record)
        return len(rows)

    async def renew_deliveries(self, instance: str, ids: Sequence[str], at: datetime) -> None:
        """Renew the leases of the deliveries that `instance` works on."""
        its = and_(deliveries.c.instance == instance, deliveries.c.delivery_id.in_(ids))
        query = update(deliveries).where(its, deliveries.c.leased_until > 0).values(leased_until=_lease(at))
        await self._write(lambda connection: connection.execute(query))

    @transaction
    def claim(self, connection: Connection, instance: str, at: datetime, *, limit: int) -> list[DeliveryRecord]:
        """Claim deliveries that are due, or whose process is gone; those that a process was sending when it ended
        become `in doubt`."""
        query = selected(DeliveryRecord).where(_free(at)).order_by(deliveries.c.next_try).limit(limit)
        lost = update(deliveries).where(_lost(at))
        connection.execute(lost.values(state="in doubt", reason=IN_DOUBT, ended=at))
        rows = connection.execute(query.with_for_update(skip_locked=True)).mappings().all()
        mine = [DeliveryRecord.model_validate({**row, "attempt": row["attempt"] + 1}) for row in rows]
        for one in mine:
            held = {"state": "claimed", "attempt": one.attempt, "instance": instance, "leased_until": _lease(at)}
            connection.execute(update(deliveries).where(deliveries.c.delivery_id == one.delivery_id).values(**held))
        return mine

    @transaction
    def step(
        self,
        connection: Connection,
        /,
        delivery: DeliveryRecord,
        state: DeliveryState,
        *,
        memory: Mapping[str, Any] | None = None,
        told: datetime | None = None,
        **changed: Any,
    ) -> bool:
        """Change the state of a claimed delivery. `memory`, `told`: what its condition compares with from now on.
        False when it is no longer this attempt's."""
        its = and_(deliveries.c.delivery_id == delivery.delivery_id, deliveries.c.attempt == delivery.attempt)
        query = update(deliveries).where(its, deliveries.c.state.in_(("claimed", "sending", "in doubt")))
        if not connection.execute(query.values(state=state, **changed)).rowcount:
            return False
        if memory is not None:
            seen = {"memory": json.dumps(memory), "told": told}
            connection.execute(update(schedules).where(_id(delivery.schedule_id)).values(**seen))
        return True


def _come(at: datetime) -> ColumnElement[bool]:
    """Schedules whose time has come."""
    return and_(schedules.c.paused == "", schedules.c.next_run <= at)


def _free(at: datetime) -> ColumnElement[bool]:
    """Deliveries that are due, or that a process which is gone had claimed."""
    gone = and_(deliveries.c.state == "claimed", deliveries.c.leased_until < micros(at))
    return or_(and_(deliveries.c.state == "due", deliveries.c.next_try <= at), gone)


def _lost(at: datetime) -> ColumnElement[bool]:
    """Deliveries whose process ended while it was sending them."""
    return and_(deliveries.c.state == "sending", deliveries.c.leased_until < micros(at))


def _lease(at: datetime) -> int:
    return micros(at + timedelta(seconds=LEASE_SECONDS))


def _id(schedule_id: str) -> ColumnElement[bool]:
    return schedules.c.schedule_id == schedule_id


def _delivery(schedule: ScheduleRecord, due: datetime, by_hand: int = 0) -> DeliveryRecord:
    return DeliveryRecord(
        delivery_id=hashlib.sha256(f"{schedule.schedule_id} {micros(due)}".encode()).hexdigest()[:32],
        schedule_id=schedule.schedule_id,
        owner=schedule.owner,
        due=due,
        by_hand=by_hand,
        next_try=due,
    )


def _insert(connection: Connection, record: DeliveryRecord) -> None:
    there = select(deliveries.c.state).where(deliveries.c.delivery_id == record.delivery_id)
    if connection.scalar(there):  # the clock was set back
        return
    connection.execute(deliveries.insert(), record.model_dump() | {"instance": "", "leased_until": 0})
    its = and_(deliveries.c.schedule_id == record.schedule_id, deliveries.c.state.not_in(OPEN))
    latest = select(deliveries.c.delivery_id).where(deliveries.c.schedule_id == record.schedule_id)
    kept = latest.order_by(deliveries.c.due.desc()).limit(KEPT)
    connection.execute(delete(deliveries).where(its, deliveries.c.delivery_id.not_in(kept)))
