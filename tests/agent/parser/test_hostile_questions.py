"""Garbled and hostile questions: no crash, nothing that the guard refuses, nobody waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.parser import Reading
from experiments.parser.hostile_questions import ask_all


@pytest.mark.parametrize(("name", "seed"), [("shop", 11), ("enterprise", 12)])
def test_garbled_questions_are_read_safely(name: str, seed: int) -> None:
    figures = ask_all(1_000, seed, name)
    assert (figures.crashed, figures.refused) == (0, 0), figures.worst
    assert figures.asked == 1_000
    assert figures.slowest < 2_000


@pytest.mark.parametrize("ending", ["5", "sorted by", "", "and 5 with"])
@pytest.mark.parametrize("again", [" and city", ", city", " with city", " of", " in 2024 by"])
def test_a_list_of_many_words_ends(ask: Callable[..., Reading], again: str, ending: str) -> None:
    """One pattern of wording once tried every way of dividing such a list, for ever."""
    begun = time.process_time()
    ask(f"list members with name{again * 30} {ending}")

    assert time.process_time() - begun < 1


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path) -> None:
    state = tmp_path / "figures.json"
    ask_all(30, 5, "shop", state)
    continued = ask_all(50, 5, "shop", state)

    whole = ask_all(50, 5, "shop")
    assert (continued.asked, continued.answered) == (whole.asked, whole.answered)
    assert sum(continued.times.values()) == 50
