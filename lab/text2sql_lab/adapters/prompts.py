"""Renders verified questions as the requests that the query writer sends at run time, with the reply to be learned.

In: a question with its verified query, its database, the settings. Out: the very system and user texts that a model at
an endpoint would get, because the agent itself runs the question and a recorder stands in for the model. The verified
query is run on the way, so one that fails is found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.config import Settings
from agent.models.prompts import short_prompt, sql_prompt
from agent.models.protocol import (
    Capabilities,
    Judgement,
    JudgeRequest,
    PlanReply,
    PlanRequest,
    SqlReply,
    SqlRequest,
    Summary,
    SummaryRequest,
)
from agent.state import single_task_plan
from agent.strategies import strategy
from eval.databases.base import Database
from eval.errors import InputError
from eval.sql import parse, resolve
from text2sql_lab.adapters import STRATEGY
from text2sql_lab.questions import Question


@dataclass(frozen=True, slots=True)
class Rendered:
    """A question as a request and its reply; `problem` says why there is none, `detail` more about it."""

    system: str = ""
    user: str = ""
    reply: str = ""
    problem: Literal["", "query does not run", "prompt shows its query"] = ""
    detail: str = ""

    def messages(self) -> dict[str, Any]:
        """In the form that trl reads: the prompt's messages, and the completion that alone is learned."""
        prompt = [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]
        return {"prompt": prompt, "completion": [{"role": "assistant", "content": self.reply}]}


class _Recorder:
    """Stands in for a model: keeps the request and replies with the verified query."""

    name = "recorder"
    capabilities = Capabilities(second_opinion=False, samples=False)

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.requests: list[SqlRequest] = []

    async def plan(self, request: PlanRequest) -> PlanReply:
        return PlanReply(single_task_plan(request.question, 1.0))

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        self.requests.append(request)
        return SqlReply(self.sql, "")

    async def judge(self, request: JudgeRequest) -> Judgement:  # noqa: ARG002
        return Judgement(0.5, "")

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:  # noqa: ARG002
        return Summary("")

    async def close(self) -> None:
        """Nothing is open."""


def writer_strategy(name: str, examples: int) -> str:
    """The strategy in which the first reply is the query, with so many examples. Raises InputError for an unknown one,
    and for one that writes in steps."""
    try:
        known = strategy(f"{name}/no-plan/no-judge/no-summary/examples={examples}")
    except ValueError as error:
        raise InputError(f"{error}") from None
    if known.generator == "react":
        raise InputError("An adapter learns to write a query in one reply; react writes in steps.")
    return known.name


async def rendered(
    question: Question,
    database: Database,
    config: Settings,
    *,
    how: str = STRATEGY,
    examples: int = 0,
    known: Sequence[tuple[str, str]] = (),
) -> Rendered:
    """`known`: other verified questions with their queries, from which at most `examples` are shown."""
    from agent.runner import run

    gold = question.golds[0].strip().rstrip("; \n\t")
    recorder = _Recorder(gold)
    once = f"{writer_strategy(how, examples)}/no-engine/retries=0/candidates=1/verify_rounds=0"
    settings = config.changed(judging={"strategy": once, "examples": None, "kit": None})
    confirmed = tuple(known) if examples else ()
    answer = await run(
        question.text,
        evidence=question.evidence,
        database=database,
        model=recorder,
        settings=settings,
        confirmed=confirmed,
    )
    if not recorder.requests or not answer.attempts or answer.attempts[-1].status != "success":
        return Rendered(problem="query does not run", detail=answer.reason)
    request = recorder.requests[0]
    prompt = short_prompt(request) if request.short else sql_prompt(request)
    if gold.casefold() in prompt.user.casefold():
        return Rendered(problem="prompt shows its query")
    if request.short:
        return Rendered(prompt.system, prompt.user, f"```sql\n{gold}\n```")
    # verified questions hold no reasons, so the reason is what the query's tree says: its tables and columns
    references = resolve(parse(gold, request.dialect), request.schema)
    columns = ", ".join(f"{table}.{column}" for table, column in references.columns)
    reasoning = f"Tables: {', '.join(references.tables) or 'none'}. Columns: {columns or 'none'}."
    reply = json.dumps({"reasoning": reasoning, "sql": gold}, ensure_ascii=False)
    return Rendered(prompt.system, prompt.user, reply)
