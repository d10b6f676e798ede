"""Looks for what is due, runs it with its owner's rights and sends it.

In: the services of a running server. Out: deliveries, at most `AT_ONCE` at a time in each process. What fails before
anything has left is tried again with growing pauses; what may have left is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from agent.results import SqlOutcome
from agent.server.documents import Document, Section, of_kept
from agent.server.errors import ApiError
from agent.server.kept import as_seen, as_shown, rerun, shortened
from agent.server.replies import as_json
from agent.server.schedules import NotDelivered, Unsure
from agent.server.schedules.cron import BadTimes, following, latest
from agent.server.schedules.mail import send_mail
from agent.server.schedules.owners import owner_of
from agent.server.schedules.pictures import can_draw, drawn
from agent.server.schedules.webhook import send_webhook
from agent.server.services import ClientServices, Services
from agent.store import SecretMissing, StoreError
from agent.store.records import BoardFilter, BoardRecord, Condition, DeliveryRecord, KeptRecord, ScheduleRecord
from agent.store.schedules import TRIES
from eval.databases.types import DatabaseError
from eval.errors import InputError

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
AT_ONCE = 8
"""Deliveries of a process at a time."""
PREPARE_SECONDS = 300.0
"""Time for all queries of a delivery."""
CLOSE_SECONDS = 10.0
PAUSES = (1, 4, 15, 30)
"""Minutes before each further try."""
GRACE = timedelta(hours=6)
"""What the server missed by less is made up for, once."""
_WORDS = {"timeout": "took too long", "refused": "is refused"}
ROWS = 10_000
"""Rows that are compared; an answer with more has no `new rows`."""


@dataclass(frozen=True, slots=True)
class Seen:
    tells: bool
    why: str
    """In words, for the history; holds no value of the answer."""
    detail: str = ""
    """The value, for the message."""
    memory: dict[str, Any] = field(default_factory=dict)
    """To be remembered if it is told, or if there is nothing to tell."""
    rows: list[list[Any]] | None = None
    """The rows to send; None: all."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    document: Document
    why: str = ""
    pictures: list[tuple[str, bytes]] = field(default_factory=list)
    url: str = field(default="", repr=False)
    """Of the webhook."""


@dataclass(frozen=True, slots=True)
class _Skipped:
    why: str
    remember: bool


