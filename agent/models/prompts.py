"""Templates to messages: reads `prompts/*.txt` and fills them in.

In: a template's name and its values. Out: the system and user texts. A value is put in as it is and never read again
for placeholders, so braces and dollar signs in data do nothing; a value can't close the tag that it stands in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from agent.knowledge.history import history_text
from agent.knowledge.preview import result_preview
from agent.knowledge.schema_context import one_line
from agent.models.protocol import JudgeRequest, PlanRequest, ReviewRequest, SqlRequest, StepRequest, SummaryRequest
from agent.state import QueryResult
from eval.schema import Dialect

DIALECT_NAMES: dict[Dialect, str] = {
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "mysql": "MySQL or MariaDB",
}

_PLACEHOLDER = re.compile(r"\$([a-z_]+)")
_SECTION = re.compile(r"^=== (system|user)\n", re.MULTILINE)
_VERSION = re.compile(r"# version: (\d+)\n")
_TAGS = re.compile(
    r"<(?=/?(?:schema|question|task|previous|failed_sql|feedback|sql|result|results|doubts|conversation|clarification|steps|allowed|glossary|examples|candidate)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    version: int
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What one call says to the model: the stable part first, so that a provider's prompt cache can reuse it."""

    system: str
    user: str


@cache
def template(name: str) -> Template:
    """The template `prompts/{name}.txt`. Raises ValueError when it has no version line."""
    text = resources.files("prompts").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    if version is None:
        raise ValueError(f"prompts/{name}.txt does not begin with a version line")
    parts = _SECTION.split(text[version.end() :])
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return Template(name, int(version.group(1)), sections.get("system", "").strip(), sections.get("user", "").strip())


def fill(text: str, values: dict[str, str]) -> str:
    """Put `values` in the places `$name` of `text`, in one pass. Raises KeyError for a place without a value."""
    return _PLACEHOLDER.sub(lambda place: values[place.group(1)], text)


def as_data(text: str) -> str:
    """`text` unchanged, unless it holds one of the tags that fence data in: their `<` becomes `‹`."""
    return _TAGS.sub("‹", text)


def in_conversation(request: PlanRequest) -> bool:
    """Whether the reply has to say what the question means on its own, and may ask back."""
    return bool(request.history or request.may_ask or request.clarified)


def plan_prompt(request: PlanRequest) -> Prompt:
    """Question and schema; in a conversation its earlier turns and what was asked back, too."""
    raw = {"conversation": "", "history": "", "clarified": ""}
    if in_conversation(request):
        asking = template("asking_back" if request.may_ask else "not_asking").system
        raw["conversation"] = "\n" + fill(template("conversation").system, {"asking": asking}) + "\n"
    if request.history:
        raw["history"] = f"\n{_block('conversation', history_text(request.history))}\n"
    if request.clarified:
        asked = request.clarified.asked
        said = {"asked": asked.question, "options": "; ".join(asked.options), "reply": request.clarified.reply}
        shown = {name: as_data(one_line(text, 2_000)) for name, text in said.items()}
        raw["clarified"] = "\n\n" + fill(template("asking_back").user, shown)
    return _prompt("planner", request.dialect, schema=request.schema_context, question=request.question, raw=raw)


def sql_prompt(request: SqlRequest) -> Prompt:
    """Question, schema, task where it says more than the question, earlier results, on a retry the failed SQL and
    the feedback, word for word, and for one of several candidates the way of working that it is to try."""
    task = ""
    if request.task.description.strip() != request.question.strip():
        task = f"\nWrite the query for this step of the answer only:\n{_block('task', request.task.description)}\n"
    previous = "".join(
        f"\nRows that the earlier step {as_data(one.task_id)} returned:\n{_result(one)}\n" for one in request.previous
    )
    retry = ""
    if request.failed_sql or request.feedback:
        retry = (
            f"\nYour last query was not accepted:\n{_block('failed_sql', request.failed_sql)}\n\n"
            f"What was wrong with it:\n{_block('feedback', request.feedback)}\n\nWrite a corrected query."
        )
    if request.variant:
        ways = template("ways").system.splitlines()
        retry += f'\n<candidate number="{request.variant}" />\n{ways[(request.variant - 1) % len(ways)]}'
    return _prompt(
        "query_generator",
        request.dialect,
        schema=request.schema_context,
        question=request.question,
        raw={"task": task, "previous": known(request.glossary, request.examples) + previous, "retry": retry},
    )


