"""A bounded part of `python -m experiments.attacks`: what was counted, not how long it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.attacks import chaos
from experiments.attacks.questions import flood
from experiments.attacks.serving import Served, serving
from tests.samples import ALL

ASKED = 100 if ALL else 24


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("attacks"), ()) as server:
        yield server


def test_hostile_questions_all_end_and_hold_nothing_up(served: Served) -> None:
    flooded = flood(served, ASKED, at_once=3)

    assert flooded.asked == ASKED
    assert flooded.failures == []
    assert flooded.endings.total() - flooded.endings["lost"] == ASKED
    assert flooded.health


@pytest.mark.parametrize("attack", [chaos.clock, chaos.full_disk])
def test_nothing_is_lost_where_the_machine_fails(attack: Callable[[Path], chaos.Chaos], tmp_path: Path) -> None:
    if missing := chaos.unavailable(attack.__name__):
        pytest.skip(missing)
    seen = attack(tmp_path)

    assert seen.failures == []
    assert seen.seen["success"] >= 5
