"""No word is ignored: a qualifier is sought in the data, and a word that finds no meaning is named."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from tests.samples import ALL

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

WORKSHOP = """
CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_active BOOLEAN NOT NULL, left_on DATE);
CREATE TABLE repairs (
    id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients(id), state TEXT NOT NULL,
    received_on DATE NOT NULL, due_date DATE NOT NULL, collected_on DATE, returned_on DATE, warranty_expiry DATE);
CREATE TABLE payments (id INTEGER PRIMARY KEY, repair_id INTEGER NOT NULL REFERENCES repairs(id), amount REAL);
INSERT INTO clients VALUES (1, 'Ann', 1, NULL), (2, 'Ben', 0, '2024-02-01'), (3, 'Cas', 1, NULL);
INSERT INTO repairs VALUES
    (1, 1, 'Cancelled', '2024-01-01', '2024-01-10', NULL, NULL, '2024-12-01'),
    (2, 1, 'Awaiting', '2024-01-02', '2024-01-12', NULL, '2024-01-20', '2024-03-01'),
    (3, 2, 'Finished', '2024-01-03', '2024-01-13', '2024-01-15', '2024-01-12', '2024-02-01'),
    (4, 3, 'Finished', '2024-01-04', '2024-01-14', '2024-01-16', '2024-01-30', '2026-02-01');
INSERT INTO payments VALUES (1, 3, 20.0), (2, 4, 35.5);
"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("workshop") / "workshop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(WORKSHOP)
    connection.close()
    with open_database(str(path)) as database:
        yield database


def _read(database: Database, question: str) -> Reading:
    schema = database.schema()
    return read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("how many repairs were canceled", "state = 'Cancelled'"),
        ("how many pending repairs", "state = 'Awaiting'"),
        ("repairs that have not been collected", "collected_on IS NULL"),
        ("uncollected repairs", "collected_on IS NULL"),
        ("how many repairs have been collected", "NOT collected_on IS NULL"),
        ("active clients", "is_active = TRUE"),
        ("how many inactive clients", "is_active = FALSE"),
        ("late repairs", "returned_on > due_date"),
    ],
)
def test_a_qualifier_is_sought_in_the_data(workshop: Database, question: str, condition: str) -> None:
    reading = _read(workshop, question)
    assert condition in " ".join(reading.sql.split())
    assert reading.not_understood == ()


def test_rows_that_refer_to_a_thing_say_whether_it_was_paid(workshop: Database) -> None:
    reading = _read(workshop, "how many unpaid repairs")

    assert "payments" in reading.sql
    assert "NOT" in reading.sql


def test_the_mapping_is_said(workshop: Database) -> None:
    assert "“pending”: state = 'Awaiting'" in _read(workshop, "how many pending repairs").interpretation


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("how many verified clients do we have", "verified"),
        ("how many repairs were lost", "lost"),
        ("how many broken repairs", "broken"),
        ("female clients", "female"),
    ],
)
def test_a_word_without_meaning_is_named_and_never_told_with_confidence(
    workshop: Database, question: str, word: str
) -> None:
    reading = _read(workshop, question)
    assert word in reading.not_understood
    assert reading.confidence < STATED_DOUBT


def _sure_with_a_word_left_out(database: Database, questions: list[str], step: int = 1) -> list[tuple[str, object]]:
    """The readings that leave a content word out and still have confidence: of the questions as they are, and of each
    `step`-th one with an invented adjective, noun or verb put somewhere into it."""
    wrong: list[tuple[str, object]] = []
    for number, question in enumerate(dict.fromkeys(questions)):
        reading = _read(database, question)
        left_out = reading.not_understood or reading.features.get("words left out")
        if left_out and reading.confidence >= STATED_DOUBT:
            wrong.append((question, reading.not_understood))
        if number % step:
            continue
        changed = _with_invented_word(question)
        reading = _read(database, changed)
        if reading.confidence >= STATED_DOUBT:
            wrong.append((changed, reading.not_understood))
    return wrong


INVENTED = ("blorptious", "thrapsively", "drumbled", "vorplings", "zinguatic")


def _with_invented_word(question: str) -> str:
    chance = random.Random(question)
    words = question.split()
    words.insert(chance.randrange(len(words) + 1), chance.choice(INVENTED))
    return " ".join(words)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_no_demo_question_is_read_with_confidence_while_a_word_is_left_out(name: str) -> None:
    from agent.runtime.catalogue import resolve_database

    lines = (FIXTURES / f"demo_questions_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    with open_database(resolve_database(name).url) as database:
        assert _sure_with_a_word_left_out(database, [json.loads(line)["question"] for line in lines]) == []


SETS = (
    "newcomer", "chinook_behaviour", "northwind_snake", "classicmodels", "geoquery", "spider_test_third", "spider_dev",
    "spider_realistic", "trustsql_spider", "bird_superhero", "agentx_tasks", "archer", "classical_testsuite",
    "bird_minidev_schema_only", "spider_train",
)  # fmt: skip
READ, CHANGED = (600, 150) if ALL else (80, 25)
"""Questions of a set, about, that are read, and that are read with an invented word too."""


@pytest.mark.bench
@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_no_bench_question_is_read_with_confidence_while_a_word_is_left_out(name: str, bench_dir: Path) -> None:
    folder = bench_dir / name
    files = [f for f in (folder / "questions.jsonl", folder / "train.jsonl", folder / "dev.jsonl") if f.exists()]
    if not files:
        pytest.skip(f"no {name} in the benchmark data")
    by_database: dict[str, list[str]] = {}
    for line in (line for f in files for line in f.read_text(encoding="utf-8").splitlines()):
        record = json.loads(line)
        by_database.setdefault(record["db"], []).append(record["question"])
    every = max(sum(map(len, by_database.values())) // READ, 1)
    by_database = {db: questions[::every] for db, questions in by_database.items()}
    step = max(sum(map(len, by_database.values())) // CHANGED, 1)
    asked = 0
    for db, questions in by_database.items():
        places = (bench_dir / other / "databases" / f"{db}.sqlite" for other in (name, "spider_dev", "spider_train"))
        if (file := next((p for p in places if p.exists()), None)) is not None:
            with open_database(str(file)) as database:
                assert _sure_with_a_word_left_out(database, questions, step) == []
                asked += len(questions)
    assert asked, "no database of this set is at hand"


@pytest.mark.parametrize(
    ("question", "sure"),
    [
        ("which clients live outside their own city", False),
        ("how many clients are not in the same city", False),
        ("how many clients outside Rome", True),
        ("clients without a city", True),
    ],
)
def test_a_place_of_ones_own_is_no_empty_column(tmp_path: Path, question: str, sure: bool) -> None:
    with sqlite3.connect(tmp_path / "club.sqlite") as connection:
        connection.execute("CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT)")
        connection.executemany("INSERT INTO clients VALUES (?, ?, ?)", [(1, "Ann", "Rome"), (2, "Ben", None)])
    with open_database(str(tmp_path / "club.sqlite")) as club:
        assert (_read(club, question).confidence >= STATED_DOUBT) is sure


def test_what_one_serves_is_what_there_is(workshop: Database) -> None:
    assert _read(workshop, "how many clients do we serve").confidence >= STATED_DOUBT
