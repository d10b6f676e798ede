"""The request and reply models of kept answers and boards.

In: records of the store. Out: JSON objects without owners.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agent.server.replies import Reply
from agent.statements.filtering import FilterKind
from agent.store.records import BoardFilter, BoardRecord, FilterValue, KeptParameter, KeptRows, Tile

Column = Annotated[int, Field(ge=-1, le=10_000)]
Words = Annotated[str, Field(max_length=200)]


class ChartIn(BaseModel):
    """How an answer is shown; columns are counted from 0, -1 stands for none."""

    kind: Literal["number", "trend", "bar", "column", "line", "area", "scatter", "heatmap", "histogram"]
    x: Column = -1
    y: Column = -1
    more: list[Column] = Field([], max_length=8)
    """Further measures beside `y`."""
    series: Column = -1
    order: Literal["given", "largest", "smallest", "name"] = "given"
    stack: Literal["grouped", "stacked", "share"] = "grouped"
    top: int | None = Field(None, ge=1, le=100)
    """So many categories, the largest."""
    title: Words = ""
    x_title: Words = ""
    y_title: Words = ""
    palette: Literal["distinct", "blue", "amber", "grey"] = "distinct"
    colours: dict[Words, Annotated[int, Field(ge=1, le=8)]] = Field({}, max_length=20)
    """The colour of a series by its name."""
    format: Literal["auto", "plain", "compact", "percent", "currency"] = "auto"
    currency: str = Field("EUR", pattern="^[A-Z]{3}$")
    decimals: int | None = Field(None, ge=0, le=6)
    zero: bool | None = None
    """Whether the axis begins at zero; None: as is usual for the kind."""


class KeepIn(BaseModel):
    run_id: str = Field(max_length=200)
    title: str | None = Field(None, max_length=200)
    """None: the question."""
    chart: ChartIn | None = None
    """None: as a table."""


class KeptChange(BaseModel):
    """What is None stays as it is."""

    title: str | None = Field(None, min_length=1, max_length=200)
    sql: str | None = Field(None, min_length=1, max_length=100_000)
    """Kept only where it runs."""
    chart: ChartIn | None = None
    as_table: bool = False
    """Show it as a table again."""


class RefreshIn(BaseModel):
    values: list[str] | None = Field(None, max_length=20)
    """A value for each parameter, in their order; None: as they are."""
    filters: list[FilterValue] | None = Field(None, max_length=12)
    """On a board: a value for each of its filters, in their order; None: as its owner left them."""


class KeptReply(Reply):
    """A kept answer with the rows that it returned last."""

    kept_id: str
    title: str
    question: str
    preset: str
    sql: str
    dialect: str
    chart: dict[str, Any]
    """As `ChartIn`; empty: a table."""
    parameters: list[KeptParameter]
    result: KeptRows | None
    """None: it has not been run since it was kept."""
    created: datetime


class BoardIn(BaseModel):
    title: str = Field(min_length=1, max_length=200)
    thread_id: str | None = Field(None, max_length=200)
    """A conversation of yours, whose results are kept and pinned."""


class BoardChange(BaseModel):
    """What is None stays as it is."""

    title: str | None = Field(None, min_length=1, max_length=200)
    tiles: list[Tile] | None = Field(None, max_length=100)
    """All tiles in their order."""
    filters: list[BoardFilter] | None = Field(None, max_length=12)
    """All filters in their order."""


class BoardSummary(Reply):
    board_id: str
    title: str
    tiles: list[Tile]
    shared: bool
    updated: datetime

    @classmethod
    def of(cls, record: BoardRecord) -> BoardSummary:
        return super().of(record.model_copy(update={"shared": record.share is not None}))


class BoardReply(Reply):
    """A board with its answers, in the order of the tiles that hold one."""

    board_id: str
    title: str
    tiles: list[Tile]
    answers: list[KeptReply]
    filters: list[BoardFilter | None]
    """Null in place of one whose columns the reader may not see."""
    share: str | None
    """The secret part of its link; null: it is not shared, or the reader is not its owner."""
    updated: datetime
    mine: bool
    """False where it was reached by a link."""


class FilterColumnReply(Reply):
    """A column that answers of a board can be narrowed by."""

    preset: str
    table: str
    column: str
    kind: FilterKind
    answers: int
    """How many of them."""


class ShareReply(Reply):
    share: str
    """The secret part of the link: `/s/{share}` is the page, `GET /shared/{share}` the board."""
