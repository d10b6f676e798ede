"""The words of a schema are found by any of their forms."""

from __future__ import annotations

from agent.knowledge.vocabulary import vocabulary
from eval.schema import Column, Schema, Table


def test_a_word_is_found_under_its_abbreviation() -> None:
    words = vocabulary(Schema("sqlite", (Table("grdn", (Column("id"), Column("size", "TEXT"))),)))

    assert words.affinities("gardens") == {"grdn": 0.9}
    assert words.affinities("zebra") == {}
    assert words.table_named("customers") is None
