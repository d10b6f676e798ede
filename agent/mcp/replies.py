"""What the tools return: typed, so that their JSON Schemas are known to a client beforehand. Rows are JSON values."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class DatabaseInfo(BaseModel):
    id: str = Field(description="What the other tools take as `database`.")
    name: str
    description: str
    dialect: str
    default: bool = Field(description="Used where no database is named.")
    examples: list[str] = Field(default_factory=list, description="Questions to try.")


class Databases(BaseModel):
    databases: list[DatabaseInfo]


class ColumnInfo(BaseModel):
    name: str
    type: str
    nullable: bool
    primary_key: bool
    foreign_key: str | None = Field(None, description="`table.column` that it refers to.")
    comment: str | None = None


class TableInfo(BaseModel):
    name: str
    kind: str = Field(description="`table` or `view`.")
    rows: int | None = Field(None, description="Rows, where they are known.")
    comment: str | None = None
    columns: list[ColumnInfo] = Field(default_factory=list)


class SchemaInfo(BaseModel):
    database: str
    dialect: str
    tables: list[TableInfo]
    further_tables: list[str] = Field(default_factory=list, description="Of a large schema; name one to see it.")


class Rows(BaseModel):
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list, description="The first rows.")
    rows_returned: int = Field(0, description="Rows that the query returned.")
    truncated: bool = Field(False, description="There are more rows than are shown here.")
    hidden: str | None = Field(None, description="Why there are no rows here, though there are some.")


class SqlAnswer(Rows):
    status: str = Field("success", description="Always `success`: a statement that fails is an error of the tool.")
    sql: str = Field("", description="The statement as it was sent.")
    execution_time_ms: float = 0.0


class Answered(Rows):
    status: str = Field(description="`success`, `doubtful`, `abstained`, `error` or `waiting` (see `clarification`).")
    answer: str = Field("", description="In words, Markdown.")
    sql: str = Field("", description="The query behind the answer.")
    score: float | None = Field(None, description="0 to 1, from the checks of the query and its result.")
    confidence: float | None = Field(None, description="0 to 1: how likely the rows are right.")
    verdict: str = Field("", description="How sure the answer is, in one line.")
    doubts: list[str] = Field(default_factory=list)
    reading: list[str] = Field(default_factory=list, description="What the query says, clause by clause.")
    left_out: list[str] = Field(default_factory=list, description="Rows that do not enter the answer, counted.")
    clarification: str | None = Field(None, description="Asked back; answer by another `ask` with the same thread.")
    options: list[str] = Field(default_factory=list, description="Answers to choose from.")
    database: str
    run_id: str
    thread: str | None = Field(None, description="Pass it on to ask a follow-up question.")
