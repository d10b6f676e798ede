"""The gate on cost says what grew, lets noise through, and has a figure for each kind of work."""

from __future__ import annotations

import json

import pytest

from experiments.speed.gate import COMMAND, STORED, grown
from experiments.speed.scenarios import SCENARIOS
from tests.pairs import rows


@pytest.mark.parametrize(("figure", "before", "now", "passes"), rows("experiments/grown.jsonl"))
def test_what_grew_by_over_a_tenth_fails(figure: str, before: float, now: float, passes: bool) -> None:
    assert (grown({figure: now}, {figure: before}) == []) == passes


def test_each_kind_of_work_has_its_figures() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert set(stored) == {COMMAND, *SCENARIOS}
