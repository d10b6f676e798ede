"""Builds messages from the templates in `prompts/*.txt`.

In: a template's name and its values. Out: the system and user texts. A value is inserted unchanged and never scanned
for placeholders, so braces and dollar signs in data have no effect. A value cannot close the tag that encloses it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from agent.knowledge.preview import history_text, result_preview
from agent.knowledge.schema_context import BREAK, one_line
from agent.models.protocol import (
    JudgeRequest,
    PlanRequest,
    ReviewRequest,
    SqlRequest,
    StepRequest,
    SummaryRequest,
    TaskContext,
    WritingContext,
)
from agent.state import QueryResult, headers, with_evidence
from eval.engines import ENGINES
from eval.schema import Dialect

_PLACEHOLDER = re.compile(r"\$([a-z_]+)")
_SECTION = re.compile(r"^=== (system|user)\n", re.MULTILINE)
_VERSION = re.compile(r"# version: (\d+)\n")
DATA_TAGS = "schema|notes|question|task|previous|failed_sql|feedback|sql|result|results|doubts|conversation|clarification|steps|allowed|glossary|examples|reading|candidate|analysis"  # noqa: E501
_TAGS = re.compile(rf"<(?=/?(?:{DATA_TAGS})\b)", re.I)
_WRITE_STEP = "Write the query for this step of the answer only:"
_FOR_STEP = "The query is for this step of the answer only:"
_ANSWERS_STEP = "The query answers this step of the question:"


@dataclass(frozen=True, slots=True)
class Template:
    version: int
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text of one call. What calls share comes first, so that a server's prompt cache serves them: one system text,
    then the schema, which all steps of all questions have, then the step's rules, which the same step of the next
    question has, and what belongs to the question last."""

    system: str
    user: str
    unstructured: str = ""
    """The user text for a server that knows no structured replies, where it differs."""
    exchange: tuple[tuple[str, str], ...] = ()
    """(role, text) of what was said after it."""


@cache
def template(name: str) -> Template:
    """The template `prompts/{name}.txt`. Raises ValueError when it has no version line."""
    text = resources.files("prompts").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    if version is None:
        raise ValueError(f"prompts/{name}.txt does not begin with a version line")
    parts = _SECTION.split(text[version.end() :])
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return Template(int(version.group(1)), sections.get("system", "").strip(), sections.get("user", "").strip())


def fill(text: str, values: dict[str, str]) -> str:
    """Replace the placeholders `$name` in `text` by `values`, in one pass. Raises KeyError for a placeholder without a
    value."""
    return _PLACEHOLDER.sub(lambda place: values[place.group(1)], text)


def as_data(text: str) -> str:
    """`text` unchanged, unless it holds one of the tags that fence data in: their `<` becomes `‹`."""
    return _TAGS.sub("‹", text)


def in_conversation(request: PlanRequest) -> bool:
    """Whether the reply has to give the standalone question and may ask for clarification."""
    return bool(request.history or request.may_ask or request.clarified)


def plan_prompt(request: PlanRequest) -> Prompt:
    """Question and schema; in a conversation also its earlier turns and the clarification."""
    names = ("conversation", "history", "clarified", "write", "sql_field", "english", "fields")
    raw = dict.fromkeys(names, "")
    if request.translate:
        raw["english"] = "\n" + template("in_english").system + "\n"
        raw["fields"] = '"in_english": the question in English\n'
    if request.write_sql:
        notes = template(f"dialect_{request.dialect}").system
        rules = {"sql_rules": template("sql_rules").system, "dialect_notes": notes}
        raw["write"] = "\n" + fill(template("planner_sql").system, rules) + "\n"
        raw["sql_field"] = ", sql"
    if in_conversation(request):
        raw["fields"] = (
            '"standalone_question": the question as it stands alone\n'
            '"clarification": an object with question and options\n' + raw["fields"]
        )
        asking = template("clarification" if request.may_ask else "no_clarification").system
        raw["conversation"] = "\n" + fill(template("conversation").system, {"asking": asking}) + "\n"
    if request.history:
        raw["history"] = f"{_block('conversation', history_text(request.history))}\n\n"
    if request.clarified:
        asked = request.clarified.asked
        clarification = {"asked": asked.question, "options": "; ".join(asked.options), "reply": request.clarified.reply}
        shown = {name: as_data(one_line(text, 2_000)) for name, text in clarification.items()}
        raw["clarified"] = "\n\n" + fill(template("clarification").user, shown)
    raw |= _shown(request)
    return _prompt("planner", request.dialect, question=_question(request), raw=raw)


