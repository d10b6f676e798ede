"""The tables of the state database, and the migration of older states.

In: an open connection inside a transaction. Out: the tables in their current version. Most hold the fields of a record,
so a new field of a record needs a new step. Values have a form that SQLite and PostgreSQL hold and sort alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.types import TypeDecorator

from agent.store.records import (
    BoardRecord,
    DeliveryRecord,
    FeedbackRecord,
    KeptRecord,
    Record,
    RunRecord,
    ScheduleRecord,
    SourceRecord,
    TermRecord,
    ThreadRecord,
)
from agent.store.store_errors import StateUnusable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def now() -> int:
    return micros(datetime.now(UTC))


def storable(text: str) -> str:
    """Text that every database accepts: PostgreSQL has no NUL, and neither database accepts a lone surrogate."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()


class Words(TypeDecorator[str]):
    """Text, made `storable`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _: Dialect) -> str | None:
        return value if value is None else storable(value)


class Moment(TypeDecorator[datetime]):
    """An aware time as `micros`."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _: Dialect) -> int | None:
        return value if value is None else micros(value)

    def process_result_value(self, value: int | None, _: Dialect) -> datetime | None:
        return value if value is None else moment(value)


class Json(TypeDecorator[Any]):
    """JSON as text, which holds anything that JSON can escape; NaN and infinities are refused by a ValueError."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _: Dialect) -> str | None:
        return None if value is None else json.dumps(value, allow_nan=False, default=to_jsonable_python)

    def process_result_value(self, value: str | None, _: Dialect) -> Any:
        return None if value is None else json.loads(value)


_TYPES: dict[Any, Any] = {str: Words, int: Integer, float: Float, datetime: Moment}


_ADDED = {"rights": "", "filters": "[]"}
"""Columns that older states have had added, with the value of the rows that were there."""


def columns_of(record: type[BaseModel]) -> Iterator[Column[Any]]:
    """A column for each field of a record; the first one is the key."""
    for number, (name, field) in enumerate(record.model_fields.items()):
        kind, optional = field.annotation, False
        if NoneType in get_args(kind):
            kind, optional = next(part for part in get_args(kind) if part is not NoneType), True
        type_ = Words if get_origin(kind) is Literal else _TYPES.get(kind, Json)
        yield Column(name, type_, primary_key=number == 0, nullable=optional, server_default=_ADDED.get(name))


metadata = MetaData()

version = Table("text2sql_state", metadata, Column("version", Integer, nullable=False))


def _table(record: type[BaseModel], name: str, *more: Column[Any] | Index, unique: str = "") -> Table:
    """A table with a column for each field of a record; `unique`: the one whose values are all different."""
    columns = [*columns_of(record)]
    for column in columns:
        column.unique = column.name == unique or None
    return Table(name, metadata, *columns, *more)


def _simple(title: str, keys: int, /, *indexes: Index, **types: Any) -> Table:
    """A table of these columns, none of which may be null; the first `keys` of them are its key."""
    columns = [
        Column(name, type_, primary_key=n < keys, nullable=False) for n, (name, type_) in enumerate(types.items())
    ]
    return Table(title, metadata, *columns, *indexes)


threads = _table(ThreadRecord, "text2sql_threads", Index("text2sql_threads_latest", "owner", "updated", "thread_id"))

runs = _table(
    RunRecord,
    "text2sql_runs",
    Column("instance", Text, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    Index("text2sql_runs_latest", "owner", "started", "run_id"),
    Index("text2sql_runs_of_thread", "thread_id", "started"),
    Index("text2sql_runs_by_status", "status", "leased_until"),
)

events = _simple("text2sql_events", 2, run_id=Words, number=Integer, data=Words, size=Integer)
feedback = _table(FeedbackRecord, "text2sql_feedback", Index("text2sql_feedback_of_run", "owner", "run_id", "created"))
sources = _table(SourceRecord, "text2sql_sources", Index("text2sql_sources_of_owner", "owner", "created"))
kept = _table(KeptRecord, "text2sql_kept", Index("text2sql_kept_latest", "owner", "created", "kept_id"))
boards = _table(BoardRecord, "text2sql_boards", Index("text2sql_boards_of_owner", "owner", "updated"), unique="share")
terms = _table(TermRecord, "text2sql_terms", Index("text2sql_terms_of_preset", "owner", "preset", "created"))

schedules = _table(
    ScheduleRecord,
    "text2sql_schedules",
    Column("memory", Words, nullable=False, default=""),
    Index("text2sql_schedules_of_owner", "owner", "created"),
    Index("text2sql_schedules_due", "paused", "next_run"),
)
"""`memory`: what a condition compares with, as JSON; up to 200 KB."""

deliveries = _table(
    DeliveryRecord,
    "text2sql_deliveries",
    Column("instance", Words, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    Index("text2sql_deliveries_by_state", "state", "next_try"),
    Index("text2sql_deliveries_of_schedule", "schedule_id", "due"),
)

preferences = _simple("text2sql_preferences", 1, name=Text, sealed=Text)

tasks = _simple(
    "text2sql_tasks",
    2,
    Index("text2sql_tasks_latest", "owner", "context_id", "updated"),
    Index("text2sql_tasks_by_instance", "instance", "active"),
    **dict.fromkeys(("task_id", "owner", "context_id"), Words),
    **dict.fromkeys(("state", "active", "ended"), Integer),
    updated=BigInteger,
    data=LargeBinary,
    version=Integer,
    instance=Words,
    leased_until=BigInteger,
    saved=BigInteger,
)
task_events = _simple("text2sql_task_events", 3, task_id=Words, owner=Words, version=Integer, data=LargeBinary)

rates = _simple("text2sql_rates", 1, key=Words, level=Float, at=BigInteger)


TABLES: dict[type[Record], Table] = {
    RunRecord: runs,
    ThreadRecord: threads,
    FeedbackRecord: feedback,
    TermRecord: terms,
    SourceRecord: sources,
    KeptRecord: kept,
    BoardRecord: boards,
    ScheduleRecord: schedules,
    DeliveryRecord: deliveries,
}


def key_of(table: Table) -> Column[Any]:
    return table.primary_key.columns[0]


def selected(kind: type[Record]) -> Select[Any]:
    """A query of the columns that the fields of a kind are in."""
    return select(*(TABLES[kind].c[name] for name in kind.model_fields))


def _made(*made: Table) -> Callable[[Connection], None]:
    """A step that makes these tables; without any, all."""
    return lambda connection: metadata.create_all(connection, tables=made or None)


def _rights_beside_owners(connection: Connection) -> None:
    """Before, what a person might see was a part of the owner, behind a line break."""
    for table in (threads, runs, feedback, kept):
        _add_columns(connection, table, rights="TEXT NOT NULL DEFAULT ''")
    for table in (threads, runs, feedback, kept, boards):
        for owner in connection.scalars(select(table.c.owner).where(table.c.owner.contains("\n")).distinct()).all():
            name, _, rights = owner.partition("\n")
            of_both = {"owner": name} if table is boards else {"owner": name, "rights": rights}
            connection.execute(update(table).where(table.c.owner == owner).values(of_both))


def _add_columns(connection: Connection, table: Table, **forms: str) -> None:
    known = {column["name"] for column in inspect(connection).get_columns(table.name)}
    for name, form in forms.items():
        if name not in known:
            connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {name} {form}"))


def _kinds_of_terms(connection: Connection) -> None:
    """Before, every term was a word, and what was forgotten was gone."""
    of_text = {"kind": "TEXT NOT NULL DEFAULT 'word'", "run_id": "TEXT NOT NULL DEFAULT ''"}
    _add_columns(connection, terms, **of_text, forgotten="BIGINT")


STEPS: tuple[Callable[[Connection], None], ...] = (
    _made(),
    _made(kept, boards),
    _made(preferences),
    _made(tasks, task_events, rates),
    _rights_beside_owners,
    _made(terms),
    lambda connection: _add_columns(connection, boards, filters="TEXT NOT NULL DEFAULT '[]'"),
    _made(schedules, deliveries),
    _kinds_of_terms,
)
"""Step n migrates a state from version n to n + 1. Steps are added at the end and never changed."""


def migrate(connection: Connection, place: str) -> None:
    """Migrate the state to the current version. The caller's transaction makes this atomic and has to exclude other
    processes. Raises StateUnusable for a state that a newer version has written."""
    current = connection.scalar(select(version.c.version)) if inspect(connection).has_table(version.name) else None
    form = int(current or 0)
    if form > len(STEPS):
        raise StateUnusable(
            f"The state database {place} was written by a newer version of this program (its form is {form}, this "
            f"program knows {len(STEPS)}). Update the program, or name another place by TEXT2SQL_STATE_DIR."
        )
    if form == len(STEPS):
        return
    for step in STEPS[form:]:
        step(connection)
    connection.execute(version.delete())
    connection.execute(version.insert().values(version=len(STEPS)))
