"""The request and reply models of the routes; the OpenAPI description is made from them.

In: records of the store. Out: JSON objects without owners, locations or credentials.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field

from agent.inspection.schema import ColumnFacts, KeyFacts, Pattern, Pitfall, ProfileReport, TableFacts
from agent.results import SqlOutcome
from agent.server.runs.encoding import few_rows
from agent.state import TermKind
from agent.store.records import FirstRows, RunRecord, RunStatus, Verdict, Whole


class Reply(BaseModel, frozen=True):
    @classmethod
    def of(cls, record: Any) -> Self:
        """The fields of a record that the reply has."""
        return cls.model_validate(record, from_attributes=True)


class PresetReply(Reply):
    """A database that a client may ask."""

    id: str
    name: str
    description: str
    dialect: str
    kind: Literal["demo", "configured", "connected", "uploaded"]
    examples: list[str] = Field(default_factory=list)
    tables: int | None = None
    """None: not known before it has been opened."""
    default: bool = False
    removable: bool = False
    notes: list[str] = Field(default_factory=list)
    """How an uploaded file was read."""


class ColumnReply(Reply):
    name: str
    type: str
    primary_key: bool
    foreign_key: str | None
    """`table.column`."""
    inferred: bool
    """The foreign key is not declared; it was concluded from names and data."""
    nullable: bool
    comment: str | None


class TableReply(Reply):
    name: str
    kind: Literal["table", "view"]
    namespace: str | None
    comment: str | None
    row_count: int | None
    columns: list[ColumnReply]


class SchemaReply(Reply):
    dialect: str
    fingerprint: str
    total: int
    """Tables in all; `offset` and `limit` choose some of them."""
    tables: list[TableReply]


class SampleReply(Reply):
    columns: list[str]
    rows: list[list[Any]]


class ValueCount(Reply):
    value: Any
    count: int


class ValuesReply(Reply):
    """The most frequent values of a column. What could not be found out in time is null."""

    values: list[ValueCount]
    distinct: int | None
    nulls: int | None
    min: Any
    max: Any


class ProfileSection(Reply):
    name: str
    """`ddl`, `tables`, `columns`, `keys`, `values`, `ranges`, `formats`, `patterns`, `validation` or `guidance`."""
    title: str
    lines: list[str]
    left_out: int
    """Lines that the budget had no room for."""
    tokens: int


class ProfileReply(Reply):
    """What a database's rows look like, as text in sections and as facts. Values are there only in the privacy mode
    `full`; for `schema` no row was read."""

    database: str
    dialect: str
    fingerprint: str
    privacy: Literal["full", "masked", "schema"]
    tokens: int
    seconds: float
    """What computing it took when it was last computed."""
    complete: bool
    """False: time ran out before all tables had been read; the next request goes on."""
    sections: list[ProfileSection]
    tables: list[TableFacts]
    columns: list[ColumnFacts]
    keys: list[KeyFacts]
    patterns: list[Pattern]
    guidance: list[Pitfall]

    @classmethod
    def of(cls, report: ProfileReport) -> ProfileReply:
        own = {name: report if hasattr(report, name) else report.profile for name in cls.model_fields}
        return super().of({name: getattr(place, name) for name, place in own.items()})


class QuestionIn(BaseModel):
    question: str = Field(json_schema_extra={"pattern": r"\S"})
    preset: str | None = Field(None, max_length=200)
    """A preset's id; None means the thread's, else the default one."""
    thread_id: str | None = Field(None, max_length=200)
    """The conversation that the question belongs to; None begins one."""
    alone: bool = False
    """The question is read as it stands, without the turns before it."""
    resumable: bool = False
    """The run goes on for a while when its reader is lost."""
    model: str | None = Field(None, max_length=200, pattern=r"^[\w./:@+ -]*$")
    """A model at the configured endpoint, or `offline`."""


class _Run(Reply):
    run_id: str
    thread_id: str | None
    turn: int
    kind: Literal["question", "sql"]
    preset: str
    question: str
    status: RunStatus
    started: datetime
    seconds: float | None
    score: float | None
    sql: str
    model: str
    feedback: Verdict | None


class RunSummary(_Run):
    answer: str
    """The beginning of it."""

    @classmethod
    def of(cls, record: RunRecord) -> RunSummary:
        return super().of(record.model_copy(update={"answer": record.short}))


class RunReply(_Run):
    answer: dict[str, Any] | None
    """The whole answer as `agent.runner.Answer` has it, with at most 200 rows a result; None while the run goes on."""


class RunsReply(Reply):
    runs: list[RunSummary]
    next: str | None
    """Cursor of the next page, to be given as `before`; None at the end."""


class CancelReply(Reply):
    status: RunStatus


class ThreadSummary(Reply):
    thread_id: str
    title: str
    preset: str
    turns: int
    updated: datetime


class ThreadChange(BaseModel):
    title: str = Field(min_length=1, max_length=120)


class ThreadsReply(Reply):
    threads: list[ThreadSummary]
    next: str | None


class Waiting(Reply):
    question: str
    options: list[str]


class ThreadReply(Reply):
    thread_id: str
    title: str
    preset: str
    runs: list[RunReply]
    """Oldest first."""
    waiting: Waiting | None
    """What the last turn asked back."""


class FeedbackIn(BaseModel):
    run_id: str = Field(max_length=200)
    verdict: Verdict
    sql: str | None = Field(None, max_length=100_000)
    """The right SQL, for `corrected`."""
    comment: str | None = Field(None, max_length=4_000)


class TermReply(Reply):
    term_id: str
    kind: TermKind
    term: str
    means: str
    told: str
    """What it says, in one sentence."""
    run_id: str
    """The answer that it was learned from; empty where it was said."""
    created: datetime
    forgotten: datetime | None


class FeedbackReply(Reply):
    feedback_id: str
    learned: list[TermReply] = []
    """What a correction changed, kept as terms."""


class VerifiedPair(Reply):
    run_id: str
    question: str
    sql: str
    preset: str
    verdict: Verdict
    created: datetime


class HealthReply(Reply):
    status: Literal["ok"] = "ok"
    version: str
    model: str
    offline: bool
    """The built-in engine answers, because no model is configured."""
    score_threshold: float
    max_retries: int
    dialect: str
    database: str
    """The default preset."""
    privacy: str
    auth: bool
    """A bearer token is asked for."""
    lab: bool
    """There are runs of the lab to be shown, to those who may see them."""
    parquet: bool
    """Results can be saved as Parquet."""


class ReadyReply(Reply):
    ready: bool
    checks: dict[str, str]
    """`ok`, or what is wrong, for `state`, `database` and `graph`; `server` only while it is stopping."""
    worker: int | None = None
    """Number of the worker that says so, where there are several."""


class SqlIn(BaseModel):
    preset: str = Field(max_length=200)
    sql: str = Field(max_length=100_000)
    thread_id: str | None = Field(None, max_length=200)
    """A conversation of yours that the statement belongs to."""
    question: str | None = Field(None, max_length=20_000)
    """What the statement is meant to answer."""


class DrillIn(BaseModel):
    """Rows of a result that were pointed at, and the query that returned it."""

    preset: str = Field(max_length=200)
    sql: str = Field(max_length=100_000)
    columns: list[Annotated[str, Field(max_length=1_000)]] = Field(max_length=1_000)
    """The names of the result's columns."""
    rows: list[list[Any]] = Field(max_length=1_000)
    column: Annotated[Whole, Field(ge=0, le=1_000)] | None = None
    """The figure or cell in them, counted from 0."""


