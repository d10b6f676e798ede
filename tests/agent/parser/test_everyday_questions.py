"""Questions as people type them, to small databases of all trades (`fixtures/parser/everyday`).

Each line of `questions.jsonl` names a database and a question, and what of these holds for its reading:

- `rows` that it means, in any order, or with `ordered` in this one; on the day `today`, if not on 15 June 2024
- `confidence`: `sure`, `doubtful` or `declined`; or that it `abstains`
- `sql`: patterns that the statement matches, `without`: what does not stand in it
- `told` and `untold`: what the interpretation says or does not say
- `not_understood`: words that are named so (`[]`: none, `?`: any)

`rule` says what of it matters.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent.parser.doubt_registry import NEVER_SURE
from agent.runtime.probability import STATED_DOUBT
from tests.asked import TODAY, Asked, databases_to_ask

_FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "parser" / "everyday"
_LINES = [json.loads(line) for line in (_FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


_BOUNDS = {"sure": (STATED_DOUBT, 1.0), "doubtful": (0.0, STATED_DOUBT - 1e-9), "declined": (0.0, NEVER_SURE)}


@pytest.mark.parametrize("line", _LINES, ids=[f"{line['db']}: {line['question']}"[:70] for line in _LINES])
def test_reads_what_people_mean(everyday: Asked, line: dict[str, Any]) -> None:
    database, question, rule = line["db"], line["question"], line.get("rule")
    today = dt.date.fromisoformat(line.get("today", TODAY.isoformat()))
    reading = everyday.reading(database, question, today=today)
    statement = " ".join(reading.sql.split())
    if "rows" in line:
        rows = list(map(list, everyday.rows(database, question, today)))
        order = (lambda row: 0) if line.get("ordered") else repr
        assert sorted(rows, key=order) == sorted(line["rows"], key=order), (rule, statement)
    if "confidence" in line:
        least, most = _BOUNDS[line["confidence"]]
        assert least <= reading.confidence <= most, (rule, statement)
    if "abstains" in line:
        assert reading.abstained, (rule, statement)
    for pattern in line.get("sql", ()):
        assert re.search(pattern, statement), (rule, statement)
    for part in line.get("without", ()):
        assert part.casefold() not in statement.casefold(), (rule, statement)
    for part in line.get("told", ()):
        assert part in reading.interpretation, rule
    for part in line.get("untold", ()):
        assert part not in reading.interpretation, rule
    named = line.get("not_understood")
    if named == ["?"]:
        assert reading.not_understood, rule
    elif named is not None:
        assert set(named) <= set(reading.not_understood) if named else not reading.not_understood, rule


@pytest.mark.parametrize(
    "question", ["insured trips per skipper", "which boat is the prettiest", "trips with a film crew", "shanties"]
)
def test_offers_questions_that_it_answers_itself(everyday: Asked, question: str) -> None:
    offered = everyday.reading("ferries", question, threshold=0.9).alternatives
    assert offered
    for other in offered:
        again = everyday.reading("ferries", other)
        assert again.confidence >= STATED_DOUBT
        assert again.not_understood == ()


@pytest.mark.parametrize("question", ["how much revenue will we make in 2026?", "What will our sales be next year?"])
def test_a_forecast_is_declined(everyday: Asked, question: str) -> None:
    reading = everyday.reading("agency", question)
    assert reading.abstained
    assert "forecast" in reading.interpretation


def test_a_similar_word_is_named_in_the_doubt(everyday: Asked) -> None:
    doubted = everyday.reading("hire", "hires that were completed")
    assert "“completed” is assumed to mean ended_at is filled in" in doubted.interpretation


@pytest.mark.parametrize(
    "question",
    ["top 2 clients by revenue in 2023", "client with the highest revenue in 2023", "revenue by client in 2023"],
)
def test_a_period_restricts_the_table_of_the_figure(everyday: Asked, question: str) -> None:
    assert "issued_on >= '2023-01-01'" in " ".join(everyday.reading("hire", question).sql.split())


def test_a_thing_with_versions_is_counted_in_doubt(tmp_path: Path) -> None:
    script = """CREATE TABLE dim_client (client_key INTEGER PRIMARY KEY, client_id INTEGER, name TEXT, city TEXT,
        valid_from DATE, valid_to DATE, is_current INTEGER);
    INSERT INTO dim_client VALUES (1, 7, 'Ada', 'Oslo', '2023-01-01', '2024-01-01', 0),
        (2, 7, 'Ada', 'Bergen', '2024-01-01', NULL, 1), (3, 8, 'Bea', 'Oslo', '2023-05-01', NULL, 1);"""
    with databases_to_ask(tmp_path, {"warehouse": script}) as asked:
        reading = asked.reading("warehouse", "how many clients are there")
        assert reading.confidence < STATED_DOUBT
        assert "one version of a thing" in reading.interpretation


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("how many rows are active?", "SELECT COUNT(*) AS members FROM members WHERE active = 'yes'"),
        ("how many records have newsletter", "SELECT COUNT(*) AS members FROM members WHERE newsletter = 'Y'"),
        ("how many rows are there", "SELECT COUNT(*) AS members FROM members"),
    ],
)
def test_rows_of_the_only_table_are_counted(tmp_path: Path, question: str, sql: str) -> None:
    script = """CREATE TABLE members (member TEXT, active TEXT, fee REAL, newsletter TEXT);
    INSERT INTO members VALUES ('Ann', 'yes', 30, 'Y'), ('Bob', 'no', 20, 'N'), ('Cy', 'yes', 30, 'N');"""
    with databases_to_ask(tmp_path, {"file": script}) as asked:
        assert " ".join(asked.reading("file", question).sql.split()) == sql


@pytest.mark.parametrize(
    "question",
    ["runners over 80", "how many fines does Bob have", "total amount of cancelled orders", "who is the boss of Cid",
     "no-show rate", "runners, newest first"],
)  # fmt: skip
def test_what_nobody_means_is_never_sure(tmp_path: Path, question: str) -> None:
    """A name above 80, the sum of a column Fine, a manager's number, ratings for a rate, names in their order."""
    script = """CREATE TABLE parking_fines (plate TEXT, client TEXT, fine REAL);
    INSERT INTO parking_fines VALUES ('A1', 'Bob', 30), ('A1', 'Bob', 40), ('B2', 'Cid', 5);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT, total_amount REAL);
    INSERT INTO orders VALUES (1, 'open', 3), (2, 'cancelled', 4), (3, 'cancelled', 9);
    CREATE TABLE club (runner TEXT, team TEXT, points INTEGER);
    INSERT INTO club VALUES ('Ann', 'red', 3), ('Bea', 'blue', 5);
    CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES staff(id));
    INSERT INTO staff VALUES (1, 'Dee', NULL), (2, 'Cid', 1);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, status TEXT, rating INTEGER);
    INSERT INTO visits VALUES (1, 'no-show', NULL), (2, 'done', 5), (3, 'done', 4);"""
    with databases_to_ask(tmp_path, {"mixed": script}) as asked:
        reading = asked.reading("mixed", question)
        assert reading.confidence < STATED_DOUBT, reading.sql
