"""The measuring command runs and stays above a floor on questions that the confidence was not learned from."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from experiments.parser.evaluate import Outcome, fit, outcomes


def test_each_accepted_query_is_compared_by_its_own_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "databases").mkdir()
    with closing(sqlite3.connect(tmp_path / "databases/firm.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO people (name) VALUES (?)", [("Ada",), ("Bob",), ("Cid",)])
    question: dict[str, object] = {"id": "1", "db": "firm", "question": "What are the names of the people?"}
    refused, ordered = "DELETE FROM people", "SELECT name FROM people ORDER BY name DESC"

    one, other = outcomes(
        tmp_path,
        [
            {**question, "gold_sql": refused, "alt_gold_sql": [ordered]},
            {**question, "gold_sql": refused, "alt_gold_sql": ["SELECT name FROM people"]},
        ],
    )

    assert (one.right, other.right) == (False, True)


def test_a_learned_forest_tells_right_from_wrong() -> None:
    observed = [
        Outcome(str(k), "d", "q", "g", "s", 0.5, k % 2 == 0, "", "-", 1.0, features={"doubt": float(k % 2)})
        for k in range(400)
    ]
    learned = fit(observed)
    assert learned.probability({"doubt": 1.0}) < 0.3 < 0.7 < learned.probability({})
