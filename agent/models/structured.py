"""The JSON Schemas of a model's structured replies, and the parsing of such replies.

In: a JSON object from a reply. Out: the typed value, or `UnusableReply` that says what is wrong. The JSON Schemas keep
to what strict modes accept: every property required, no additional properties, no bounds.
"""

from __future__ import annotations

import contextlib
import math
import re
from typing import TYPE_CHECKING, Any

from agent.models.distrust import flaw, trusted, trusted_sql
from agent.models.replies import Distrusted, UnusableReply, complete_text, extract_json, extract_sql
from agent.state import Clarification, QueryPlan, QueryTask

if TYPE_CHECKING:
    from agent.models.wire_format import Reply


def _strict(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SCORE = {"type": "number", "description": "0 to 1"}

MAX_QUESTION = 2_000
MAX_CLARIFICATION = 500
MAX_OPTION = 200
MAX_OPTIONS = 5


def _plan(**of_task: dict[str, Any]) -> dict[str, Any]:
    """A plan whose tasks also have these properties."""
    task = _strict(id=_TEXT, description=_TEXT, depends_on=_TEXTS, **of_task)
    return _strict(
        plan_type={"type": "string", "enum": ["single", "multi-sequential"]},
        confidence=_SCORE,
        tasks={"type": "array", "items": task},
    )


PLAN_SCHEMA = _plan()
PLAN_WITH_SQL_SCHEMA = _plan(sql=_TEXT)


def plan_schema(*, with_sql: bool, in_conversation: bool, translate: bool = False) -> dict[str, Any]:
    """A plan; in a conversation also the standalone question and a clarification (an empty clarification.question means
    none); of a question that is not in English, also the question in English."""
    plan = PLAN_WITH_SQL_SCHEMA if with_sql else PLAN_SCHEMA
    if translate:
        plan = _strict(in_english=_TEXT, **plan["properties"])
    if not in_conversation:
        return plan
    return _strict(
        standalone_question=_TEXT,
        clarification=_strict(question=_TEXT, options=_TEXTS),
        **plan["properties"],
    )


SQL_SCHEMA = _strict(reasoning=_TEXT, sql=_TEXT)
REVIEW_SCHEMA = _strict(reasoning=_TEXT, accept={"type": "boolean"}, sql=_TEXT)
JUDGE_SCHEMA = _strict(reasoning=_TEXT, score=_SCORE)
CONDITIONS_SCHEMA = _strict(
    conditions={"type": "array", "items": _strict(condition=_TEXT, place=_TEXT)}, reasoning=_TEXT, score=_SCORE
)
READ_BACK_SCHEMA = _strict(question=_TEXT)


def step_schema(allowed: tuple[str, ...]) -> dict[str, Any]:
    """A step may name only a tool that is allowed now."""
    return _strict(thought=_TEXT, tool={"type": "string", "enum": list(allowed)}, sql=_TEXT)


def read_plan(reply: dict[str, object]) -> QueryPlan:
    """The planner checks whether ids and dependencies are valid."""
    tasks = reply.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        raise UnusableReply("`tasks` must be a list with at least one task")
    read = [_task(item, number) for number, item in enumerate(tasks, 1)]
    kind = str(reply.get("plan_type", "")).lower()
    single = len(read) == 1 if kind not in ("single", "multi-sequential") else kind == "single" and len(read) == 1
    english = reply.get("in_english")
    return QueryPlan(
        plan_type="single" if single else "multi-sequential",
        confidence=_fraction(reply.get("confidence"), "confidence"),
        tasks=read,
        in_english=" ".join(english.split())[:MAX_QUESTION]
        if isinstance(english := reply.get("in_english"), str)
        else "",
    )


def _task(item: object, number: int) -> QueryTask:
    if isinstance(item, str) and item.strip():
        return QueryTask(id=f"task_{number}", description=trusted(item.strip()))
    if not isinstance(item, dict):
        raise UnusableReply(f"task {number} must be an object with id, description and depends_on")
    description = item.get("description")
    if not isinstance(description, str) or not description.strip():
        raise UnusableReply(f"task {number} has no description")
    name = item.get("id")
    before = item.get("depends_on") or []
    if not isinstance(before, list):
        before = [before]
    return QueryTask(
        id=str(name) if isinstance(name, str | int) and str(name).strip() else f"task_{number}",
        description=trusted(description.strip()),
        depends_on=[str(one) for one in before if isinstance(one, str | int)],
        sql=trusted_sql(sql.strip().rstrip("; \n\t")) if isinstance(sql := item.get("sql"), str) else "",
    )


def read_conversation(reply: dict[str, object]) -> tuple[QueryPlan | None, str, Clarification | None]:
    """(plan, standalone question or "", clarification). The plan may be missing if there is a clarification."""
    question = reply.get("standalone_question")
    standalone = trusted(question.strip()[:MAX_QUESTION]) if isinstance(question, str) else ""
    clarification = _clarification(reply.get("clarification"))
    if clarification is not None and not reply.get("tasks"):
        return None, standalone, clarification
    return read_plan(reply), standalone, clarification


def _clarification(value: object) -> Clarification | None:
    """A clarification needs a question; options that are not text, or repeated, are dropped."""
    if isinstance(value, str):
        value = {"question": value}
    if not isinstance(value, dict) or not isinstance(question := value.get("question"), str) or not question.strip():
        return None
    offered = value.get("options")
    texts = (
        [" ".join(o.split())[:MAX_OPTION] for o in offered if isinstance(o, str)] if isinstance(offered, list) else []
    )
    options = [option for option in dict.fromkeys(texts) if option][:MAX_OPTIONS]
    return Clarification(question=question.strip()[:MAX_CLARIFICATION], options=options)


def read_sql(reply: dict[str, object]) -> tuple[str, str]:
    """(sql, reasoning); the SQL is empty when the model says that it cannot write it."""
    sql = reply.get("sql")
    reasoning = reply.get("reasoning")
    explanation = reasoning.strip() if isinstance(reasoning, str) else ""
    if sql is None and explanation:
        return "", explanation
    if not isinstance(sql, str):
        raise UnusableReply("`sql` must be a string with one SELECT statement")
    if not sql.strip() and not explanation:
        raise UnusableReply("`sql` and `reasoning` are both empty")
    return sql.strip(), explanation


def read_step(reply: dict[str, object]) -> tuple[str, str, str]:
    """(tool, thought, sql). The loop checks whether the tool is known and allowed."""
    texts = {name: value.strip() for name in ("tool", "thought", "sql") if isinstance(value := reply.get(name), str)}
    tool = texts.get("tool", "").lower().removesuffix("()").replace("-", "_").replace(" ", "_")
    if not tool and not texts.get("sql"):
        raise UnusableReply("`tool` must be a string that names one of the tools")
    return tool, texts.get("thought", ""), trusted_sql(texts.get("sql", ""))


def read_review(reply: dict[str, object]) -> tuple[bool, str, str]:
    """(accepted, reasoning, revised SQL). A rejection without a query counts as acceptance, because there is no
    replacement."""
    accept, sql, reasoning = reply.get("accept"), reply.get("sql"), reply.get("reasoning")
    if isinstance(accept, str):
        accept = {"true": True, "false": False}.get(accept.strip().lower())
    if not isinstance(accept, bool):
        raise UnusableReply("`accept` must be true or false")
    revised = "" if accept or not isinstance(sql, str) else trusted_sql(sql.strip())
    return not revised, reasoning.strip() if isinstance(reasoning, str) else "", revised


def read_judgement(reply: dict[str, object]) -> tuple[float, str]:
    """(score 0..1, reasoning)."""
    reasoning = reply.get("reasoning")
    return _fraction(reply.get("score"), "score"), reasoning.strip() if isinstance(reasoning, str) else ""


def _fraction(value: object, name: str) -> float:
    number = math.nan
    if isinstance(value, str):
        text = value.strip()
        with contextlib.suppress(ValueError):
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if not 0.0 <= number <= 1.0:
        raise UnusableReply(f"`{name}` must be a number from 0 to 1, not {str(value)[:40]!r}")
    return number


def plan_in(reply: Reply) -> QueryPlan:
    return read_plan(extract_json(complete_text(reply), keys=("tasks",)))


def conversation_in(reply: Reply) -> tuple[QueryPlan | None, str, Clarification | None]:
    return read_conversation(extract_json(complete_text(reply), keys=("tasks",)))


def review_in(reply: Reply) -> tuple[bool, str, str]:
    return read_review(extract_json(complete_text(reply), keys=("accept",)))


def object_in(reply: Reply) -> dict[str, object]:
    return extract_json(complete_text(reply))


def sql_in(reply: Reply) -> tuple[str, str]:
    """(sql, reasoning). A reply that is SQL, with or without surrounding text, is accepted in place of the requested
    JSON."""
    text = complete_text(reply)
    try:
        sql, reasoning = read_sql(extract_json(text, keys=("sql",)))
    except UnusableReply as error:
        if cannot := _CANNOT.match(text):
            return "", cannot[1].strip()
        try:
            return trusted_sql(extract_sql(text)), ""
        except Distrusted:
            raise
        except UnusableReply:
            raise error from None
    return trusted_sql(_bare(sql)), "" if flaw(reasoning) else reasoning


def _bare(sql: str) -> str:
    """The SQL of a field, without a fence and without the sentences that some models put around it. Raises
    UnusableReply where a fence holds none."""
    if "```" in sql:
        return extract_sql(sql)
    if _PROSE.match(sql):
        with contextlib.suppress(UnusableReply):
            return extract_sql(sql)
    return sql.rstrip("; \n\t")


_PROSE = re.compile(r"\s{0,20}(?:sure|here|certainly|okay|the (?:following|query)|this|you can)\b", re.IGNORECASE)
_CANNOT = re.compile(r"\s{0,20}CANNOT:\s{0,20}(\S.{0,500})")


def step_in(reply: Reply) -> tuple[str, str, str]:
    text = complete_text(reply)
    try:
        tool, thought, sql = read_step(extract_json(text, keys=("tool", "sql")))
    except UnusableReply as error:
        try:
            return "", "", extract_sql(text)
        except UnusableReply:
            raise error from None
    return tool, thought, _bare(sql)
