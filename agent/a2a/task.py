"""The wire formats of an evaluator's task and of its answer, and the parsing of a task.

In: a JSON object, or the parts of a message. Out: a `SqlTask` with its structure and dialect; or a `TaskUnusable`,
whose message says what to send. This module runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel, Field

from agent.runner import MAX_QUESTION
from agent.sources.structure import read_structure
from agent.state import HISTORY_TURNS, Turn
from eval.engines import dialect_named, listed
from eval.errors import InputError
from eval.schema import Dialect, Schema

MAX_ID = 200
"""Characters of a task's id that are echoed."""
MAX_PARTS = 64
_SCHEMAS = ("schema", "schema_info")
"""The fields that may hold the structure, the first one first."""
WHAT_TO_SEND = (
    'Send a task as JSON, in a data part or in a text part: {"question": "How many customers are there?", "schema": '
    '{"tables": [{"name": "customers", "columns": [{"name": "id", "type": "INTEGER"}]}]}, "dialect": "sqlite"}.'
)


class TaskRequest(BaseModel, extra="allow"):
    """A question about a database whose structure comes with it."""

    question: str = Field(description=f"In plain words; at most {MAX_QUESTION:,} characters are read.", pattern=r"\S")
    structure: Any = Field(
        None,
        alias="schema",
        description="`tables` as a list or by name, each with `columns` ({name, type, nullable, primary_key, "
        "foreign_key, default}, or only names); or CREATE TABLE statements in a text.",
    )
    dialect: Any = Field(None, description=f"{listed()}.")
    task_id: Any = Field(None, description="Echoed in the answer.")
    evidence: Any = Field(None, description="A text that helps to read the question.")


class TaskAnswer(BaseModel, frozen=True):
    """SQL with how it was arrived at; or no SQL, and why. On the wire, what is None is left out."""

    sql: str
    reasoning: str | None = None
    error: str | None = None
    read_as: str | None = Field(None, description="A follow-up, as the complete question that was answered.")
    task_id: str | None = None

    def wire(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class TaskUnusable(InputError):
    """No task can be made of what was sent; the message says what to send."""

    def __init__(self, message: str, task_id: str | None = None) -> None:
        super().__init__(message)
        self.task_id = task_id

    @property
    def answer(self) -> TaskAnswer:
        return TaskAnswer(sql="", error=str(self), task_id=self.task_id)


class InputMissing(TaskUnusable):
    """What was sent is not a whole task yet: there is no schema, or no JSON that can be read."""


class QuestionMissing(InputMissing):
    """There is nothing to answer: the request itself is wrong, whatever else it holds."""


@dataclass(frozen=True, slots=True)
class SqlTask:
    """A task as the agent works on it."""

    question: str
    schema: Schema
    task_id: str | None = None
    evidence: str = ""
    history: tuple[Turn, ...] = ()
    """The earlier questions of its context, oldest first."""

    @property
    def dialect(self) -> Dialect:
        return self.schema.dialect


def read_task(given: Any, default_dialect: str = "sqlite") -> SqlTask:
    """The task in a JSON object. Raises TaskUnusable, QuestionMissing among them."""
    if not isinstance(given, Mapping):
        raise QuestionMissing(f"A task is a JSON object. {WHAT_TO_SEND}")
    task_id = given.get("task_id")
    if isinstance(task_id, float) and task_id.is_integer():  # as numbers come out of a protobuf value
        task_id = int(task_id)
    named = None if task_id is None else str(task_id)[:MAX_ID]
    question = given.get("question")
    if not isinstance(question, str) or not question.strip():
        raise QuestionMissing(f"The task has no question. {WHAT_TO_SEND}", named)
    structure = next((given[key] for key in _SCHEMAS if given.get(key)), None)
    if structure is None:
        raise InputMissing(f"The task has no schema, and no other database is asked here. {WHAT_TO_SEND}", named)
    try:
        told = [place.get("dialect") for place in (given, structure) if isinstance(place, Mapping)]
        dialect = next((one[:100] for one in told if isinstance(one, str) and one.strip()), default_dialect)
        schema = read_structure(structure, dialect_named(dialect))
    except ValueError as error:
        text = str(error)
        raise TaskUnusable(f"{text[:1].upper()}{text[1:]}.", named) from None
    evidence = given.get("evidence")
    return SqlTask(question.strip(), schema, named, evidence.strip() if isinstance(evidence, str) else "")


@dataclass(slots=True)
class TaskContext:
    """What the earlier tasks of a context leave for the next one: their structure, and the conversation about it."""

    structure: dict[str, Any] = field(default_factory=dict)
    history: list[Turn] = field(default_factory=list)

    def heard(self, parts: Iterable[Any], answer: Mapping[str, Any]) -> None:
        """Take up an earlier task, oldest first. One that brings a schema begins a new conversation."""
        try:
            fields = _merged(parts)
        except TaskUnusable:
            return
        if _has_structure(fields):
            self.structure = {key: fields[key] for key in (*_SCHEMAS, "dialect") if fields.get(key)}
            self.history.clear()
        asked = str(fields.get("question") or "")
        if asked and answer:
            read_as, sql = str(answer.get("read_as") or asked), str(answer.get("sql") or "")
            self.history.append(Turn(number=len(self.history) + 1, asked=asked, question=read_as, sql=sql))


def read_parts(parts: Iterable[Any], default_dialect: str = "sqlite", context: TaskContext | None = None) -> SqlTask:
    """The task in the parts of one or more messages, each a data value or a text. `context`: what counts where the
    parts have no schema. Raises TaskUnusable."""
    task = _merged(parts)
    if context is None or _has_structure(task):
        return read_task(task, default_dialect)
    read = read_task({**context.structure, **task}, default_dialect)
    return replace(read, history=tuple(context.history[-HISTORY_TURNS:]))


def _has_structure(fields: Mapping[str, Any]) -> bool:
    return any(fields.get(key) for key in _SCHEMAS)


def _merged(parts: Iterable[Any]) -> dict[str, Any]:
    """The fields of all objects in the parts, later ones over earlier ones, so a schema may follow its question. A text
    without JSON is the question if no object has one. Raises TaskUnusable."""
    task: dict[str, Any] = {}
    question: str | None = None
    for number, part in enumerate(parts):
        if number >= MAX_PARTS:
            raise TaskUnusable(f"The message has more than {MAX_PARTS} parts.")
        content = _object_in(part) if isinstance(part, str) else part
        if isinstance(content, Mapping):
            task.update({key: value for key, value in content.items() if value is not None})
        elif isinstance(part, str) and part.lstrip().startswith(("{", "[", "```")):
            raise InputMissing(f"A text begins like JSON and cannot be read as JSON. {WHAT_TO_SEND}")
        elif isinstance(part, str) and part.strip():
            question = part.strip()
    if question is not None and "question" not in task:
        task["question"] = question
    return task


def _object_in(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a text is or holds (fenced, with words around it, or with small faults), if it does."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, str):
        return _object_in(value) if len(value) < len(text) else None
    if isinstance(value, dict):
        return value
    if "{" not in text:
        return None
    from agent.models.replies import UnusableReply, extract_json

    try:
        return extract_json(text, keys=("question",))
    except UnusableReply:
        return None
