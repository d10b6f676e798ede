"""The store's records: runs, threads, feedback, and databases that a client connected or uploaded.

Each record belongs to an `owner` (the name of a client) and only its owner can find it. Times are aware UTC datetimes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agent.state import Term, TermKind

RunStatus = Literal[
    "running", "success", "doubtful", "abstained", "error", "cancelled", "interrupted", "waiting", "refused", "timeout"
]
"""`interrupted`: the server that ran it is gone; `waiting`: it waits for the user's answer to a clarification.
`refused` and `timeout` are for SQL typed by a person."""

Verdict = Literal["right", "wrong", "corrected"]


def _no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number, not true or false")
    return value


Whole = Annotated[int, BeforeValidator(_no_flag)]

FilterValue = list[Annotated[str, Field(max_length=1_000)] | None]
"""As `agent.statements.filtering.Filter`; empty: the filter narrows nothing."""


class Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class RunRecord(Record):
    run_id: str
    owner: str
    rights: str = ""
    """A digest of what the owner could see when it was made; empty where there are no policies."""
    thread_id: str | None = None
    turn: int = 0
    """1 for the first question of a thread; 0 outside of one."""
    kind: Literal["question", "sql"] = "question"
    preset: str
    question: str = ""
    status: RunStatus = "running"
    started: datetime
    seconds: float | None = None
    score: float | None = None
    sql: str = ""
    """The SQL behind the answer."""
    model: str = ""
    answer: dict[str, Any] | None = None
    """The finished `agent.runner.Answer` as JSON with at most 200 rows a result; for kind `sql`, the outcome."""
    short: str = ""
    """The first words of the answer, for a list of runs."""
    feedback: Verdict | None = None
    """The owner's latest verdict."""


class ThreadRecord(Record):
    thread_id: str
    owner: str
    rights: str = ""
    title: str
    """The first question, shortened."""
    preset: str
    turns: int = 0
    created: datetime
    updated: datetime


class FeedbackRecord(Record):
    feedback_id: str
    owner: str
    rights: str = ""
    run_id: str
    preset: str
    question: str
    sql: str
    """The confirmed SQL: the run's, or the user's correction."""
    verdict: Verdict
    comment: str = ""
    created: datetime


class TermRecord(Record):
    """What a word, or a table's rows, mean in a database, as somebody taught it."""

    term_id: str
    owner: str
    rights: str = ""
    preset: str
    kind: TermKind = "word"
    term: str
    means: str
    run_id: str = ""
    """The answer that it was learned from; empty where it was said."""
    created: datetime
    forgotten: datetime | None = None

    @property
    def said(self) -> Term:
        return Term(kind=self.kind, term=self.term, means=self.means)


class SourceRecord(Record):
    """A database that a client connected or uploaded."""

    source_id: str
    owner: str
    name: str
    kind: Literal["connected", "uploaded"]
    dialect: str
    location: str
    """Path or URL to open; holds credentials for a connected one, so it never leaves the server or a log."""
    created: datetime


class KeptParameter(Record):
    """A constant of a kept answer's SQL that may be set anew."""

    name: str
    value: str
    kind: Literal["text", "number"]


class FirstRows(Record):
    """What came of a statement, with its first rows."""

    status: Literal["success", "error", "timeout", "refused"]
    columns: list[str]
    rows: list[list[Any]]
    """At most 200; the cells are JSON values."""
    rows_returned: int
    truncated: bool
    error: str | None
    execution_time_ms: float


class KeptRows(FirstRows):
    """The first rows that a kept answer's statement returned, and when."""

    sql: str
    refreshed: datetime
    filtered: list[bool] = []
    """Of each filter of the board that has a value, whether the statement reads what it is about."""


class KeptRecord(Record):
    """An answer that its owner keeps: the question with its SQL, how it is shown, and its latest rows."""

    kept_id: str
    owner: str
    rights: str = ""
    title: str
    question: str
    preset: str
    sql: str
    dialect: str
    chart: dict[str, Any]
    """How the page shows it; empty: as a table."""
    parameters: list[KeptParameter]
    result: KeptRows | None = None
    created: datetime


