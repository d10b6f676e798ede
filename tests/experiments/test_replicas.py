"""Test suites made anew: replicas keep the original's constraints, differ in their rows, and find out lucky answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.metrics.items import compare_items
from eval.metrics.suites import suite_databases, suite_files
from experiments.replicas import make_suite
from experiments.replicas.selection import Chosen
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

GOLDS = (FIXTURES / "experiments/replicas_golds.sql").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = (FIXTURES / "experiments/replicas.sql").read_text(encoding="utf-8")
    return sqlite_file(tmp_path_factory.mktemp("original") / "small.sqlite", script)


@pytest.fixture(scope="module")
def chosen(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Chosen:
    return make_suite(original, GOLDS, tmp_path_factory.mktemp("suites") / "small", replicas=4, candidates=10)


def test_replicas_keep_every_constraint_and_differ_from_the_original(original: Path, chosen: Chosen) -> None:
    assert chosen.golds == len(GOLDS)
    assert chosen.failing_golds == ()
    assert 1 <= len(chosen.files) <= 5
    with closing(sqlite3.connect(original)) as connection:
        before = connection.execute("SELECT * FROM customers").fetchall()
    for file in chosen.files:
        with closing(sqlite3.connect(file)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            rows = connection.execute("SELECT * FROM customers").fetchall()
            assert rows
            assert rows != before
            assert all(age is None or age > 0 for *_, age in rows)
            codes = [code for (code,) in connection.execute("SELECT code FROM orders WHERE code IS NOT NULL")]
            assert len(codes) == len(set(codes))
            big = connection.execute("SELECT * FROM orders WHERE amount > 10").fetchall()
            assert connection.execute("SELECT * FROM big_orders").fetchall() == big


def test_the_suite_tells_more_mutants_and_finds_out_a_lucky_answer(original: Path, chosen: Chosen) -> None:
    assert chosen.told_by_original < chosen.told <= chosen.mutants
    assert chosen.told + chosen.never_told == chosen.mutants
    lucky = "SELECT name FROM customers WHERE city = 'Oslo' OR name = 'Ann'"
    folder = chosen.files[0].parent
    suite = suite_files(folder.parent, "small", folder.with_name("cache"))
    with open_database(original) as database:
        lucky_one = compare_items(GOLDS[1], lucky, database, suite=suite_databases(suite))
        gold_itself = compare_items(GOLDS[1], GOLDS[1], database, suite=suite_databases(suite))
    assert (lucky_one.ex, lucky_one.ts) == (True, False)
    assert (gold_itself.ex, gold_itself.ts) == (True, True)


def test_ves_weighs_a_right_answer_by_time_and_a_wrong_one_with_nothing(original: Path) -> None:
    gold = "SELECT count(*) FROM customers"
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
        "SELECT count(*) - 200000 + (SELECT count(*) FROM customers) FROM n"
    )
    with open_database(original) as database:
        same, slower, wrong = (compare_items(gold, sql, database, timed=True) for sql in (gold, slow, "SELECT 17"))
    assert (same.ves, slower.ex, wrong.ves) == (1.0, True, 0.0)
    assert slower.ves is not None
    assert 0.0 < slower.ves < 0.5