class DrillWay(Reply):
    kind: Literal["rows", "by", "only", "without"]
    label: str
    sql: str


class DrillReply(Reply):
    ways: list[DrillWay]
    reason: str = ""
    """Why there are none."""


class PhantomName(Reply):
    name: str
    nearest: list[str]


class Phantoms(Reply):
    """Names that the database does not have, or (`ambiguous`) has more than once, with the nearest real ones."""

    tables: list[PhantomName] = Field(default_factory=list)
    columns: list[PhantomName] = Field(default_factory=list)
    functions: list[PhantomName] = Field(default_factory=list)
    ambiguous: list[PhantomName] = Field(default_factory=list)


def first_rows(outcome: SqlOutcome) -> dict[str, Any]:
    """The outcome with as many rows as a reply holds. A statement that was cancelled has failed."""
    status = "error" if outcome.status == "cancelled" else outcome.status
    rows = [list(row) for row in few_rows(outcome.rows)]
    return {**dict(outcome), "status": status, "rows": rows, "rows_returned": len(outcome.rows)}


class SqlReply(FirstRows):
    """The rows beyond those here are given by `/runs/{run_id}/rows`."""

    allowed: bool
    reason: str | None
    """Why it may not run."""
    sql: str
    """What was sent."""
    phantoms: Phantoms
    run_id: str


class ResultColumn(Reply):
    name: str
    kind: str
    """By its values: `number`, `text`, ..., `mixed`, or `empty`."""


class RowsReply(Reply):
    columns: list[ResultColumn]
    rows: list[list[Any]]
    total: int
    """Rows that the filters keep."""
    offset: int
    limit: int
    truncated: bool
    """There are more rows than are kept, or than were counted."""


class DatabaseIn(BaseModel):
    url: str = Field(max_length=4_000)
    """`postgresql://user:password@host/database` and the like; what is allowed is the server's to say."""
    name: str | None = Field(None, max_length=100)