class Tile(Record):
    """A kept answer or a text on a board; the order of a board's tiles is their arrangement."""

    kept_id: str = Field("", max_length=200)
    """Empty: a tile of text."""
    text: str = Field("", max_length=5_000)
    """Markdown, of a tile without an answer."""
    width: Whole = Field(2, ge=1, le=4)
    """In quarters of the board."""
    height: Whole = Field(0, ge=0, le=8)
    """In rows of the board; 0: as much as it takes."""

    @model_validator(mode="before")
    @classmethod
    def _as_before(cls, given: Any) -> Any:
        """Boards of before knew only tiles over the whole width."""
        if isinstance(given, dict) and "wide" in given:
            return {key: value for key, value in given.items() if key != "wide"} | (
                {"width": 4} if given["wide"] else {}
            )
        return given


class FilterColumn(Record):
    preset: str = Field(max_length=200)
    table: str = Field(max_length=500)
    column: str = Field(max_length=500)


class BoardFilter(Record):
    """What all answers of a board can be narrowed by at once."""

    label: str = Field(min_length=1, max_length=100)
    kind: Literal["date", "value", "number"]
    columns: list[FilterColumn] = Field(min_length=1, max_length=10)
    """Of each answer, the first that its statement reads is meant."""
    value: FilterValue = Field([], max_length=200)


class BoardRecord(Record):
    board_id: str
    owner: str
    title: str
    tiles: list[Tile]
    share: str | None = None
    """The secret part of the link by which other clients of this server may look at it; None: nobody may."""
    created: datetime
    updated: datetime
    filters: list[BoardFilter] = []


class Condition(Record):
    """When an alert is told. `above` looks at the column's largest value, `below` at its smallest, and both tell when
    it crosses; `changes` compares an answer of one row with what was told last; `new rows` with the rows seen last."""

    kind: Literal["above", "below", "changes", "new rows"]
    column: str = Field("", max_length=500)
    value: float = Field(0.0, allow_inf_nan=False)
    percent: bool = False
    """`value` is in percent of what was told last; for `changes`."""


class ScheduleRecord(Record):
    """When a kept answer or a board is sent, where to, and on which condition."""

    schedule_id: str
    owner: str
    title: str
    kept_id: str | None = None
    board_id: str | None = None
    """One of the two."""
    cron: str
    """Minute, hour, day of the month, month, day of the week."""
    zone: str
    """IANA name of the time zone that `cron` is read in."""
    channel: Literal["mail", "slack", "teams", "json"]
    recipients: list[str]
    """Addresses of mail; of a webhook its host, for display."""
    webhook: str = ""
    """Its sealed address."""
    table: bool = True
    picture: bool = False
    link: bool = True
    condition: Condition | None = None
    """None: it is sent every time."""
    quiet_hours: float = 0.0
    """After an alert was told, none is for so long."""
    paused: str = ""
    """Why nothing is sent; empty while it is."""
    person: dict[str, Any] | None = None
    """Groups and attributes of an owner who is no token, as last proved."""
    seen: datetime
    """When the owner last was here."""
    told: datetime | None = None
    """When an alert was last told."""
    next_run: datetime
    created: datetime


DeliveryState = Literal["due", "claimed", "sending", "sent", "skipped", "failed", "in doubt"]
"""`due` waits for a process; `claimed` is prepared by one, and is taken over where its lease ends; `sending` may have
left; `in doubt`: it may have arrived or not, and is sent again only by its owner."""


class DeliveryRecord(Record):
    delivery_id: str
    """Made of the schedule and the time, so each occurrence exists once."""
    schedule_id: str
    owner: str
    due: datetime
    by_hand: int = 0
    """1: its owner asked for it; it is sent whatever the condition."""
    state: DeliveryState = "due"
    attempt: int = 0
    next_try: datetime
    reason: str = ""
    """Why it was sent, skipped or failed; holds no row and no SQL."""
    ended: datetime | None = None


class StoredEvent(Record):
    """One event of a run as it was sent."""

    number: int
    """1 for the first; the SSE id."""
    data: str
    """The JSON object, one line."""
