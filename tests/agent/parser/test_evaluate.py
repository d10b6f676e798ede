"""The measuring command runs and stays above a floor on questions that the confidence was not learned from."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.parser.evaluate import Outcome, fit, outcomes
from tests.writing import sqlite_file


def test_each_accepted_query_is_compared_by_its_own_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "databases").mkdir()
    script = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people (name) VALUES "
    sqlite_file(tmp_path / "databases/firm.sqlite", script + "('Ada'), ('Bob'), ('Cid')")
    question: dict[str, object] = {"id": "1", "db": "firm", "question": "What are the names of the people?"}
    refused, ordered = "DELETE FROM people", "SELECT name FROM people ORDER BY name DESC"

    accepted = ([ordered], ["SELECT name FROM people"])
    one, other = outcomes(tmp_path, [{**question, "gold_sql": refused, "alt_gold_sql": also} for also in accepted])

    assert (one.right, other.right) == (False, True)


def test_a_learned_forest_tells_right_from_wrong() -> None:
    observed = [
        Outcome(str(k), "d", "q", "g", "s", 0.5, k % 2 == 0, "", "-", 1.0, features={"doubt": float(k % 2)})
        for k in range(400)
    ]
    learned = fit(observed)
    assert learned.probability({"doubt": 1.0}) < 0.3 < 0.7 < learned.probability({})
