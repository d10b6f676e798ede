"""The tables of the state database, and the migration of older states.

In: an open connection inside a transaction. Out: the tables in their current version. Times are integer microseconds
since 1970 UTC, which sort and compare alike on both databases. JSON is stored as text, which holds anything that JSON
can escape.
"""

from __future__ import annotations

from collections.abc import Callable

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

from agent.store.errors import StateUnusable

metadata = MetaData()

version = Table("text2sql_state", metadata, Column("version", Integer, nullable=False))


def _rights() -> Column[str]:
    return Column("rights", Text, nullable=False, server_default="")


threads = Table(
    "text2sql_threads",
    metadata,
    Column("thread_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    _rights(),
    Column("title", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Index("text2sql_threads_latest", "owner", "updated", "thread_id"),
)

runs = Table(
    "text2sql_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    _rights(),
    Column("thread_id", Text),
    Column("turn", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("seconds", Float),
    Column("score", Float),
    Column("sql", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("short", Text, nullable=False),
    Column("answer", Text),
    Column("feedback", Text),
    Column("instance", Text, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    Index("text2sql_runs_latest", "owner", "started", "run_id"),
    Index("text2sql_runs_of_thread", "thread_id", "started"),
    Index("text2sql_runs_by_status", "status", "leased_until"),
)

events = Table(
    "text2sql_events",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("data", Text, nullable=False),
    Column("size", Integer, nullable=False),
)

feedback = Table(
    "text2sql_feedback",
    metadata,
    Column("feedback_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    _rights(),
    Column("run_id", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("sql", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Index("text2sql_feedback_of_run", "owner", "run_id", "created"),
)

sources = Table(
    "text2sql_sources",
    metadata,
    Column("source_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("dialect", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Index("text2sql_sources_of_owner", "owner", "created"),
)

kept = Table(
    "text2sql_kept",
    metadata,
    Column("kept_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    _rights(),
    Column("title", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("preset", Text, nullable=False),
    Column("sql", Text, nullable=False),
    Column("dialect", Text, nullable=False),
    Column("chart", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("result", Text),
    Column("created", BigInteger, nullable=False),
    Index("text2sql_kept_latest", "owner", "created", "kept_id"),
)

boards = Table(
    "text2sql_boards",
    metadata,
    Column("board_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("tiles", Text, nullable=False),
    Column("share", Text, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Index("text2sql_boards_of_owner", "owner", "updated"),
)

terms = Table(
    "text2sql_terms",
    metadata,
    Column("term_id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    _rights(),
    Column("preset", Text, nullable=False),
    Column("term", Text, nullable=False),
    Column("means", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Index("text2sql_terms_of_preset", "owner", "preset", "created"),
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
    Column("task_id", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("context_id", Text, nullable=False),
    Column("state", Integer, nullable=False),
    Column("active", Integer, nullable=False),
    Column("ended", Integer, nullable=False),
    Column("updated", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("version", Integer, nullable=False),
    Column("instance", Text, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
    Column("saved", BigInteger, nullable=False),
    Index("text2sql_tasks_latest", "owner", "context_id", "updated"),
    Index("text2sql_tasks_by_instance", "instance", "active"),
)

task_events = Table(
    "text2sql_task_events",
    metadata,
    Column("task_id", Text, primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

rates = Table(
    "text2sql_rates",
    metadata,
    Column("key", Text, primary_key=True),
    Column("level", Float, nullable=False),
    Column("at", BigInteger, nullable=False),
)

shares = Table(
    "text2sql_shares",
    metadata,
    Column("key", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("held", Integer, nullable=False),
    Column("leased_until", BigInteger, nullable=False),
)


def _first(connection: Connection) -> None:
    metadata.create_all(connection)


def _kept_answers(connection: Connection) -> None:
    metadata.create_all(connection, tables=[kept, boards])


def _preferences(connection: Connection) -> None:
    metadata.create_all(connection, tables=[preferences])


def _several_processes(connection: Connection) -> None:
    metadata.create_all(connection, tables=[tasks, task_events, rates, shares])


def _rights_beside_owners(connection: Connection) -> None:
    """Before, what a person might see was a part of the owner, behind a line break."""
    known = inspect(connection)
    for table in (threads, runs, feedback, kept):
        if not any(column["name"] == "rights" for column in known.get_columns(table.name)):
            connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN rights TEXT NOT NULL DEFAULT ''"))
    for table in (threads, runs, feedback, kept, boards):
        for owner in connection.scalars(select(table.c.owner).where(table.c.owner.contains("\n")).distinct()).all():
            name, _, rights = owner.partition("\n")
            of_both = {"owner": name} if table is boards else {"owner": name, "rights": rights}
            connection.execute(update(table).where(table.c.owner == owner).values(of_both))


def _terms(connection: Connection) -> None:
    metadata.create_all(connection, tables=[terms])


STEPS: tuple[Callable[[Connection], None], ...] = (
    _first,
    _kept_answers,
    _preferences,
    _several_processes,
    _rights_beside_owners,
    _terms,
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
