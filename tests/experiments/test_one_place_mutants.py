"""Gold changed in one place: one mutant a kind, the original left alone, the table honest about gold."""

from __future__ import annotations

import random

from eval.schema import Column, Schema, Table
from eval.sql import parse
from experiments.mutations.one_place import CHANGES, one_place_mutants

SCHEMA = Schema(
    dialect="sqlite",
    tables=(Table("orders", (Column("city", "TEXT"), Column("total", "REAL"), Column("day", "TEXT"))),),
)
SQL = (
    "SELECT city, SUM(total) FROM orders WHERE day >= '2024-01-01' AND day < '2025-01-01' AND city = 'Rome' "
    "AND total > 5 GROUP BY city ORDER BY city"
)


def test_each_kind_changes_one_place_and_leaves_the_original_alone() -> None:
    tree = parse(SQL, "sqlite").tree
    assert tree is not None
    made = dict(one_place_mutants(tree, SCHEMA, lambda *_: ("Rome", "Oslo"), random.Random(1)))
    assert set(made) == set(CHANGES)
    assert tree == parse(SQL, "sqlite").tree
    years = {made["year shifted"].sql().count(f"'{year}-01-01'") for year in (2023, 2025, 2026)}
    assert years == {0, 1}
    assert "city = 'Oslo'" in made["another stored value"].sql()
    assert "ORDER BY city DESC" in made["order flipped"].sql()
