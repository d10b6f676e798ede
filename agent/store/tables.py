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
    Table,
    Text,
    inspect,
    select,
    text,
    update,
)

from agent.store.columns import Words, columns_of
from agent.store.errors import StateUnusable
from agent.store.records import (
    BoardRecord,
    DeliveryRecord,
    FeedbackRecord,
    KeptRecord,
    RunRecord,
    ScheduleRecord,
    SourceRecord,
    TermRecord,
    ThreadRecord,
)

metadata = MetaData()

version = Table("text2sql_state", metadata, Column("version", Integer, nullable=False))


def _table(record: type[BaseModel], name: str, *more: Column[Any] | Index, unique: str = "") -> Table:
    """A table with a column for each field of a record; `unique`: the one whose values are all different."""
    columns = [*columns_of(record)]
    for column in columns:
        column.unique = column.name == unique or None
    return Table(name, metadata, *columns, *more)


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

events = Table(
    "text2sql_events",
    metadata,
    Column("run_id", Words, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", Words, nullable=False),
    Column("size", Integer, nullable=False),
)

feedback = _table(FeedbackRecord, "text2sql_feedback", Index("text2sql_feedback_of_run", "owner", "run_id", "created"))
sources = _table(SourceRecord, "text2sql_sources", Index("text2sql_sources_of_owner", "owner", "created"))
kept = _table(KeptRecord, "text2sql_kept", Index("text2sql_kept_latest", "owner", "created", "kept_id"))
boards = _table(BoardRecord, "text2sql_boards", Index("text2sql_boards_of_owner", "owner", "updated"), unique="share")
terms = _table(TermRecord, "text2sql_terms", Index("text2sql_terms_of_preset", "owner", "preset", "created"))

schedules = _table(
    ScheduleRecord,
    "text2sql_schedules",
    Column("memory", Words, nullable=False),
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

preferences = Table(
    "text2sql_preferences",
    metadata,
    Column("name", Text, primary_key=True),
    Column("sealed", Text, nullable=False),
)

tasks = Table(
    "text2sql_tasks",
    metadata,
    Column("task_id", Words, primary_key=True),
    Column("owner", Words, primary_key=True),
    Column("context_id", Words, nullable=False),
    Column("state", Integer, nullable=False),
    Column("active", Integer, nullable=False),
    Column("ended", Integer, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False),
    Column("instance", Words, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    Column("saved", BigInteger, nullable=False),
    Index("text2sql_tasks_latest", "owner", "context_id", "updated"),
    Index("text2sql_tasks_by_instance", "instance", "active"),
)

task_events = Table(
    "text2sql_task_events",
    metadata,
    Column("task_id", Words, primary_key=True),
    Column("owner", Words, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

rates = Table(
    "text2sql_rates",
    metadata,
    Column("key", Words, primary_key=True),
    Column("level", Float, nullable=False),
    Column("at", BigInteger, nullable=False),
)

shares = Table(
    "text2sql_shares",
    metadata,
    Column("key", Words, primary_key=True),
    Column("instance", Words, primary_key=True),
    Column("held", Integer, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
)


def _made(*made: Table) -> Callable[[Connection], None]:
    """A step that makes these tables; without any, all."""
    return lambda connection: metadata.create_all(connection, tables=made or None)


def _rights_beside_owners(connection: Connection) -> None:
    """Before, what a person might see was a part of the owner, behind a line break."""
    for table in (threads, runs, feedback, kept):
        _add_column(connection, table, "rights")
    for table in (threads, runs, feedback, kept, boards):
        for owner in connection.scalars(select(table.c.owner).where(table.c.owner.contains("\n")).distinct()).all():
            name, _, rights = owner.partition("\n")
            of_both = {"owner": name} if table is boards else {"owner": name, "rights": rights}
            connection.execute(update(table).where(table.c.owner == owner).values(of_both))


def _add_column(connection: Connection, table: Table, name: str) -> None:
    if not any(column["name"] == name for column in inspect(connection).get_columns(table.name)):
        default = table.c[name].server_default.arg  # type: ignore[union-attr]
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {name} TEXT NOT NULL DEFAULT '{default}'"))


def _kinds_of_terms(connection: Connection) -> None:
    """Before, every term was a word, and what was forgotten was gone."""
    known = {column["name"] for column in inspect(connection).get_columns(terms.name)}
    added = {"kind": "TEXT NOT NULL DEFAULT 'word'", "run_id": "TEXT NOT NULL DEFAULT ''", "forgotten": "BIGINT"}
    for name, form in added.items():
        if name not in known:
            connection.execute(text(f"ALTER TABLE {terms.name} ADD COLUMN {name} {form}"))


STEPS: tuple[Callable[[Connection], None], ...] = (
    _made(),
    _made(kept, boards),
    _made(preferences),
    _made(tasks, task_events, rates, shares),
    _rights_beside_owners,
    _made(terms),
    lambda connection: _add_column(connection, boards, "filters"),
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
