"""Gold queries of SQLite in another dialect mean what SQLite documents."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from experiments.engines.golds import translated
from tests.pairs import rows

SCHEMA = Schema("sqlite", (Table("t", (Column("name", "TEXT"), Column("total", "REAL"), Column("city", "TEXT"))),))


@pytest.mark.parametrize(("gold", "expected"), rows("experiments/gold_translations.jsonl"))
def test_a_column_beside_one_extreme_is_that_of_its_row(gold: str, expected: str) -> None:
    assert translated(gold, SCHEMA, "spark") == expected
