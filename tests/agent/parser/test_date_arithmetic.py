"""Distances between days follow the calendar, also at the ends of months."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.parser.date_arithmetic import before, months_later


@pytest.mark.parametrize(
    ("day", "count", "unit", "expected"),
    [
        ("2024-03-31", 1, "month", "2024-02-29"),
        ("2023-03-31", 1, "month", "2023-02-28"),
        ("2024-03-31", 2, "month", "2024-01-31"),
        ("2024-03-31", 1, "quarter", "2023-12-31"),
        ("2024-03-31", 1, "day", "2024-03-30"),
        ("2024-03-01", 1, "week", "2024-02-23"),
        ("2024-02-29", 1, "year", "2023-02-28"),
        ("2024-02-29", 4, "year", "2020-02-29"),
        ("2024-03-31", 5000, "year", "0001-01-31"),
    ],
)
def test_a_distance_back_ends_on_a_day_that_exists(day: str, count: int, unit: str, expected: str) -> None:
    assert before(dt.date.fromisoformat(day), count, unit) == dt.date.fromisoformat(expected)


def test_a_later_month_has_its_own_last_day() -> None:
    assert months_later(dt.date(2024, 12, 31), 2) == dt.date(2025, 2, 28)
