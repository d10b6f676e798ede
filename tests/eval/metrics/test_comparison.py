"""When two results are the same, in a user's words."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.databases.types import ExecutionResult
from eval.metrics.comparison import columns_within, same_result, same_set


def ran(*rows: tuple[object, ...], columns: int | None = None) -> ExecutionResult:
    width = columns if columns is not None else len(rows[0])
    return ExecutionResult("success", tuple(f"c{i}" for i in range(width)), rows)


Table = list[tuple[object, ...]]
SAME: dict[str, tuple[Table, Table]] = {
    "same rows in another order": ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
    "a number and the text that writes it": ([(3, "x"), (2.5, "y")], [("3", "x"), ("2.5", "y")]),
    "a reference kept as text, a key kept as a number, and NULL": ([("3",), (None,)], [(None,), (3,)]),
    "imprecise in the column that rows are sorted by": ([(0.3, 2), (0.30000000000000004, 1)], [(0.3, 1), (0.3, 2)]),
    "an integer and the same float": ([(1,)], [(1.0,)]),
    "a decimal and the same float": ([(Decimal("2.50"),)], [(2.5,)]),
    "a float that a sum left imprecise": ([(0.3, "x")], [(0.1 + 0.2, "x")]),
    "whole number against an imprecise float": ([(5,)], [(5.000000000001,)]),
    "imprecise in one row only": ([(0.3,), (0.3,)], [(0.3,), (0.30000000000000004,)]),
    "nearly zero and zero": ([(0,)], [(1e-17,)]),
    "true and one": ([(True,)], [(1,)]),
    "NULL and NULL among text and numbers": ([(None,), (1,), ("a",)], [("a",), (None,), (1,)]),
    "NaN and NaN": ([(math.nan,)], [(Decimal("NaN"),)]),
    "the same bytes": ([(b"\x00\xff",)], [(bytearray(b"\x00\xff"),)]),
    "a date and its ISO text": ([(date(2024, 2, 29),)], [("2024-02-29",)]),
    "a timestamp at midnight and its date": ([(datetime(2024, 2, 29),)], [(date(2024, 2, 29),)]),
    "lists": ([([1, None],)], [([1.0, None],)]),
    "infinity": ([(math.inf,)], [(math.inf,)]),
    "nothing and nothing": ([], []),
}

DIFFERENT: dict[str, tuple[Table, Table]] = {
    "a row twice": ([(1,), (1,), (2,)], [(1,), (2,), (2,)]),
    "one row more": ([(1,)], [(1,), (1,)]),
    "another value": ([(1, "a")], [(1, "b")]),
    "values swapped between rows": ([(1, 2), (3, 4)], [(1, 4), (3, 2)]),
    "a column more": ([(1,)], [(1, 1)]),
    "a column twice in place of another": ([(1, 1, 2)], [(1, 2, 2)]),
    "columns in another order": ([(1, "a"), (2, "b")], [("a", 1), ("b", 2)]),
    "a number and text that is no plain number": ([(7,)], [("007",)]),
    "a number and text with a zero too many": ([(1,)], [("1.0",)]),
    "texts that write one number": ([("1",)], [("01",)]),
    "NULL and zero": ([(None,)], [(0,)]),
    "NULL and empty text": ([(None,)], [("",)]),
    "text in another case": ([("France",)], [("france",)]),
    "text and bytes": ([("a",)], [(b"a",)]),
    "rounded to two digits": ([(33.33,)], [(33.333333,)]),
    "neighbouring large ids": ([(12345678,)], [(12345679,)]),
    "neighbouring large ids as floats": ([(12345678.0,)], [(12345679,)]),
    "an hour apart": ([(datetime(2024, 1, 1, 1, tzinfo=UTC),)], [(datetime(2024, 1, 1, 2, tzinfo=UTC),)]),
    "infinity and a large number": ([(math.inf,)], [(1e308,)]),
}


@pytest.mark.parametrize("name", SAME)
def test_equal(name: str) -> None:
    gold, other = SAME[name]
    assert same_result(gold, other, ordered=False)
    assert same_result(other, gold, ordered=False)


@pytest.mark.parametrize("name", DIFFERENT)
def test_not_equal(name: str) -> None:
    gold, other = DIFFERENT[name]
    assert not same_result(gold, other, ordered=False)
    assert not same_result(other, gold, ordered=False)


def test_order_counts_only_where_gold_orders() -> None:
    gold, other = ran((1, "a"), (2, "b")), ran((2, "b"), (1, "a"))
    assert same_result(gold, other, ordered=False)
    assert not same_result(gold, other, ordered=True)
    assert same_result(ran((0.3,), (1,)), ran((0.1 + 0.2,), (1.0,)), ordered=True)


def test_column_names_do_not_count_but_their_number_does() -> None:
    gold = ExecutionResult("success", ("count(*)",), ((3,),))
    assert same_result(gold, ExecutionResult("success", ("n",), ((3,),)), ordered=False)
    assert not same_result(gold, ExecutionResult("success", ("n", "m"), ((3, 3),)), ordered=False)


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
def test_noise_in_the_last_digits_and_shuffling_never_matter(
    rows: list[tuple[float, int]], dice: random.Random
) -> None:
    noisy = [(x * (1 + dice.uniform(-1e-13, 1e-13)), n) for x, n in rows]
    dice.shuffle(noisy)
    assert same_result(rows, noisy, ordered=False)


def _mixed(dice: random.Random, i: int) -> tuple[object, ...]:
    return (
        i,
        f"name {i % 977}",
        i * 0.37,
        None if i % 3 else "b",
        dice.random(),
        i % 7,
        b"x",
        "2024-01-05",
        i // 9,
        2.5,
    )


def _fractions(dice: random.Random, _: int) -> tuple[object, ...]:
    return tuple(dice.random() for _ in range(10))


@pytest.mark.parametrize("row", [_mixed, _fractions])
@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_the_time_does_not_grow_with_the_square_of_the_rows(
    row: Callable[[random.Random, int], tuple[object, ...]], noise: float
) -> None:
    """How long 100,000 rows take is measured by `python -m experiments.speed.benchmark`."""

    def seconds(count: int) -> float:
        dice = random.Random(3)
        rows = [row(dice, i) for i in range(count)]
        shuffled = [tuple(v * (1 + noise) if isinstance(v, float) else v for v in r) for r in rows]
        dice.shuffle(shuffled)
        started = time.process_time()
        assert same_result(rows, shuffled, ordered=False)
        return time.process_time() - started

    assert seconds(64_000) < 16 * 16 / 2 * min(seconds(4_000) for _ in range(3))
