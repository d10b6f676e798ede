"""What a second reading says of a query: how rows differ is told apart."""

from __future__ import annotations

import dataclasses

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import SecondOpinion
from eval.scoring.evidence.agreement import observe
from eval.scoring.evidence.question_reading import Reading

NAMES = "SELECT name FROM customers WHERE country = 'France'"


def _seen(database: Database, sql: str, read: str) -> set[str]:
    reading = examine(Query("", read), database)
    opinion = SecondOpinion(read, reading.facts, reading.result, confidence=0.8)
    case = dataclasses.replace(examine(Query("Which customers are in France?", sql), database), second_opinion=opinion)
    return {o.name for o in observe(Reading(case))}


@pytest.mark.parametrize(
    ("sql", "read", "names"),
    [
        (NAMES, 'SELECT c."name" FROM customers AS c WHERE c."country" = \'France\'', set()),
        (NAMES, "SELECT name FROM customers WHERE city IN ('Paris', 'Lyon')", set()),
        (NAMES, f"{NAMES} ORDER BY name DESC", {"second_reading_ordered_otherwise"}),
        (NAMES.replace("France", "Peru"), NAMES.replace("France", "Chile"), {"second_reading_empty_too"}),
    ],
)
def test_the_same_rows(shop: Database, sql: str, read: str, names: set[str]) -> None:
    assert _seen(shop, sql, read) == {"second_reading_agrees", "second_reading_sure", *names}


@pytest.mark.parametrize(
    ("sql", "read", "names"),
    [
        (NAMES, "SELECT name FROM customers", set()),
        ("SELECT name FROM customers", NAMES, {"more_rows_than_second_reading", "value_missing"}),
        (NAMES.replace("France", "Peru"), NAMES, {"empty_beside_second_reading", "value_missing"}),
        (
            "SELECT COUNT(*) FROM customers WHERE country = 'FR'",
            "SELECT COUNT(*) FROM customers WHERE country = 'France'",
            {"zero_beside_second_reading", "value_missing"},
        ),
    ],
)
def test_other_rows(shop: Database, sql: str, read: str, names: set[str]) -> None:
    assert _seen(shop, sql, read) == {"second_reading_differs", *names}
