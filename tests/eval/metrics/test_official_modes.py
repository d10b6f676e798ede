"""Answers measured as the official programs measure them, and where that differs from our own comparison."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.batch import app
from eval.databases import open_database
from eval.metrics import modes as official
from eval.metrics.modes import MODES, Mode, official_figures
from eval.metrics.suites import suite_databases
from tests.pairs import rows
from tests.writing import sqlite_file

SCRIPT = """
CREATE TABLE pet (id INTEGER, kind TEXT, age INTEGER);
INSERT INTO pet VALUES (1, 'cat', 3), (2, 'dog', 4), (3, 'cat', 5);
"""


@pytest.fixture(scope="module")
def pets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pets")
    for name, more in (("pets", ""), ("replica", "DELETE FROM pet WHERE id = 3;")):
        sqlite_file(folder / f"{name}.sqlite", SCRIPT + more)
    return folder


def figure(pets: Path, mode: Mode, gold: str, sql: str) -> float | None:
    suite = partial(suite_databases, (pets / "replica.sqlite",))
    with open_database(pets / "pets.sqlite") as database:
        return official_figures([mode], gold, sql, database, suite=suite, runs=2)[mode]


KINDS, DISTINCT = "SELECT kind FROM pet", "SELECT DISTINCT kind FROM pet"


@pytest.mark.parametrize(("mode", "gold", "sql", "expected"), rows("metrics/modes.jsonl"))
def test_each_mode_is_as_its_program(pets: Path, mode: Mode, gold: str, sql: str, expected: float | None) -> None:
    measured = figure(pets, mode, gold, sql)
    assert measured == (expected if expected is None else pytest.approx(expected))


def test_the_times_count_by_the_definitions() -> None:
    assert official.r_ves(2.5) == math.sqrt(1.25)
    assert [official.r_ves(ratio) ** 2 for ratio in (1.0, 0.5, 0.25, 0.1)] == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert official.ves(4.0) == 2.0
    assert official.usual_ratio([1.0] * 20 + [100.0]) == pytest.approx(1.0)
    assert official.usual_ratio([1.5, 1.5]) == 1.5


def test_rows_without_a_like_cost_both_sides_of_soft_f1() -> None:
    assert official.soft_f1([(1,), (2,)], [(1,)]) == pytest.approx(2 / 3)
    assert official.soft_f1([(1,)], []) == 0.0
    assert official.soft_f1([], []) == 1.0
    assert official.soft_f1([(1, 2)], [(2, 1)]) == 1.0


def test_the_command_reports_the_modes_that_were_asked_for(pets: Path, tmp_path: Path) -> None:
    lines = tmp_path / "answers.jsonl"
    lines.write_text(json.dumps({"id": 1, "db": "pets", "gold_sql": KINDS, "sql": DISTINCT}) + "\n")
    options = ["--mode", "bird-ex", "--mode", "spider", "--mode", "spider-keep-distinct", "--quiet"]

    done = CliRunner().invoke(app, ["compare", "--databases", str(pets), str(lines), *options])
    wrong = CliRunner().invoke(app, ["compare", "--databases", str(pets), str(lines), "--mode", "best"])

    assert json.loads(done.stdout)["modes"] == {"spider": 1.0, "spider-keep-distinct": 0.0, "bird-ex": 1.0}
    assert json.loads(done.stdout)["ex"] is False
    assert wrong.exit_code == 2
    assert all(mode in wrong.output for mode in MODES[:2])
