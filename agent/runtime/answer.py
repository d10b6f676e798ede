"""`Answer`: the result of a question, as every interface returns it. All of it is valid JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, computed_field

from agent.runtime.attempts import verdict
from agent.runtime.form import asked_form
from agent.state import Clarification, LeftOut, QueryPlan, QueryResult, ReadingPart
from eval.language.words import singular_words


class Tokens(BaseModel, frozen=True):
    input: int = 0
    output: int = 0
    cached: int = 0
    calls: int = 0
    cost_usd: float | None = None
    """None: unknown, because no price is configured."""


class Answer(BaseModel, frozen=True):
    """The result of a question. The first fields are those of the contract; all of it is valid JSON."""

    question: str
    status: Literal["success", "doubtful", "abstained", "error", "waiting"]
    """`doubtful`: there are rows, but the score is below the threshold or the interpretation is unsure. Of SQL that is
    not executed, only the interpretation counts. `waiting`: a `clarification` is open, and the next text in the
    conversation answers it."""
    sql: str = ""
    """The SQL behind the answer; of the last task when there are several."""
    columns: list[str] = Field(default_factory=list)
    units: list[str] = Field(default_factory=list)
    """What the values of each column are counted in, as the semantic model or the file says; empty where no column has
    one."""
    rows: list[list[Any]] = Field(default_factory=list)
    truncated: bool = False
    score: float = 0.0
    dimensions: dict[str, float] = Field(default_factory=dict)
    answer: str = ""
    abstained: bool = False
    attempts: list[QueryResult] = Field(default_factory=list)
    plan: QueryPlan | None = None
    seconds: float = 0.0
    tokens: Tokens = Tokens()
    model: str = ""
    reason: str = ""
    """Why there is no answer, or how the SQL was arrived at."""
    database: str = ""
    dialect: str = ""
    executed: bool = True
    """False where SQL is written and checked only: in a dry run, and for a dialect without an engine."""
    confidence: float | None = None
    """0..1: how likely the rows are right. The offline engine's own calibrated figure where it answered, else the
    score's estimate from the evidence; None if there is no estimate."""
    relevance: float = 0.0
    doubts: list[str] = Field(default_factory=list)
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    error_kind: str | None = None
    """As in an `error` event, when status is `error`."""
    reading: list[ReadingPart] = Field(default_factory=list)
    """What the query says, clause by clause, in plain words."""
    left_out: list[LeftOut] = Field(default_factory=list)
    """Rows that do not enter the answer, counted."""
    read_as: str = ""
    """The standalone form of a question that refers to earlier turns; else empty."""
    clarification: Clarification | None = None
    """The open clarification, when status is `waiting`."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> str:
        """How sure the answer is, in the line that every interface shows."""
        return verdict(self.status, self.confidence, self.doubts, executed=self.executed)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def view(self) -> str:
        """How the question wants to see the rows: `table`, `chart` or a kind of chart (`pie`), `file`; else empty."""
        own = {word for column in self.columns for word in singular_words(column)}
        asked = asked_form(self.read_as or self.question, own.__contains__)
        return asked.kind or asked.form or ""