class Scheduler:
    """Belongs to one event loop."""

    def __init__(self, services: Services, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._services = services
        self._store = services.store
        self._instance = services.runs.instance.id
        self._clock = clock
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._sending: set[str] = set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        loop = asyncio.create_task(self._loop())
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            for task, delivery in self._tasks.items():
                if delivery not in self._sending:
                    task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)

    async def _loop(self) -> None:
        look = self._services.look_for_due
        while True:
            look.clear()
            try:
                await self.renew()
                await self.look()
            except Exception as error:  # noqa: BLE001 - the state being away for a while must not end it
                log.warning("Schedules could not be looked at: %s", type(error).__name__)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await look.wait()

    async def renew(self) -> None:
        """Renew the leases of what this process works on. Raises StoreError."""
        if self._tasks:
            await self._store.renew_deliveries(self._instance, list(self._tasks.values()), self._clock())

    async def look(self) -> list[asyncio.Task[None]]:
        """Turn what is due into deliveries, and begin as many as there is room for. Raises StoreError."""
        now = self._clock()
        if not await self._store.anything_due(now):
            return []
        while await self._store.occur(now, lambda schedule: _planned(schedule, now)):
            pass
        room = AT_ONCE - len(self._tasks)
        if room <= 0:
            return []
        claimed = await self._store.claim(self._instance, now, limit=room)
        begun = [asyncio.create_task(self._deliver(delivery)) for delivery in claimed]
        for task, delivery in zip(begun, claimed, strict=True):
            self._tasks[task] = delivery.delivery_id
            task.add_done_callback(self._done)
        return begun

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        self._services.look_for_due.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("A delivery failed inside", exc_info=error)

    async def _deliver(self, delivery: DeliveryRecord) -> None:
        schedule = await self._store.get(ScheduleRecord, delivery.owner, delivery.schedule_id)
        if schedule is None:
            return
        memory = await self._store.memory(schedule.schedule_id) if schedule.condition else {}
        try:
            async with asyncio.timeout(PREPARE_SECONDS):
                made, saw = await self._prepared(schedule, delivery, memory)
        except asyncio.CancelledError:
            await self._store.step(delivery, "due", next_try=self._clock())
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing has left
            await self._failed(schedule, delivery, _told(error))
            return
        now = self._clock()
        if isinstance(made, _Skipped):
            seen_now = saw.memory if saw and made.remember else None
            await self._store.step(delivery, "skipped", reason=made.why, ended=now, memory=seen_now, told=schedule.told)
            return
        told: dict[str, Any] = {"memory": saw.memory, "told": now} if saw else {}
        before = {"memory": memory, "told": schedule.told} if saw else {}
        self._sending.add(delivery.delivery_id)
        try:
            if not await self._store.step(delivery, "sending", **told):
                return
            more = await self._send(schedule, delivery, made)
        except NotDelivered as error:
            await self._failed(schedule, delivery, error, **before)
        except Unsure as error:
            await self._store.step(delivery, "in doubt", reason=str(error), ended=self._clock())
        else:
            await self._store.step(delivery, "sent", reason=f"{made.why}{more}".strip(), ended=self._clock())
        finally:
            self._sending.discard(delivery.delivery_id)

    async def _failed(
        self, schedule: ScheduleRecord, delivery: DeliveryRecord, error: NotDelivered, **before: Any
    ) -> None:
        """Nothing has left: try again later, or tell."""
        now, tries = self._clock(), delivery.attempt % TRIES
        if error.pause:
            await self._store.change(schedule, paused=str(error))
        if error.again and tries <= len(PAUSES):
            later = now + timedelta(minutes=PAUSES[tries - 1])
            await self._store.step(delivery, "due", next_try=later, reason=str(error), **before)
        else:
            await self._store.step(delivery, "failed", reason=str(error), ended=now, **before)

    async def _send(self, schedule: ScheduleRecord, delivery: DeliveryRecord, made: _Prepared) -> str:
        """Returns what the history tells besides. Raises NotDelivered, Unsure."""
        settings, key = self._services.settings.deliveries, delivery.delivery_id
        if schedule.channel == "mail":
            given = (settings, schedule.recipients, key, made.document, made.pictures)
            return await asyncio.to_thread(send_mail, *given)
        await send_webhook(made.url, settings.webhook_hosts, schedule.channel, key, made.document)
        return ""

    async def _prepared(
        self, schedule: ScheduleRecord, delivery: DeliveryRecord, memory: dict[str, Any]
    ) -> tuple[_Prepared | _Skipped, Seen | None]:
        """What is to be sent, or why nothing is; what the condition saw. Raises NotDelivered."""
        here = self._services.on_behalf_of(owner_of(schedule, self._services.tokens, self._clock()))
        shown: list[KeptRecord] = []
        sections: list[Section] = []
        problem = NotDelivered("There is nothing on this board to send.")
        saw: Seen | None = None
        answers, filters = await self._answers(schedule, here)
        for answer in answers:
            if await as_seen(here, answer) is None:
                problem = NotDelivered("Its owner may no longer see this answer.")
                continue
            try:
                outcome = await _rerun(here, answer, filters)
            except NotDelivered as error:
                problem = error
                sections.append(Section(answer.title, facts=str(error)))
                continue
            if schedule.condition and not delivery.by_hand:
                saw = seen(schedule.condition, outcome.columns, outcome.rows, outcome.truncated, memory)
                if not saw.tells:
                    return _Skipped(saw.why, remember=True), saw
                quiet = timedelta(hours=schedule.quiet_hours)
                if schedule.told and self._clock() < schedule.told + quiet:
                    until = _local(schedule, schedule.told + quiet)
                    return _Skipped(f"{saw.why} Quiet until {until}.", remember=False), saw
                if saw.rows is not None:
                    outcome = outcome.model_copy(update={"rows": saw.rows})
            shown.append(answer.model_copy(update={"result": shortened(outcome)}))
            section = replace(of_kept(shown[-1]), sql="")
            sections.append(section if schedule.table else replace(section, columns=(), rows=(), note=""))
        if not shown:
            raise problem
        pictures, without = await _pictures(schedule, shown)
        facts = [f"{_local(schedule, delivery.due)}.", *([saw.detail, saw.why] if saw else []), without]
        document = Document(schedule.title, " ".join(filter(None, facts)), sections, self._link(schedule))
        why = saw.why if saw else "Sent by hand." if delivery.by_hand else ""
        try:
            url = self._store.unsealed(schedule.webhook) if schedule.webhook else ""
        except SecretMissing:
            raise NotDelivered("The address of the webhook cannot be read any more: enter it again.") from None
        return _Prepared(document, why, pictures, url), saw

    async def _answers(
        self, schedule: ScheduleRecord, here: ClientServices
    ) -> tuple[list[KeptRecord], list[BoardFilter]]:
        """What is to be run, and what it is narrowed by, as far as the owner may see it."""
        if schedule.kept_id is not None:
            answer = await self._store.get(KeptRecord, schedule.owner, schedule.kept_id)
            return ([answer] if answer else []), []
        board = await self._store.get(BoardRecord, schedule.owner, schedule.board_id or "")
        if board is None:
            return [], []
        by_id = {answer.kept_id: answer for answer in await self._store.of_owner(KeptRecord, schedule.owner)}
        answers = [by_id[tile.kept_id] for tile in board.tiles if tile.kept_id in by_id]
        return answers, [one for one in await as_shown(here, board) if one is not None]

    def _link(self, schedule: ScheduleRecord) -> str:
        base = self._services.settings.deliveries.public_url
        if base is None or not schedule.link:
            return ""
        place = f"b/{schedule.board_id}" if schedule.board_id else f"k/{schedule.kept_id}"
        return f"{base.rstrip('/')}/{place}"


