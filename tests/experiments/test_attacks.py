"""A bounded part of `python -m experiments.attacks`: what was counted, not how long it took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.attacks import chaos
from experiments.attacks.questions import flood
from experiments.attacks.serving import Served, serving
from experiments.attacks.uploads import hostile_files, send
from tests.samples import ALL, sampled

LARGE = ("6,000,000", "100,000,000", "repeated", "quote")
"""Files that keep a small machine busy for long."""
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


def test_hostile_files_are_refused_or_read_within_bounds(served: Served, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    sent = [
        send(served, kind, name, made())
        for kind, name, made in sampled(list(hostile_files(tmp_path)), 6)
        if not any(word in kind for word in LARGE)
    ]

    assert [failure for one in sent for failure in one.failures] == []
    assert sum(one.status == 201 for one in sent) <= 2
    assert "Excel takes" in sent[0].said


@pytest.mark.parametrize("attack", [chaos.clock, chaos.full_disk])
def test_nothing_is_lost_where_the_machine_fails(attack: Callable[[Path], chaos.Chaos], tmp_path: Path) -> None:
    if missing := chaos.unavailable(attack.__name__):
        pytest.skip(missing)
    seen = attack(tmp_path)

    assert seen.failures == []
    assert seen.seen["success"] >= 5


def test_clients_that_read_slowly_leave_or_idle_disturb_nobody(tmp_path: Path) -> None:
    seen = chaos.clients(tmp_path, 0.05, 12, lambda _: None)

    assert seen.failures == []
    assert {"asked success", "read nothing left", "paged whole"} <= set(seen.seen)
