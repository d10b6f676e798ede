"""Amounts stored in cents are asked for and told in whole units, whoever wrote the query."""

from __future__ import annotations

import pytest

from agent.parser.minor_units import sql_in_whole_units

PAIRS = [
    (
        "payments over 40000",
        "SELECT id FROM p WHERE amount_cents > 40000",
        "SELECT id FROM p WHERE amount_cents > 4000000",
    ),
    ("payments over 40000", "SELECT id FROM p WHERE amount_cents > 4000000", None),
    (
        "over 9.5 on average",
        "SELECT m FROM p GROUP BY m HAVING AVG(amount_cents) > 9.5",
        "SELECT m FROM p GROUP BY m HAVING AVG(amount_cents) > 950",
    ),
    (
        "between 5 and 7",
        "SELECT id FROM p WHERE fee_cents BETWEEN 5 AND 7",
        "SELECT id FROM p WHERE fee_cents BETWEEN 500 AND 700",
    ),
    (
        "total",
        "SELECT SUM(amount_cents) AS total_amount_cents FROM p ORDER BY total_amount_cents",
        "SELECT SUM(amount_cents) / 100.0 AS total_amount FROM p ORDER BY total_amount",
    ),
    ("total", "SELECT SUM(amount_cents) / 100.0 FROM p", None),
    ("value", "SELECT SUM(kilos * price_cents) FROM p", "SELECT SUM(kilos * price_cents / 100.0) FROM p"),
    (
        "amounts",
        "SELECT amount_cents FROM p ORDER BY amount_cents",
        "SELECT amount_cents / 100.0 AS amount FROM p ORDER BY amount_cents",
    ),
    ("how many", "SELECT COUNT(amount_cents) FROM p", None),
    ("sold below reserve", "SELECT id FROM p WHERE sold_cents < reserve_cents", None),
    ("total amount in cents", "SELECT SUM(amount_cents) FROM p", None),
    ("rates over 5", "SELECT id FROM p WHERE rate_per_cent > 5", None),
    ("centres over 5", "SELECT id FROM p WHERE centre > 5", None),
    (
        "paid on day 5",
        "SELECT id FROM p WHERE amount_cents > 5 AND day = 5",
        "SELECT id FROM p WHERE amount_cents > 500 AND day = 5",
    ),
    ("broken", "SELECT FROM WHERE", None),
]


@pytest.mark.parametrize(("question", "sql", "whole"), PAIRS)
def test_cents_are_told_in_whole_units(question: str, sql: str, whole: str | None) -> None:
    assert sql_in_whole_units(sql, "sqlite", question) == whole