def sql_prompt(request: SqlRequest) -> Prompt:
    """Question, schema, the task if it differs from the question, and earlier results. On a retry also the failed SQL
    and the feedback, verbatim. For one of several candidates, the approach that it is to try."""
    retry = ""
    if request.failed_sql or request.feedback:
        retry = (
            f"\nYour last query was not accepted:\n{_block('failed_sql', request.failed_sql)}\n\n"
            f"What was wrong with it:\n{_block('feedback', request.feedback)}\n\nWrite a corrected query."
        )
    if request.variant:
        ways = template("candidate_hints").system.splitlines()
        retry += f'\n<candidate number="{request.variant}" />\n{ways[(request.variant - 1) % len(ways)]}'
    raw = {
        "sql_rules": template("sql_rules").system,
        "task": _task(request, _WRITE_STEP),
        "instructions": _instructions(request),
        "previous": known(request) + _previous(request),
        "retry": retry,
    }
    as_json, as_text = (
        _prompt(
            "query_generator",
            request.dialect,
            question=_question(request),
            raw=raw | _shown(request) | {"form": template(form).system},
        )
        for form in ("sql_as_json", "sql_as_text")
    )
    return replace(as_json, unstructured=as_text.user)


def short_prompt(request: SqlRequest) -> Prompt:
    """The database in the system text, which all its questions share to the letter; the question with what was found
    for it alone behind that; then each query that was not right yet, with what is wrong with it."""
    system, user = template("short").system, template("short").user
    shown = _shown(request)
    values = {
        "dialect_name": ENGINES[request.dialect].title,
        "instructions": _instructions(request),
        "schema": shown["schema"],
        "notes": known(request) + shown["notes"] + "".join(f"{one}\n" for one in request.periods),
        "previous": _previous(request),
        "question": as_data(_question(request)),
        "task": _task(request, _WRITE_STEP),
    }
    again = template("short_repair").user
    exchange: list[tuple[str, str]] = []
    last = [(request.failed_sql, request.feedback)] if request.feedback else []
    for sql, wrong in (*last, *request.exchange):
        exchange.append(("assistant", f"```sql\n{sql}\n```"))
        exchange.append(("user", fill(again, {"feedback": as_data(wrong), "question": as_data(request.question)})))
    return Prompt(fill(system, values), fill(user, values).rstrip(), exchange=tuple(exchange))


def _previous(request: SqlRequest) -> str:
    """The results of the steps that this one depends on."""
    return "".join(
        f"Rows that the earlier step {as_data(one.task_id)} returned:\n{_result(one)}\n\n" for one in request.previous
    )


def _shown(request: PlanRequest | TaskContext) -> dict[str, str]:
    """The schema, and apart from it the notes that depend on the question."""
    schema, _, notes = request.schema_context.partition(BREAK)
    return {"schema": as_data(schema), "notes": f"{_block('notes', notes)}\n\n" if notes else ""}


def _question(request: PlanRequest | WritingContext) -> str:
    return with_evidence(request.question, request.evidence)


def _instructions(request: TaskContext) -> str:
    """A kit's instructions, behind the rules; empty if there are none."""
    return f"\n\nFor this database in particular\n{as_data(request.instructions)}" if request.instructions else ""


