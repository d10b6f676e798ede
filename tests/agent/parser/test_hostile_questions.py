"""Garbled and hostile questions: no crash, nothing that the guard refuses, nobody waits."""

from __future__ import annotations

import pytest

from experiments.parser.hostile_questions import ask_all


@pytest.mark.parametrize(("name", "seed"), [("shop", 11), ("enterprise", 12)])
def test_two_thousand_garbled_questions_are_read_safely(name: str, seed: int) -> None:
    found = ask_all(2_000, seed, name)
    assert (found.crashed, found.refused) == (0, 0), found.worst
    assert found.asked == 2_000
    assert found.slowest < 2_000