async def _rerun(here: ClientServices, answer: KeptRecord, filters: list[BoardFilter]) -> SqlOutcome:
    """Raises NotDelivered; its message repeats nothing of the database's."""
    try:
        outcome, _ = await rerun(here, answer, filters=filters)
    except InputError:
        raise NotDelivered("Its values or filters do not fit its query any more.") from None
    except (ApiError, DatabaseError) as error:
        again = isinstance(error, DatabaseError) or error.status == 503
        raise NotDelivered("Its database does not open.", again=again) from None
    if outcome.status != "success":
        again = outcome.status == "timeout"
        raise NotDelivered(f"Its query {_WORDS.get(outcome.status, 'fails')}.", again=again)
    return outcome


async def _pictures(schedule: ScheduleRecord, answers: list[KeptRecord]) -> tuple[list[tuple[str, bytes]], str]:
    """The charts for a mail, by name; what is to be said where there are none."""
    if not schedule.picture or schedule.channel != "mail":
        return [], ""
    if not can_draw():
        return [], "Without pictures: matplotlib is not installed on the server."
    pictures = [await asyncio.to_thread(drawn, answer) for answer in answers]
    return [(f"chart-{number}", picture) for number, picture in enumerate(filter(None, pictures), 1)], ""


def _told(error: Exception) -> NotDelivered:
    """A failure before anything has left, as the history tells it."""
    if isinstance(error, NotDelivered):
        return error
    if isinstance(error, TimeoutError):
        return NotDelivered("Its queries took too long.")
    log.error("A delivery failed inside", exc_info=error)
    return NotDelivered("Something went wrong inside.", again=isinstance(error, StoreError))


def _local(schedule: ScheduleRecord, at: datetime) -> str:
    return f"{at.astimezone(ZoneInfo(schedule.zone)):%Y-%m-%d %H:%M} {schedule.zone}"


def _planned(schedule: ScheduleRecord, now: datetime) -> tuple[datetime | None, datetime]:
    try:
        since, following_run = now - GRACE, following(schedule.cron, schedule.zone, now)
        if schedule.next_run < since:
            return latest(schedule.cron, schedule.zone, since, now), following_run
        return latest(schedule.cron, schedule.zone, schedule.next_run, now) or schedule.next_run, following_run
    except (BadTimes, KeyError):  # written by another version, or a zone that is gone
        return None, now + timedelta(days=1)


# When an alert is told


def seen(
    condition: Condition, columns: Sequence[str], rows: Sequence[list[Any]], truncated: bool, before: Mapping[str, Any]
) -> Seen:
    """Whether a condition tells of the rows that an answer returned now, with what was seen `before`. Raises
    NotDelivered where the answer does not have what it asks for."""
    if condition.kind == "new rows":
        return _new_rows(rows, truncated, before)
    if condition.column not in columns:
        raise NotDelivered(f"The answer has no column {condition.column!r} any more.")
    place = list(columns).index(condition.column)
    numbers = [number for row in rows if (number := _number(row[place])) is not None]
    if condition.kind == "changes":
        return _changes(condition, numbers, len(rows), before)
    if not numbers:
        return Seen(False, f"{condition.column} has no number.", memory={"held": False})
    above = condition.kind == "above"
    number = max(numbers) if above else min(numbers)
    held = number > condition.value if above else number < condition.value
    why = f"{condition.column} is {'' if held else 'not '}{condition.kind} {condition.value:,.10g}"
    if held and before.get("held"):
        return Seen(False, f"{why}, as the last time.", memory={"held": True})
    return Seen(held, f"{why}.", f"{condition.column} is {number:,.10g}.", {"held": held})


def _changes(condition: Condition, numbers: Sequence[float], rows: int, before: Mapping[str, Any]) -> Seen:
    if rows != 1:
        raise NotDelivered("A change needs an answer of one row.")
    if not numbers:
        return Seen(False, f"{condition.column} has no number.", memory=dict(before))
    (number,) = numbers
    if "value" not in before:
        return Seen(False, "Changes count from here.", memory={"value": number})
    was = float(before["value"])
    least = abs(was) * condition.value / 100 if condition.percent else condition.value
    changed = number != was and abs(number - was) >= least
    by = f"{condition.value:,.10g}{' %' * condition.percent}"
    why = f"{condition.column} has {'' if changed else 'not '}changed by {by}."
    detail = f"{condition.column} is {number:,.10g}, was {was:,.10g}."
    return Seen(changed, why, detail, {"value": number if changed else was})


def _new_rows(rows: Sequence[list[Any]], truncated: bool, before: Mapping[str, Any]) -> Seen:
    if truncated or len(rows) > ROWS:
        raise NotDelivered(f"The answer has more rows than the {ROWS:,} that can be compared.")
    marks = [hashlib.blake2b(as_json(row).encode(), digest_size=8).hexdigest() for row in rows]
    memory = {"rows": list(dict.fromkeys(marks))}
    if "rows" not in before:
        return Seen(False, "New rows count from here.", memory=memory)
    known = set(before["rows"])
    new = [row for row, mark in zip(rows, marks, strict=True) if mark not in known]
    return Seen(bool(new), f"{len(new):,} new row{'' if len(new) == 1 else 's'}.", memory=memory, rows=new)


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if number == number else None
