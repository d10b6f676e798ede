"""The formulas of single measurements."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import Settings
from eval.schema import Column, Schema, Table
from eval.sql import parse
from experiments.ablation.pooled import DRAWS, groups_of, pooled, pooled_pairs
from experiments.ablation.seeds import drawn_lines, seeded
from experiments.ablation.variants import ItemResult
from experiments.engines.golds import translated
from experiments.mutations.one_place import CHANGES, one_place_mutants
from experiments.speed.gate import COMMAND, STORED, grown
from experiments.speed.scenarios import SCENARIOS
from tests.pairs import rows

ONE = ItemResult(
    variant="v", id="q", db="d", sql="SELECT 1", va=True, em=False, ex=False, ts=None, gold_error=None, error=None,
    status="success", attempts=1, calls=1, input_tokens=10, output_tokens=5, cost_usd=0.01, seconds=1.0,
)  # fmt: skip


def run(name: str, right: str) -> tuple[str, list[ItemResult]]:
    """A variant's results: 1 for a question that it has right."""
    return name, [replace(ONE, variant=name, id=str(n), ex=mark == "1") for n, mark in enumerate(right)]


def test_a_question_counts_once_with_its_mean_over_seeds() -> None:
    results = [run("a #1", "1100"), run("a #2", "1010"), run("b", "1111")]
    runs = groups_of(results, {"a #1": "a", "a #2": "a", "b": "b"})
    a, b = pooled(runs)
    assert (a.group, a.seeds, a.questions, a.ex.value) == ("a", 2, 4, 0.5)
    assert a.ex.low < 0.5 < a.ex.high
    assert (b.seeds, b.ex.low, b.ex.value, b.ex.high) == (1, 1.0, 1.0, 1.0)
    assert pooled(runs) == [a, b]  # the draws are the same each time


def test_every_pair_is_compared_question_by_question() -> None:
    results = [run("low", "0" * 30), run("high", "1" * 30), run("same", "1" * 30)]
    pairs = {(p.first, p.second): p for p in pooled_pairs(groups_of(results, {}))}
    assert list(pairs) == [("low", "high"), ("low", "same"), ("high", "same")]
    assert (pairs["low", "high"].difference.value, pairs["low", "high"].p) == (1.0, 1 / DRAWS)
    assert (pairs["high", "same"].difference.value, pairs["high", "same"].p) == (0.0, 1.0)


def test_a_seed_draws_half_of_the_examples_and_samples(tmp_path: Path) -> None:
    lines = [f'{{"question": "q{n}", "sql": "SELECT {n}"}}\n' for n in range(20)]
    file = tmp_path / "examples.jsonl"
    file.write_text("".join(lines))
    config = Settings(_env_file=None, TEXT2SQL_EXAMPLES=str(file))
    one, two = (seeded(config, seed, 0.3, tmp_path) for seed in (1, 2))
    assert (one.model.temperature, one.model.extra_body) == (0.3, {"seed": 1})
    drawn = [Path(str(c.judging.examples)).read_text().splitlines(keepends=True) for c in (one, two)]
    assert [len(each) for each in drawn] == [10, 10]
    assert drawn[0] != drawn[1]
    assert all(line in lines for each in drawn for line in each)
    assert drawn[0] == drawn_lines("".join(lines), 1)


@pytest.mark.parametrize(("figure", "before", "now", "passes"), rows("experiments/grown.jsonl"))
def test_what_grew_by_over_a_tenth_fails(figure: str, before: float, now: float, passes: bool) -> None:
    assert (grown({figure: now}, {figure: before}) == []) == passes


def test_each_kind_of_work_has_its_figures() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert set(stored) == {COMMAND, *SCENARIOS}


@pytest.mark.parametrize(("gold", "expected"), rows("experiments/gold_translations.jsonl"))
def test_a_column_beside_one_extreme_is_that_of_its_row(gold: str, expected: str) -> None:
    columns = (Column("name", "TEXT"), Column("total", "REAL"), Column("city", "TEXT"))
    assert translated(gold, Schema("sqlite", (Table("t", columns),)), "spark") == expected


def test_each_kind_changes_one_place_and_leaves_the_original_alone() -> None:
    columns = (Column("city", "TEXT"), Column("total", "REAL"), Column("day", "TEXT"))
    sql = "SELECT city, SUM(total) FROM orders WHERE day >= '2024-01-01' AND day < '2025-01-01' AND city = 'Rome' "
    sql += "AND total > 5 GROUP BY city ORDER BY city"
    tree = parse(sql, "sqlite").tree
    assert tree is not None
    made = dict(
        one_place_mutants(
            tree, Schema("sqlite", (Table("orders", columns),)), lambda *_: ("Rome", "Oslo"), random.Random(1)
        )
    )
    assert set(made) == set(CHANGES)
    assert tree == parse(sql, "sqlite").tree
    years = {made["year shifted"].sql().count(f"'{year}-01-01'") for year in (2023, 2025, 2026)}
    assert years == {0, 1}
    assert "city = 'Oslo'" in made["another stored value"].sql()
    assert "ORDER BY city DESC" in made["order flipped"].sql()
