"""Whole dialogues of `fixtures/conversations/dialogues.jsonl`: each turn gets the rows of the question it stands for.

`gold` is the query that the turn stands for; `asked` marks a question that has to be asked back; a turn with neither
only moves the conversation on. With the offline engine a few turns are known to be beyond it; with a model that reads
every turn rightly, all of them must be right, whatever has to be kept and handed on between them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import memory_checkpointer
from agent.models.protocol import PlanReply
from agent.runner import Answer, run
from agent.runtime.catalogue import resolve_database
from agent.runtime.plans import single_task_plan
from agent.state import Clarification
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.metrics.comparison import same_result
from eval.sql import check, parse
from text2sql.testing import ScriptedModel

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "conversations" / "dialogues.jsonl"
DIALOGUES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
RIGHT_OFFLINE = 0.75
"""Share of the turns that the offline engine has to get right."""


def result(database: Database, sql: str) -> ExecutionResult:
    statement = check(parse(sql, database.dialect)).statement
    assert statement is not None, sql
    return database.execute(statement, limits=Limits(seconds=20.0, rows=20_000))


def right(turn: dict[str, Any], answer: Answer, database: Database) -> bool:
    if turn.get("asked"):
        return answer.status == "waiting"
    if "gold" not in turn:
        return answer.status != "error"
    if not answer.sql:
        return False
    ordered = "ORDER BY" in turn["gold"]
    return same_result(result(database, turn["gold"]), result(database, answer.sql), ordered=ordered)


async def test_offline_most_turns_are_read_rightly(config: Settings) -> None:
    checkpointer = memory_checkpointer()
    wrong, turns = [], 0
    for number, dialogue in enumerate(DIALOGUES):
        database = resolve_database(dialogue["db"])
        thread = Conversation(str(number), checkpointer)
        for turn in dialogue["turns"]:
            answer = await run(turn["say"], database=database, model="offline", settings=config, conversation=thread)
            turns += 1
            if not right(turn, answer, database):
                wrong.append((number, turn["say"], answer.status, answer.read_as, answer.sql))

    print(f"{turns - len(wrong)} of {turns} turns right")
    assert len(wrong) <= turns * (1 - RIGHT_OFFLINE), "\n".join(map(str, wrong))


@pytest.mark.parametrize("number", range(len(DIALOGUES)))
async def test_with_a_model_that_reads_them_rightly_every_turn_is_right(number: int, config: Settings) -> None:
    dialogue = DIALOGUES[number]
    database = resolve_database(dialogue["db"])
    thread = Conversation("t", memory_checkpointer())
    asking = Clarification(question="By what?", options=["a", "b"])
    for turn in dialogue["turns"]:
        whole = f"{turn['say']} (in full)"
        asked = asking if turn.get("asked") else None
        plan = PlanReply(single_task_plan(whole, 0.9), read_as=whole, clarification=asked)
        model = ScriptedModel(turn.get("gold", "SELECT 1"), plan=plan, relevance=0.9)
        answer = await run(turn["say"], database=database, model=model, settings=config, conversation=thread)

        assert right(turn, answer, database), turn
        if "gold" in turn:
            assert answer.read_as == whole
