"""The words of a schema: found by any of their forms, at once also where there are thousands of tables."""

from __future__ import annotations

import time

from agent.knowledge.vocabulary import vocabulary
from eval.schema import Column, Schema, Table
from tests.clock import unit

PARTS = ("order", "invoice", "customer", "payment", "visit", "amount", "status", "city", "owner", "rating")


def _schema(tables: int) -> Schema:
    return Schema(
        "sqlite",
        tuple(
            Table(
                f"{PARTS[i % 10]}_{PARTS[i // 10 % 10]}{i}",
                tuple(Column(f"{PARTS[(i + k) % 10]}_{PARTS[(i * k) % 10]}_{k}", "TEXT") for k in range(10)),
            )
            for i in range(tables)
        ),
    )


def test_two_thousand_tables_are_read_quickly() -> None:
    schema = _schema(2_000)
    begun = time.process_time()
    words = vocabulary(schema)
    built = time.process_time() - begun
    for _ in range(100):
        words.affinities("customers")
        words.table_named("visits")
    looked_up = time.process_time() - begun - built

    assert len(words.columns) == 20_000
    assert built < 60 * unit()
    assert looked_up < 10 * unit()


def test_a_word_is_found_under_its_abbreviation() -> None:
    words = vocabulary(Schema("sqlite", (Table("grdn", (Column("id"), Column("size", "TEXT"))),)))

    assert words.affinities("gardens") == {"grdn": 0.9}
    assert words.affinities("zebra") == {}
    assert words.table_named("customers") is None
