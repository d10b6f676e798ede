"""Enforces what a model at an endpoint may see of the data: everything, only shapes, or only the schema.

In: a model and its requests. Out: the same model wrapped in `PrivateModel`, which passes on only what the mode allows.
`full`: everything. `masked`: names, types, comments, counts and the kinds of values, but no row value, no stored value
and no engine message that could quote one. `schema`: only names and types. The offline engine sends nothing over the
network, so it sees everything.

Each request is rebuilt from an allow-list of harmless fields (`_PASSED_ON`). A field that is added later is therefore
withheld until it is put on the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, TypeVar

from agent.knowledge.schema_context import schema_context
from agent.models.protocol import (
    Capabilities,
    Judgement,
    JudgeRequest,
    Model,
    ModelReplyError,
    PlanReply,
    PlanRequest,
    Review,
    ReviewRequest,
    SqlReply,
    SqlRequest,
    Stepping,
    StepReply,
    StepRequest,
    Summary,
    Verifying,
)
from agent.state import EvalReport, QueryResult, Turn
from eval.language.lexicon import word_set
from eval.schema import Schema

Privacy = Literal["full", "masked", "schema"]

HIDDEN = "…"
NOT_JUDGED = "Not judged: the model may not see results."

_WORD = re.compile(r"\w+")
_TEXT_LITERAL = re.compile(r"'(?:[^'\\]|''|\\.)*'|\"(?:[^\"\\]|\"\"|\\.)*\"", re.DOTALL)
_NUMBER_LITERAL = re.compile(r"(?<![\w.])\d[\d.]*(?!\w)")
_IN_QUOTES = re.compile(r"“[^”]*”")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?\Z")
_GAPS = re.compile(rf"{HIDDEN}(?:[\s\W]*{HIDDEN})+")
_UNPRINTABLE = re.compile(r"[^\w\x20-\x7e\n…]")


class SchemaText(str):
    """A text about a database, written for one privacy mode. Concatenating it gives a plain `str`, which a private
    model does not pass on."""

    __slots__ = ("privacy",)
    privacy: Privacy

    def __new__(cls, text: str, privacy: Privacy) -> SchemaText:
        made = super().__new__(cls, text)
        made.privacy = privacy
        return made


def private(model: Model, privacy: Privacy) -> Model:
    """The model, wrapped for this mode if needed."""
    if not model.capabilities.remote or privacy == "full" or isinstance(model, PrivateModel):
        return model
    return PrivateModel(model, privacy)


def privacy_of(model: Model) -> Privacy:
    """The privacy mode of this model."""
    return model.privacy if isinstance(model, PrivateModel) else "full"


_PASSED_ON: dict[type, frozenset[str]] = {
    PlanRequest: word_set("question dialect evidence write_sql may_ask translate"),
    SqlRequest: word_set(
        "question task dialect evidence failed_sql feedback attempt variant glossary short periods exchange"
    ),
    StepRequest: word_set("question task dialect allowed steps left evidence glossary"),
    ReviewRequest: word_set("question task dialect sql columns rows_returned doubts round"),
    JudgeRequest: word_set("question task sql columns rows_returned dialect"),
}
"""The allow-list: the fields that a request passes on as they are. `failed_sql` is the model's own text. Others were
written for the mode: `feedback` by `retry_handler`, `exchange` by `agent.candidates.cascade`, `glossary` by
`agent.knowledge.memory`, `steps` by `agent.knowledge.model_view`, `doubts` by `agent.nodes.opinions`.
Examples hold values, so none is sent."""
_Request = TypeVar("_Request", PlanRequest, SqlRequest, StepRequest, ReviewRequest, JudgeRequest)


class PrivateModel:
    """A model that sees only shapes (`masked`) or only the schema (`schema`), and so tells no answer."""

    def __init__(self, model: Model, privacy: Literal["masked", "schema"]) -> None:
        self.name = model.name
        self.capabilities: Capabilities = replace(model.capabilities, exact_summaries=True)
        self.privacy: Privacy = privacy
        self._model = model

    async def plan(self, request: PlanRequest) -> PlanReply:
        clarified = request.clarified
        if clarified is not None:  # the options may be stored values; the reply is the user's own text
            clarified = clarified.model_copy(update={"asked": clarified.asked.model_copy(update={"options": []})})
        history = tuple(visible_turn(turn, request.schema, self.privacy) for turn in request.history)
        return await self._model.plan(self._rebuilt(request, history=history, clarified=clarified))

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        known = words_known(request.schema, request.question, request.evidence)
        previous = (shape_of(one, known) for one in request.previous) if self.privacy == "masked" else ()
        return await self._model.write_sql(self._rebuilt(request, previous=tuple(previous)))

    async def next_step(self, request: StepRequest) -> StepReply:
        if not isinstance(self._model, Stepping):
            raise ModelReplyError("This model does not work in steps.")
        return await self._model.next_step(self._rebuilt(request))

    async def review(self, request: ReviewRequest) -> Review:
        if self.privacy == "schema" or not isinstance(self._model, Verifying):
            raise ModelReplyError("This model does not look at results, or may not.")
        return await self._model.review(self._rebuilt(request, preview=_kinds_shown(request)))

    async def judge(self, request: JudgeRequest) -> Judgement:
        if self.privacy == "schema":
            return Judgement(0.5, NOT_JUDGED)
        return await self._model.judge(self._rebuilt(request, preview=_kinds_shown(request)))

    async def summarize(self, *_: object) -> Summary:
        raise ModelReplyError("This model may not see rows, so rules tell the answer.")

    async def close(self) -> None:
        await self._model.close()

    def _rebuilt(self, request: _Request, **shown: Any) -> _Request:
        """The request with the fields of the allow-list as they are, the structure as this mode shows it, and `shown`
        for other fields."""
        fields = {name: getattr(request, name) for name in _PASSED_ON[type(request)]} | shown
        if not isinstance(request, JudgeRequest):
            schema, text = visible_schema(request.schema, self.privacy), request.schema_context
            written_for_mode = isinstance(text, SchemaText) and text.privacy == self.privacy
            fields |= {"schema": schema, "schema_context": text if written_for_mode else _context(schema)}
        return type(request)(**fields)


def _kinds_shown(request: ReviewRequest | JudgeRequest) -> tuple[tuple[object, ...], ...]:
    return tuple(map(tuple, kinds(request.columns, request.preview)))


# --- the schema ---


@lru_cache(maxsize=64)
def visible_schema(schema: Schema, privacy: Privacy) -> Schema:
    """The schema without values: those that a type lists (`ENUM('a', 'b')`), defaults, and for `schema` counts and
    comments too."""
    bare = privacy == "schema"
    tables = tuple(
        replace(
            table,
            columns=tuple(
                replace(
                    column,
                    type=_TEXT_LITERAL.sub(HIDDEN, column.type),
                    default=None,
                    comment=None if bare else column.comment,
                )
                for column in table.columns
            ),
            row_count=None if bare else table.row_count,
            comment=None if bare else table.comment,
        )
        for table in schema.tables
    )
    return Schema(schema.dialect, tables)


_context = lru_cache(maxsize=64)(schema_context)


# --- results ---


def kinds(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """One row that describes all rows: the kind of values in each column, in words. None if there are no rows."""
    if not rows:
        return []
    shapes = []
    for place in range(len(columns)):
        names = sorted({_kind(row[place]) for row in rows if place < len(row)})
        shapes.append(f"({' or '.join(names)}, hidden)")
    return [list(shapes)]


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "whole number"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "date" if _DATE.match(value) else "text"
    return "list or object"


def shape_of(result: QueryResult, known: frozenset[str]) -> QueryResult:
    """An earlier step's result without its values."""
    return QueryResult(
        task_id=result.task_id,
        attempt=result.attempt,
        sql=result.sql,
        data=kinds(result.columns, result.data),
        columns=result.columns,
        rows_returned=result.rows_returned,
        truncated=result.truncated,
        status=result.status,
        error=_error(result, known),
    )


