"""Gold queries of SQLite in another dialect mean what SQLite documents."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from experiments.engines.golds import translated

SCHEMA = Schema("sqlite", (Table("t", (Column("name", "TEXT"), Column("total", "REAL"), Column("city", "TEXT"))),))


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (
            "SELECT name, MAX(total) FROM t GROUP BY city",
            "SELECT max_by(name, total) AS name, MAX(total) FROM t GROUP BY city",
        ),
        (
            "SELECT name, MIN(total), COUNT(*) FROM t GROUP BY city",
            "SELECT any_value(name) AS name, MIN(total), COUNT(*) FROM t GROUP BY city",
        ),
        ('SELECT "name" FROM t WHERE city = "Leeds"', "SELECT `name` FROM t WHERE city = 'Leeds'"),
    ],
)
def test_a_column_beside_one_extreme_is_that_of_its_row(gold: str, expected: str) -> None:
    assert translated(gold, SCHEMA, "spark") == expected
