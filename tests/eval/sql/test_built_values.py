"""Values that a statement builds step by step, and what Spark's driver makes before it reads a row."""

from __future__ import annotations

import pytest

from eval.schema import Dialect
from eval.sql import check, parse

GROWING: tuple[tuple[Dialect, str], ...] = (
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> concat(a, a))"),
    ("spark", "SELECT reduce(sequence(1, 60), 'x', (a, b) -> a || a)"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> `A` || a)"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> replace(a, 'x', 'xx'))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> regexp_replace(a, 'x', 'xx'))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> repeat(a, 2))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> hex(a))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> base64(a))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> to_json(array(a)))"),
    ("spark", "SELECT aggregate(sequence(1, 60), 'x', (a, b) -> array_join(array(a, a), ''))"),
    ("spark", "SELECT aggregate(sequence(1, 60), array(1), (a, b) -> flatten(array(a, a)))"),
    ("spark", "SELECT aggregate(s, named_struct('s', 'x'), (a, b) -> named_struct('s', a.s || a.s)) FROM t"),
    ("clickhouse", "SELECT arrayFold((a, b) -> concat(a, a), range(60), 'x')"),
    ("clickhouse", "SELECT arrayFold((a, b) -> a || a, range(60), 'x')"),
    ("clickhouse", "SELECT arrayFold((a, b) -> arrayConcat(a, a), range(60), [1])"),
    ("clickhouse", "SELECT arrayFold((a, b) -> format('{}{}', a, a), range(60), 'x')"),
    ("clickhouse", "SELECT arrayFold((a, b) -> replaceAll(a, 'x', 'xx'), range(60), 'x')"),
    ("clickhouse", "SELECT arrayFold((a, b) -> arrayStringConcat([a, a]), range(60), 'x')"),
    ("duckdb", "SELECT list_reduce(range(60), lambda a, b: a || a, 'x')"),
    ("duckdb", "SELECT reduce([s, s], lambda a, b: concat(a, a)) FROM t"),
    ("sqlite", "WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT printf('%s%s', s, s) FROM r) SELECT s FROM r"),
)
STEADY: tuple[tuple[Dialect, str], ...] = (
    ("spark", "SELECT aggregate(s, 0, (a, b) -> a + b + a) FROM t"),
    ("spark", "SELECT aggregate(s, '', (a, b) -> if(a = '', b, concat(a, ',', b))) FROM t"),
    ("spark", "SELECT aggregate(s, 0, (a, b) -> CASE WHEN a > b THEN a ELSE b END) FROM t"),
    (
        "spark",
        "SELECT aggregate(s, named_struct('s', 0, 'n', 0), (a, b) -> named_struct('s', a.s + b, 'n', a.n + 1), "
        "a -> a.s / a.n) FROM t",
    ),
    ("clickhouse", "SELECT arrayFold((a, b) -> a || ',' || b, s, '') FROM t"),
    ("clickhouse", "SELECT arrayFold((a, b) -> greatest(a, b) + a, s, toInt64(0)) FROM t"),
    ("duckdb", "SELECT list_reduce(s, lambda a, b: a || ',' || b) FROM t"),
    ("spark", "SELECT stack(2, 1, 2)"),
    ("spark", "SELECT window(d, '10 minutes', '5 minutes') FROM t"),
    ("spark", "SELECT window(d, '1 week') FROM t"),
    ("spark", "SELECT * FROM range(0, 10, 1, 4)"),
)
MADE_BY_THE_DRIVER = (
    "SELECT stack(1000000000, 1)",
    "SELECT stack(500 * 500, 1)",
    "SELECT * FROM range(0, 10, 1, 1000000000)",
    "SELECT window(d, '100000 weeks', '1 microsecond') FROM t",
    "SELECT window(d, '1 year', '1 second') FROM t",
    "SELECT window(d, concat('9', ' days'), '1 second') FROM t",
    "SELECT count_min_sketch(n, 0.0000000001, 0.99, 1) FROM t",
)


@pytest.mark.parametrize(("dialect", "sql"), GROWING)
def test_a_step_that_makes_a_value_grow_is_refused(dialect: Dialect, sql: str) -> None:
    reason = check(parse(sql, dialect)).reason
    assert reason is not None
    assert "each step" in reason


@pytest.mark.parametrize(("dialect", "sql"), STEADY)
def test_ordinary_steps_and_parts_pass(dialect: Dialect, sql: str) -> None:
    assert check(parse(sql, dialect)).reason is None


@pytest.mark.parametrize("sql", MADE_BY_THE_DRIVER)
def test_what_the_driver_makes_is_bounded(sql: str) -> None:
    assert not check(parse(sql, "spark")).allowed
