"""Which recorded answer a request gets: told from the agent's own prompts, as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.models.prompts import judge_prompt, plan_prompt, review_prompt, sql_prompt, step_prompt, summary_prompt
from agent.models.protocol import StepRequest
from experiments.recorded.answers import NO_OPINION, SUMMARY, Answer, Answers, Recorded, load_answers
from experiments.recorded.chat import Sent
from tests.agent.models.conftest import (
    RESULT,
    SCHEMA,
    TASK,
    judge_request,
    plan_request,
    review_request,
    sql_request,
    summary_request,
)
from tests.experiments.recorded.conftest import ANSWERS, COUNT, HEAVY, body_of
from tests.jsonl import write_lines

FIRST, SECOND, THIRD = (a["sql"] for a in ANSWERS[3:])


@pytest.fixture
def answers(recording: Path, questions: Path) -> Answers:
    return Answers(load_answers(recording, questions))


def content(sent: Sent) -> str:
    assert sent.status == 200, sent
    content = json.loads(b"".join(sent.pieces))["choices"][0]["message"]["content"]
    assert isinstance(content, str)
    return content


def sql_for(answers: Answers, question: str, failed: str = "", mode: str = "json_schema", feedback: str = "") -> str:
    task = sql_request().task.model_copy(update={"description": question})
    request = sql_request(question=question, task=task, failed_sql=failed, feedback=feedback)
    sql = json.loads(content(answers.reply(body_of(sql_prompt(request), "sql", mode))))["sql"]
    assert isinstance(sql, str)
    return sql


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "prompt"])
def test_each_prompt_of_the_agent_is_recognised_in_every_mode(answers: Answers, mode: str) -> None:
    prompts = {
        "plan": plan_prompt(plan_request()),
        "judge": judge_prompt(judge_request()),
        "sql": sql_prompt(sql_request()),
        "review": review_prompt(review_request("It reads other tables.")),
        "summary": summary_prompt(summary_request("The score is low.")),
    }
    asked = "How many customers are there?"
    known = Answers([Recorded("c", asked, (Answer("s", RESULT.sql),))], relevance=0.25)

    replies = {kind: content(known.reply(body_of(prompt, kind, mode))) for kind, prompt in prompts.items()}

    task = {"id": "task_1", "description": asked, "depends_on": []}
    assert json.loads(replies["plan"]) == {"plan_type": "single", "confidence": 1.0, "tasks": [task]}
    assert json.loads(replies["judge"]) == {"reasoning": NO_OPINION, "score": 0.25}
    assert json.loads(replies["sql"]) == {"reasoning": "recorded answer of s", "sql": RESULT.sql}
    assert json.loads(replies["review"]) == {"reasoning": NO_OPINION, "accept": True, "sql": ""}
    assert replies["summary"] == SUMMARY


def test_each_candidate_gets_the_answer_of_its_own_system(answers: Answers) -> None:
    task = TASK.model_copy(update={"description": HEAVY})
    requests = [sql_request(question=HEAVY, task=task, variant=variant) for variant in range(4)]
    given = [json.loads(content(answers.reply(body_of(sql_prompt(r), "sql"))))["sql"] for r in requests]
    assert given == [FIRST, SECOND, THIRD, THIRD]


def test_each_retry_gets_the_answer_behind_the_one_that_failed(answers: Answers) -> None:
    given = [sql_for(answers, HEAVY)]
    for _ in range(3):
        given.append(sql_for(answers, HEAVY, given[-1], feedback="The query failed."))

    assert given == [FIRST, SECOND, THIRD, THIRD]


def test_systems_are_asked_in_the_order_given_and_distinct_answers_skip_repeats(
    recording: Path, questions: Path
) -> None:
    ordered = Answers(load_answers(recording, questions, ["third", "first"]))
    distinct = Answers(load_answers(recording, questions, distinct=True))

    assert [sql_for(ordered, HEAVY), sql_for(ordered, HEAVY, THIRD)] == [THIRD, FIRST]
    assert sql_for(distinct, COUNT, "SELECT COUNT(*) FROM ships") == "SELECT COUNT(id) FROM ships"
    assert [sql_for(distinct, HEAVY), sql_for(distinct, HEAVY, FIRST)] == [FIRST, SECOND]


def test_a_question_is_known_with_other_spaces_with_evidence_and_after_a_repair(answers: Answers) -> None:
    assert sql_for(answers, "Which  ships weigh\nmore than 10 tons? ") == FIRST
    assert sql_for(answers, f"{HEAVY}\n\nEvidence: tons is the column of weight") == FIRST
    task = sql_request().task.model_copy(update={"description": HEAVY})
    body = body_of(sql_prompt(sql_request(question=HEAVY, task=task)), "sql")
    body["messages"] += [{"role": "assistant", "content": "{"}, {"role": "user", "content": "Reply again with JSON."}]
    assert json.loads(content(answers.reply(body)))["sql"] == FIRST


def test_a_question_that_was_not_recorded_is_refused_and_one_in_other_words_gets_plain_sql(answers: Answers) -> None:
    sent = answers.reply(body_of(plan_prompt(plan_request()), "plan"))
    assert sent.status == 404
    assert json.loads(sent.pieces[0])["error"]["code"] == "question_not_recorded"
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": f"Write SQL. {HEAVY}"}]}]}
    assert content(answers.reply(body)) == f"```sql\n{FIRST}\n```"


@pytest.mark.parametrize(
    ("lines", "systems", "wrong"),
    [
        (ANSWERS, ["nobody"], "has no system nobody; it has first, second, third"),
        ([{"system": "s", "id": "other", "sql": "SELECT 1"}], [], "answers none of the questions"),
        ([{"id": "q1", "sql": "SELECT 1"}], [], "a line without 'system'"),
    ],
)
def test_files_that_do_not_fit_are_refused(
    tmp_path: Path, questions: Path, lines: list[dict[str, Any]], systems: list[str], wrong: str
) -> None:
    with pytest.raises(ValueError, match=wrong):
        load_answers(write_lines(tmp_path / "r.jsonl", lines), questions, systems)


def test_steps_get_the_queries_of_a_trace_in_turn_and_then_the_end(tmp_path: Path) -> None:
    trace = [{"action": "query", "sql": FIRST}, {"action": "query", "sql": SECOND}, {"action": "finish", "sql": SECOND}]
    recording, questions = tmp_path / "r.jsonl", tmp_path / "q.jsonl"
    write_lines(recording, [{"system": "s", "id": 1, "sql": SECOND, "trace": trace}])
    write_lines(questions, [{"id": 1, "question": "How many customers are there?"}])
    known = Answers(load_answers(recording, questions))

    def step(allowed: tuple[str, ...], *steps: str) -> tuple[str, str]:
        asked: dict[str, Any] = {"question": "How many customers are there?", "task": TASK, "dialect": "sqlite"}
        request = StepRequest(**asked, schema_context="", schema=SCHEMA, allowed=allowed, steps=steps)
        body = body_of(step_prompt(request), "step", "prompt")
        reply = json.loads(content(known.reply(body)))
        return reply["tool"], reply["sql"]

    first, second = f"generate_sql\n{FIRST}", f"repair_sql\n{SECOND}"
    assert step(("generate_sql",), "link_schema") == ("generate_sql", FIRST)
    assert step(("repair_sql", "run_sql"), "link_schema", first) == ("run_sql", "")
    assert step(("finish", "repair_sql"), "link_schema", first, "run_sql") == ("repair_sql", SECOND)
    assert step(("finish", "repair_sql"), "link_schema", first, second, "run_sql") == ("finish", "")
    assert step(("repair_sql",), "link_schema", first, second, "validate_sql (failed)") == ("repair_sql", SECOND)
