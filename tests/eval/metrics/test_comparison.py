"""When two results are the same, in a user's words; and EM: what may differ between texts of the same query."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.databases.types import ExecutionResult
from eval.metrics.comparison import columns_within, same_result, same_set
from eval.metrics.items import exact_match
from tests.pairs import rows, sections


def ran(*rows: tuple[object, ...], columns: int | None = None) -> ExecutionResult:
    width = columns if columns is not None else len(rows[0])
    return ExecutionResult("success", tuple(f"c{i}" for i in range(width)), rows)


PAIRS = sections("metrics/comparison.txt")
"""What differs, and the rows of two results as Python writes them."""


@pytest.mark.parametrize(("same", "gold", "other"), [(k == "same", *p[1:]) for k in PAIRS for p in PAIRS[k]])
def test_which_rows_are_equal(same: bool, gold: str, other: str) -> None:
    names = {"Decimal": Decimal, "datetime": datetime, "date": date, "UTC": UTC, "math": math}
    one, two = (eval(rows, dict(names)) for rows in (gold, other))
    assert same_result(one, two, ordered=False) is same
    assert same_result(two, one, ordered=False) is same


def test_order_counts_only_where_gold_orders() -> None:
    gold, other = ran((1, "a"), (2, "b")), ran((2, "b"), (1, "a"))
    assert same_result(gold, other, ordered=False)
    assert not same_result(gold, other, ordered=True)
    assert same_result(ran((0.3,), (1,)), ran((0.1 + 0.2,), (1.0,)), ordered=True)


def test_nothing_is_nothing_whatever_the_columns_unless_they_count() -> None:
    assert same_result(ran(columns=1), ran(columns=2), ordered=False)
    assert not same_result(ran(columns=1), ran(columns=2), ordered=False, columns_count=True)
    assert same_result(ran(columns=2), ran(columns=2), ordered=False, columns_count=True)


def test_what_failed_or_was_cut_equals_nothing() -> None:
    failed = ExecutionResult("error", error="no such table: x")
    assert not same_result(ran(columns=1), failed, ordered=False)
    assert not same_result(failed, failed, ordered=False)
    cut = ExecutionResult("success", ("a",), ((1,),), truncated=True)
    assert not same_result(ran((1,)), cut, ordered=False)


def test_a_result_is_within_one_that_shows_further_columns() -> None:
    names = ran(("Ana",), ("Bo",))
    assert columns_within(names, ran((2, "Bo"), (1.0, "Ana")))
    assert columns_within(ran((1, 2)), ran((2, 3, 1)))
    assert not columns_within(ran((1, 2), (2, 1)), ran((1, 5), (2, 5)))
    assert not columns_within(names, ran((1, "Ana"), (2, "Bo"), (3, "Cy")))
    assert not columns_within(ran((1, 1)), ran((1, 2)))
    assert not columns_within(ran(columns=1), ran(columns=2))
    assert not columns_within(names, ExecutionResult("error", error="no such table: x"))


def test_birds_comparison_is_of_sets_in_column_order() -> None:
    assert same_set(ran((1,), (1,), (2,)), ran((2,), (1,)))
    assert same_set(ran((0.1 + 0.2,)), ran((0.3,)))
    assert not same_set(ran((1, "a")), ran(("a", 1)))
    assert not same_set(ran((1,)), ran(columns=1))
    assert not same_set(ran((1,)), ExecutionResult("timeout", error="too slow"))


CELLS = st.one_of(st.none(), st.integers(0, 2), st.sampled_from([0.5, 1.0, "a", b"a"]))


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.tuples(*[st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=4)] * 2)
    )
)
def test_agrees_with_counting_rows(pair: tuple[list[tuple[object, ...]], list[tuple[object, ...]]]) -> None:
    gold, other = pair
    assert same_result(gold, other, ordered=False) == (Counter(gold) == Counter(other))
    assert same_result(gold, other, ordered=True) == (gold == other)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 1e6), st.integers(0, 3)), min_size=1, max_size=20), st.randoms())
def test_noise_in_last_digits_and_shuffling_never_matter(rows: list[tuple[float, int]], dice: random.Random) -> None:
    noisy = [(x * (1 + dice.uniform(-1e-13, 1e-13)), n) for x, n in rows]
    dice.shuffle(noisy)
    assert same_result(rows, noisy, ordered=False)


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_the_work_does_not_grow_with_the_square_of_the_rows(noise: float) -> None:
    """How long 100,000 rows take is measured by `python -m experiments.speed.benchmark`."""

    def steps(count: int) -> int:
        """Lines of Python that run while so many rows are compared."""
        dice = random.Random(3)
        rows = [(i, f"name {i % 977}", *(dice.random() for _ in range(8))) for i in range(count)]
        shuffled = [tuple(v * (1 + noise) if isinstance(v, float) else v for v in row) for row in rows]
        dice.shuffle(shuffled)
        run, before = itertools.count(), sys.gettrace()

        def count_lines(*_: object) -> Any:
            next(run)
            return count_lines

        sys.settrace(count_lines)
        try:
            assert same_result(rows, shuffled, ordered=False)
        finally:
            sys.settrace(before)
        return next(run)

    assert 8_000 < steps(8_000) < 10 * steps(1_000)


GOLD = 'SELECT T1.Name, count(*) FROM singer AS T1 JOIN song AS T2 ON T1.id = T2.singer_id WHERE T1.Country = "France"'


@pytest.mark.parametrize(("same", "sql"), rows("metrics/exact_match.jsonl"))
def test_spelling_does_not_matter_and_meaning_does(same: bool, sql: str) -> None:
    assert exact_match(GOLD, sql, "sqlite") is same


def test_an_output_name_may_stand_for_its_expression_in_order_by() -> None:
    assert exact_match(
        "SELECT city, COUNT(*) FROM shop GROUP BY city ORDER BY COUNT(*) DESC",
        "SELECT city, COUNT(*) AS n FROM shop AS s GROUP BY s.city ORDER BY n DESC",
        "sqlite",
    )


def test_two_uses_of_one_table_stay_apart() -> None:
    pairs = "SELECT a.name FROM person a JOIN person b ON a.boss = b.id"
    assert exact_match(pairs, "SELECT x.name FROM person x JOIN person y ON x.boss = y.id", "duckdb")
    assert not exact_match(pairs, pairs.replace("SELECT a.name", "SELECT b.name"), "duckdb")