def known(request: WritingContext) -> str:
    """The team's knowledge that is relevant to the question; empty if there is none."""
    verified = "Verified queries for other questions to this database; keep to their conventions where they fit:"
    told = (
        ("What an analysis of this database found:", "analysis", request.analysis),
        ("What words of the question mean here:", "glossary", request.glossary),
        (verified, "examples", request.examples),
    )
    return "".join(f"{lead}\n{_block(tag, text)}\n\n" for lead, tag, text in told if text)


def step_prompt(request: StepRequest) -> Prompt:
    """Schema and question, the steps so far, and the tools allowed next."""
    steps = "\n\n".join(f"{number}. {as_data(step)}" for number, step in enumerate(request.steps, 1)) or "(none)"
    return _prompt(
        "react",
        request.dialect,
        question=_question(request),
        raw=_shown(request)
        | {
            "task": _task(request, _FOR_STEP),
            "instructions": _instructions(request),
            "known": known(request),
            "steps": steps,
            "allowed": ", ".join(request.allowed),
            "left": str(request.left),
        },
    )


def review_prompt(request: ReviewRequest) -> Prompt:
    doubts = "\n".join(f"- {one_line(doubt, 500)}" for doubt in request.doubts)
    return _prompt(
        "review",
        request.dialect,
        **_with_rows(request),
        raw=_shown(request)
        | {
            "instructions": _instructions(request),
            "task": _task(request, _FOR_STEP),
            "doubts": f"\nEvidence against it:\n{_block('doubts', doubts)}" if doubts else "",
        },
    )


def judge_prompt(request: JudgeRequest) -> Prompt:
    return _prompt("relevance", request.dialect, **_with_rows(request), raw={"task": _task(request, _ANSWERS_STEP)})


def _with_rows(request: ReviewRequest | JudgeRequest) -> dict[str, str]:
    """The question, and the query with the rows that it returned."""
    return {
        "question": request.question,
        "sql": request.sql,
        "rows_returned": str(request.rows_returned),
        "preview": result_preview(request.columns, request.preview),
    }


def _task(request: TaskContext | JudgeRequest, lead: str) -> str:
    """The task, behind a sentence that says what it is; empty where it is the whole question."""
    if request.task.description.strip() == request.question.strip():
        return ""
    return f"\n{lead}\n{_block('task', request.task.description)}\n"


def summary_prompt(request: SummaryRequest) -> Prompt:
    described = {task.id: task.description for task in request.plan.tasks}
    results = "\n".join(
        f"{as_data(described.get(one.task_id, one.task_id))}\n{_result(one)}\n" for one in request.results
    )
    doubts = "\n".join(f"- {as_data(doubt)}" for doubt in request.doubts) or "(none)"
    return _prompt("summarizer", None, question=request.question, raw={"results": results, "doubts": doubts})


def _prompt(name: str, dialect: Dialect | None, *, raw: dict[str, str] | None = None, **data: str) -> Prompt:
    """`data` is neutralised; `raw` was composed in this module."""
    values = {key: as_data(text) for key, text in data.items()} | (raw or {})
    prompt = template(name)
    if dialect is not None:
        values["dialect_name"] = ENGINES[dialect].title
        values["dialect_notes"] = template(f"dialect_{dialect}").system
    return Prompt(template("shared").system, fill(prompt.user, values).rstrip())


def _block(tag: str, text: str) -> str:
    return f"<{tag}>\n{as_data(text)}\n</{tag}>"


def _result(result: QueryResult) -> str:
    if result.status != "success":
        return f'<result status="{result.status}">\n{as_data(result.error or "no result")}\n</result>'
    cut = ", truncated" if result.truncated else ""
    preview = as_data(result_preview(headers(result.columns, result.units), result.data))
    return f'<result rows="{result.rows_returned}{cut}">\n{preview}\n</result>'
