"""Costly statements through a running server: a sample of `python -m experiments.attacks costly`, and random calls."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.databases import open_database
from eval.schema import Dialect
from experiments.attacks.__main__ import app
from experiments.attacks.calls import call_at_random
from experiments.attacks.costly import GRACE, Attack, attack, corpus
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


def test_the_corpus_is_large_enough() -> None:
    assert sum(len(set(corpus(dialect))) for dialect in SERVED) >= 250


def test_the_parts_of_a_corpus_hold_all_of_it() -> None:
    parts = [corpus("sqlite", f"{number}/4") for number in (1, 2, 3, 4)]
    assert sorted(sql for part in parts for sql in part) == sorted(corpus("sqlite"))


def test_random_calls_go_on_where_an_earlier_run_ended(tmp_path: Path) -> None:
    command = ["calls", "--engine", "sqlite", "--kept", str(tmp_path / "kept.jsonl")]
    first = CliRunner().invoke(app, [*command, "--calls", "30"])
    second = CliRunner().invoke(app, [*command, "--calls", "60"])
    assert (first.exit_code, second.exit_code) == (0, 0), second.output
    made = [json.loads(line)["calls"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert len(made) == 2
    assert sum(made) >= 60
    assert f"| sqlite | {sum(made)} |" in second.output


def test_what_a_run_is_not_to_show_is_said() -> None:
    attacked = Attack(
        "sqlite", 100.0, seconds={"SELECT 2": 1.7}, alone={"q": [1.0]}, beside={"q": [2.9, 3.1]}, alive=True
    )
    assert attacked.failures(0.6) == [
        "sqlite: 1 statements were late",
        "sqlite: 1 ordinary questions were more than 3 times slower",
    ]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_random_calls_do_no_harm(dialect: Dialect, tmp_path: Path) -> None:
    if dialect == "duckdb":
        pytest.importorskip("duckdb")
    with scratch(dialect, tmp_path) as url, open_database(url) as database:
        calls_made = call_at_random(database, calls=300, seed=11, seconds=20)
    assert calls_made.harm == []
    assert calls_made.statuses["success"] > 30
