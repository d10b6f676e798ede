"""The measuring command runs and stays above a floor on questions that the confidence was not learned from."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent.runtime.probability import STATED_DOUBT
from experiments.parser.evaluate import Outcome, fit, main, outcomes


@pytest.mark.bench
@pytest.mark.slow
def test_holds_its_floor_on_unseen_databases(
    bench_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path))
    dump = tmp_path / "outcomes.jsonl"
    assert main(["--bench", str(bench_dir), "--set", "spider_dev", "--dump", str(dump)]) == 0
    reply = [json.loads(line) for line in dump.read_text(encoding="utf-8").splitlines()]
    answered = [o for o in reply if o["confidence"] >= STATED_DOUBT and o["sql"]]
    assert sum(o["right"] for o in reply) / len(reply) >= 0.65
    assert sum(o["right"] for o in answered) / len(answered) >= 0.81
    assert "refused by the guard: 0" in capsys.readouterr().out


def test_a_missing_database_is_passed_over(tmp_path: Path) -> None:
    questions: list[dict[str, object]] = [{"id": "1", "db": "absent", "question": "How many?", "gold_sql": "SELECT 1"}]
    assert list(outcomes(tmp_path, questions)) == []


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