def known(glossary: str, examples: str) -> str:
    """What a team knows of its database, as far as it bears on the question; empty where it keeps nothing."""
    text = ""
    if glossary:
        text += f"\nWhat words of the question mean here:\n{_block('glossary', glossary)}\n"
    if examples:
        text += (
            "\nVerified queries for other questions to this database; keep to their conventions where they fit:\n"
            f"{_block('examples', examples)}\n"
        )
    return text


def step_prompt(request: StepRequest) -> Prompt:
    """Schema and question, then the steps so far and the tools that may be next."""
    task = ""
    if request.task.description.strip() != request.question.strip():
        task = f"\nThe query is for this step of the answer only:\n{_block('task', request.task.description)}\n"
    steps = "\n\n".join(f"{number}. {as_data(step)}" for number, step in enumerate(request.steps, 1)) or "(none)"
    return _prompt(
        "react",
        request.dialect,
        schema=request.schema_context,
        question=request.question,
        raw={
            "task": task,
            "known": known(request.glossary, request.examples),
            "steps": steps,
            "allowed": ", ".join(request.allowed),
            "left": str(request.left),
        },
    )


def review_prompt(request: ReviewRequest) -> Prompt:
    task = ""
    if request.task.description.strip() != request.question.strip():
        task = f"\nThe query is for this step of the answer only:\n{_block('task', request.task.description)}\n"
    doubts = "\n".join(f"- {one_line(doubt, 500)}" for doubt in request.doubts)
    return _prompt(
        "review",
        request.dialect,
        schema=request.schema_context,
        question=request.question,
        sql=request.sql,
        rows_returned=str(request.rows_returned),
        preview=result_preview(request.columns, request.preview),
        raw={"task": task, "doubts": f"\nWhat speaks against it:\n{_block('doubts', doubts)}" if doubts else ""},
    )


def judge_prompt(request: JudgeRequest) -> Prompt:
    task = ""
    if request.task.description.strip() != request.question.strip():
        task = f"\nThe query answers this step of the question:\n{_block('task', request.task.description)}\n"
    return _prompt(
        "relevance",
        request.dialect,
        question=request.question,
        sql=request.sql,
        rows_returned=str(request.rows_returned),
        preview=result_preview(request.columns, request.preview),
        raw={"task": task},
    )


def summary_prompt(request: SummaryRequest) -> Prompt:
    described = {task.id: task.description for task in request.plan.tasks}
    results = "\n".join(
        f"{as_data(described.get(one.task_id, one.task_id))}\n{_result(one)}\n" for one in request.results
    )
    doubts = "\n".join(f"- {as_data(doubt)}" for doubt in request.doubts) or "(none)"
    return _prompt("summarizer", None, question=request.question, raw={"results": results, "doubts": doubts})


def _prompt(name: str, dialect: Dialect | None, *, raw: dict[str, str] | None = None, **data: str) -> Prompt:
    """`data` is neutralised, `raw` was put together here."""
    values = {key: as_data(text) for key, text in data.items()} | (raw or {})
    found = template(name)
    if dialect is not None:
        values["dialect_name"] = DIALECT_NAMES[dialect]
        values["dialect_notes"] = template(f"dialect_{dialect}").system
    return Prompt(fill(found.system, values).rstrip(), fill(found.user, values).rstrip())


def _block(tag: str, text: str) -> str:
    return f"<{tag}>\n{as_data(text)}\n</{tag}>"


def _result(result: QueryResult) -> str:
    if result.status != "success":
        return f'<result status="{result.status}">\n{as_data(result.error or "no result")}\n</result>'
    cut = ", truncated" if result.truncated else ""
    preview = as_data(result_preview(result.columns, result.data))
    return f'<result rows="{result.rows_returned}{cut}">\n{preview}\n</result>'