def for_feedback(result: QueryResult, privacy: Privacy, schema: Schema | None, question: str) -> QueryResult:
    """A failed attempt, reduced to what the feedback for the next attempt may mention."""
    if privacy == "full":
        return result
    known = words_known(schema, question)
    hide_shape = privacy == "schema"
    return result.model_copy(
        update={
            "data": [],
            "rows_returned": max(1, result.rows_returned) if hide_shape else result.rows_returned,
            "error": _error(result, known),
            "eval_report": _report(result, known, hide_shape=hide_shape) if result.eval_report else None,
        }
    )


def _report(result: QueryResult, known: frozenset[str], *, hide_shape: bool) -> EvalReport:
    """The report without evidence that comes from stored values; for `schema`, without evidence that comes from rows.
    Since a text does not show its origin, `schema` drops all evidence."""
    report = result.eval_report
    assert report is not None
    own = known | _words(result.sql)
    evidence = [
        one.model_copy(update={"text": _IN_QUOTES.sub(lambda quoted: _only(quoted.group(), own), one.text)})
        for one in report.analysis.evidence
        if not hide_shape and not one.name.startswith("value_stored")
    ]
    shown = {name: v for name, v in report.dimensions.items() if not hide_shape or name == "safety"}
    ran = result.status == "success"
    return report.model_copy(
        update={
            "analysis": report.analysis.model_copy(update={"evidence": evidence}),
            "dimensions": shown,
            "vetoes": [] if hide_shape and ran else [scrubbed(veto, own) for veto in report.vetoes],
        }
    )


