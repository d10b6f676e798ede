"""The JSON Schemas of a model's structured replies, and the parsing of such replies.

In: a JSON object from a reply. Out: the typed value, or `UnusableReply` that says what is wrong. The JSON Schemas keep
to what strict modes accept: every property required, no additional properties, no bounds.
"""

from __future__ import annotations

import contextlib
import math
import re
from typing import Any

from agent.models.distrust import flaw, trusted, trusted_sql
from agent.models.replies import Reply, UnusableReply, complete_text, extract_json, extract_sql
from agent.state import Clarification, QueryPlan, QueryTask


def _strict(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The field of a request that asks for a reply of this form."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_SCORE = {"type": "number", "description": "0 to 1"}

MAX_QUESTION = 2_000
MAX_CLARIFICATION = 500
MAX_OPTION = 200
MAX_OPTIONS = 5


def plan_schema(*, with_sql: bool, in_conversation: bool, translate: bool = False) -> dict[str, Any]:
    """A plan; in a conversation also the standalone question and a clarification (an empty clarification.question means
    none); of a question that is not in English, also the question in English."""
    task = _strict(id=_TEXT, description=_TEXT, depends_on=_TEXTS, **({"sql": _TEXT} if with_sql else {}))
    before: dict[str, Any] = {}
    if in_conversation:
        before = {"standalone_question": _TEXT, "clarification": _strict(question=_TEXT, options=_TEXTS)}
    if translate:
        before["in_english"] = _TEXT
    return _strict(
        **before,
        plan_type={"type": "string", "enum": ["single", "multi-sequential"]},
        confidence=_SCORE,
        tasks={"type": "array", "items": task},
    )


SQL_SCHEMA = _strict(reasoning=_TEXT, sql=_TEXT)
REVIEW_SCHEMA = _strict(reasoning=_TEXT, accept={"type": "boolean"}, sql=_TEXT)
JUDGE_SCHEMA = _strict(reasoning=_TEXT, score=_SCORE)
CITY_SCHEMA = _strict(city=_TEXT)


def step_schema(allowed: tuple[str, ...]) -> dict[str, Any]:
    """A step may name only a tool that is allowed now."""
    return _strict(thought=_TEXT, tool={"type": "string", "enum": list(allowed)}, sql=_TEXT)


def json_in(reply: Reply, *keys: str) -> dict[str, object]:
    return extract_json(complete_text(reply), keys=keys)


def _text(answer: dict[str, object], name: str) -> str:
    return value.strip() if isinstance(value := answer.get(name), str) else ""


def plan_in(reply: Reply) -> QueryPlan:
    """The planner checks whether ids and dependencies are valid."""
    return _plan(json_in(reply, "tasks"))


def conversation_in(reply: Reply) -> tuple[QueryPlan | None, str, Clarification | None]:
    """(plan, standalone question or "", clarification). The plan may be missing if there is a clarification."""
    answer = json_in(reply, "tasks")
    standalone = trusted(_text(answer, "standalone_question")[:MAX_QUESTION])
    clarification = _clarification(answer.get("clarification"))
    if clarification is not None and not answer.get("tasks"):
        return None, standalone, clarification
    return _plan(answer), standalone, clarification


def _plan(answer: dict[str, object]) -> QueryPlan:
    tasks = answer.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        raise UnusableReply("`tasks` must be a list with at least one task")
    read = [_task(item, number) for number, item in enumerate(tasks, 1)]
    several = len(read) > 1 or str(answer.get("plan_type", "")).lower() == "multi-sequential"
    return QueryPlan(
        plan_type="multi-sequential" if several else "single",
        confidence=_fraction(answer.get("confidence"), "confidence"),
        tasks=read,
        in_english=" ".join(_text(answer, "in_english").split())[:MAX_QUESTION],
    )


def _task(item: object, number: int) -> QueryTask:
    if isinstance(item, str) and item.strip():
        return QueryTask(id=f"task_{number}", description=trusted(item.strip()))
    if not isinstance(item, dict):
        raise UnusableReply(f"task {number} must be an object with id, description and depends_on")
    description = _text(item, "description")
    if not description:
        raise UnusableReply(f"task {number} has no description")
    name = item.get("id")
    before = item.get("depends_on") or []
    if not isinstance(before, list):
        before = [before]
    return QueryTask(
        id=str(name) if isinstance(name, str | int) and str(name).strip() else f"task_{number}",
        description=trusted(description),
        depends_on=[str(one) for one in before if isinstance(one, str | int)],
        sql=trusted_sql(_text(item, "sql").rstrip("; \n\t")),
    )


def _clarification(value: object) -> Clarification | None:
    """A clarification needs a question; options that are not text, or repeated, are dropped."""
    if isinstance(value, str):
        value = {"question": value}
    if not isinstance(value, dict) or not (question := _text(value, "question")):
        return None
    offered = options if isinstance(options := value.get("options"), list) else []
    texts = [" ".join(option.split())[:MAX_OPTION] for option in offered if isinstance(option, str)]
    options = [option for option in dict.fromkeys(texts) if option][:MAX_OPTIONS]
    return Clarification(question=question[:MAX_CLARIFICATION], options=options)


def sql_in(reply: Reply) -> tuple[str, str]:
    """(sql, reasoning); the SQL is empty when the model says that it cannot write it. A reply that is SQL, with or
    without surrounding text, is accepted in place of the requested JSON."""
    text = complete_text(reply)
    try:
        answer = extract_json(text, keys=("sql",))
        sql, reasoning = answer.get("sql"), _text(answer, "reasoning")
        if sql is None and reasoning:
            sql = ""
        if not isinstance(sql, str):
            raise UnusableReply("`sql` must be a string with one SELECT statement")
        if not sql.strip() and not reasoning:
            raise UnusableReply("`sql` and `reasoning` are both empty")
    except UnusableReply as error:
        if cannot := _CANNOT.match(text):
            return "", cannot[1].strip()
        try:
            written = extract_sql(text)
        except UnusableReply:
            raise error from None
        return trusted_sql(written), ""
    return trusted_sql(_bare(sql.strip())), "" if flaw(reasoning) else reasoning


def step_in(reply: Reply) -> tuple[str, str, str]:
    """(tool, thought, sql). The loop checks whether the tool is known and allowed."""
    text = complete_text(reply)
    try:
        answer = extract_json(text, keys=("tool", "sql"))
        tool = _text(answer, "tool").lower().removesuffix("()").replace("-", "_").replace(" ", "_")
        sql = trusted_sql(_text(answer, "sql"))
        if not tool and not sql:
            raise UnusableReply("`tool` must be a string that names one of the tools")
    except UnusableReply as error:
        try:
            return "", "", extract_sql(text)
        except UnusableReply:
            raise error from None
    return tool, _text(answer, "thought"), _bare(sql)


def review_in(reply: Reply) -> tuple[bool, str, str]:
    """(accepted, reasoning, revised SQL). A rejection without a query counts as acceptance, because there is no
    replacement."""
    answer = json_in(reply, "accept")
    accept = answer.get("accept")
    if isinstance(accept, str):
        accept = {"true": True, "false": False}.get(accept.strip().lower())
    if not isinstance(accept, bool):
        raise UnusableReply("`accept` must be true or false")
    revised = "" if accept else trusted_sql(_text(answer, "sql"))
    return not revised, _text(answer, "reasoning"), revised


def judgement_in(reply: Reply) -> tuple[float, str]:
    """(score 0..1, reasoning)."""
    answer = json_in(reply, "score")
    return _fraction(answer.get("score"), "score"), _text(answer, "reasoning")


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
