"""The tables of the state database, and the migration of older states.

In: an open connection inside a transaction. Out: the tables in their current version. Most hold the fields of a record,
so a new field of a record needs a new step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
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

from agent.store.columns import Words, columns_of
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
    now = int(current or 0)
    if now > len(STEPS):
        raise StateUnusable(
            f"The state database {place} was written by a newer version of this program (its form is {now}, this "
            f"program knows {len(STEPS)}). Update the program, or name another place by TEXT2SQL_STATE_DIR."
        )
    if now == len(STEPS):
        return
    for step in STEPS[now:]:
        step(connection)
    connection.execute(version.delete())
    connection.execute(version.insert().values(version=len(STEPS)))