def _error(result: QueryResult, known: frozenset[str]) -> str | None:
    """The engine's message. Where there is no SQL, the message is about the model's own reply."""
    if result.error is None or not result.sql:
        return result.error
    return scrubbed(result.error, known | _words(result.sql))


# --- text ---


def scrubbed(message: str, known: frozenset[str]) -> str:
    """An engine message with every word hidden that is neither typical of such messages nor `known` (the words of the
    statement, the schema and the question, ignoring case). Words not known to be harmless are hidden."""
    allowed = _engine_words()

    def kept(match: re.Match[str]) -> str:
        word = match.group().casefold()
        return match.group() if word in allowed or word in known else HIDDEN

    return _GAPS.sub(HIDDEN, _UNPRINTABLE.sub("", _WORD.sub(kept, message)))


def visible_turn(turn: Turn, schema: Schema, privacy: Privacy) -> Turn:
    """An earlier turn of a conversation: the user's own words, the query without constants that the user did not
    write, and the shape of what it returned (for `schema`, not even that)."""
    if privacy == "full":
        return turn
    masked = privacy == "masked"
    known = words_known(schema, turn.asked)
    return Turn(
        number=turn.number,
        asked=turn.asked,
        question=turn.asked,
        sql=_TEXT_LITERAL.sub(lambda match: _only(match.group(), known), turn.sql),
        columns=turn.columns if masked else [],
        rows=kinds(turn.columns, turn.rows) if masked else [],
    )


def _only(quoted: str, known: frozenset[str]) -> str:
    """A quoted text if all its words are known, else the quotes around a gap."""
    return quoted if _words(quoted) <= known else f"{quoted[0]}{HIDDEN}{quoted[-1]}"


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def without_constants(sql: str) -> str:
    """SQL, or a fragment of it, with its string and number literals hidden."""
    return _NUMBER_LITERAL.sub(HIDDEN, _TEXT_LITERAL.sub(HIDDEN, sql))


def words_known(schema: Schema | None, *texts: str) -> frozenset[str]:
    """The words of the schema and of texts that the model has written or may see."""
    of_schema = _schema_words(schema) if schema is not None else frozenset()
    return of_schema.union(*map(_words, texts))


@lru_cache(maxsize=64)
def _schema_words(schema: Schema) -> frozenset[str]:
    names = {name for table in schema.tables for name in (table.name, table.namespace or "")}
    columns = {column for table in schema.tables for column in table.columns}
    names |= {text for c in columns for text in (c.name, _TEXT_LITERAL.sub("", c.type))}
    return frozenset().union(*map(_words, names))


@cache
def _engine_words() -> frozenset[str]:
    return _words(resources.files("agent.knowledge").joinpath("engine_words.txt").read_text(encoding="utf-8"))
