"""Costly statements through a running server: a sample of `python -m experiments.attacks costly`, and random calls."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.schema import Dialect
from experiments.attacks.calls import call_at_random
from experiments.attacks.costly import GRACE, attack, corpus
from experiments.attacks.serving import SERVED, Served, scratch, serving

SECONDS = 0.5


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory,
    postgres_url: str,
    mysql_url: str,  # skips where a server is missing
) -> Iterator[Served]:
    pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("costly")
    with serving(folder, TEXT2SQL_QUERY_SECONDS=str(SECONDS)) as server:
        yield server


@pytest.mark.parametrize("dialect", SERVED)
def test_costly_statements_end_in_time_beside_ordinary_questions(served: Served, dialect: Dialect) -> None:
    attacked = attack(served, dialect, corpus(dialect, "1/35"))

    for sql in attacked.late(SECONDS):  # a busy machine gets another try
        started = time.perf_counter()
        served.run(dialect, sql)
        assert time.perf_counter() - started < SECONDS + 3 * GRACE, sql
    stopped = attacked.statuses["timeout"] + attacked.statuses["error"]  # an error: it ran into its memory's bound
    assert stopped > 0, attacked.statuses
    assert attacked.unanswered == 0
    assert attacked.growth_mb < 300
    assert attacked.usage.temporary_mb <= 1024
    assert attacked.alive


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_random_calls_do_no_harm(dialect: Dialect, tmp_path: Path) -> None:
    if dialect == "duckdb":
        pytest.importorskip("duckdb")
    with scratch(dialect, tmp_path) as url, open_database(url) as database:
        calls_made = call_at_random(database, calls=300, seed=11, seconds=20)
    assert calls_made.harm == []
    assert calls_made.statuses["success"] > 30
