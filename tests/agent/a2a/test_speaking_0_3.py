"""The official client of protocol 0.3, from an environment of its own (TEXT2SQL_TEST_A2A_03_PYTHON)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.agent.a2a.conftest import task

SCRIPT = Path(__file__).with_name("speak_0_3.py")


def spoken(url: str, text: str) -> tuple[str, dict[str, str]]:
    python = os.environ.get("TEXT2SQL_TEST_A2A_03_PYTHON")
    if not python:
        pytest.skip("TEXT2SQL_TEST_A2A_03_PYTHON names no interpreter that has a2a-sdk 0.3")
    done = subprocess.run([python, str(SCRIPT), url, text], capture_output=True, text=True, timeout=60, check=True)
    reply = json.loads(done.stdout)
    return reply["state"], json.loads(reply["text"])


def test_a_task_in_a_text_part_gets_one_part_of_json(url: str) -> None:
    state, answer = spoken(url, json.dumps(task()))

    assert state == "completed"
    assert answer["sql"] == "SELECT COUNT(*) AS customers FROM customers"
    assert answer["task_id"] == "t1"


def test_a_task_that_cannot_be_worked_on_is_completed_with_its_error(url: str) -> None:
    state, answer = spoken(url, json.dumps(task(dialect="bigquery")))

    assert state == "completed"
    assert answer == {"sql": "", "error": answer["error"], "task_id": "t1"}
    assert "bigquery" in answer["error"]
