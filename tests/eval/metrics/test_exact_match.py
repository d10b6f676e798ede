"""EM: what may differ between two texts that count as the same query."""

from __future__ import annotations

import pytest

from eval.metrics.items import exact_match
from tests.pairs import rows

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
    assert exact_match(
        pairs, pairs.replace("a.", "x.").replace(" a ", " x ").replace("b", "y").replace("yoss", "boss"), "duckdb"
    )
    assert not exact_match(pairs, pairs.replace("SELECT a.name", "SELECT b.name"), "duckdb")
