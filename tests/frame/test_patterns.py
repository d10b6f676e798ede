"""No regular expression of the installed code can be slowed down by the text it reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frame.installed_patterns import attacks
from tests.pairs import rows

ROOT = Path(__file__).resolve().parents[2]
MATCHED = {"agent/parser/follow_up.py"}
"""Its pattern is tried at the beginning of a text alone (`match`), where it is quick, and never sought in it."""


@pytest.mark.parametrize(("pattern", "word"), rows("patterns/ambiguous.jsonl"))
def test_a_loop_that_can_divide_its_text_in_many_ways_is_found(pattern: str, word: str) -> None:
    assert any(word in attack.word for attack in attacks(re.compile(pattern)))


@pytest.mark.slow
def test_no_installed_pattern_is_slowed_down_by_its_text() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.frame.installed_patterns", "agent", "eval", "text2sql"],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=True,
    )  # fmt: skip
    *slow, counted = map(json.loads, run.stdout.splitlines())

    assert [one for one in slow if one["at"].partition(":")[0] not in MATCHED] == []
    assert counted["patterns"] > 500
