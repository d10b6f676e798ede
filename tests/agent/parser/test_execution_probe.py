"""What a statement returns and what the engine reads are evidence; each doubt stands in the registry; and the measuring
command compares accepted queries and learns right from wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sqlglot import exp, parse_one
from typer.testing import CliRunner

from agent.batch import app
from agent.knowledge.values import ValueIndex
from agent.parser import doubts, read
from agent.parser.doubts import DOUBTS
from agent.parser.execution_probe import looker
from agent.parser.second_opinion import second_opinion
from eval.databases import Database, open_database
from eval.schema import Schema
from experiments.parser.evaluate import Outcome, fit, outcomes
from tests.asked import TODAY
from tests.writing import sqlite_file


def parse(sql: str) -> exp.Expression:
    tree = parse_one(sql)
    assert isinstance(tree, exp.Expression)
    return tree


def test_runs_only_what_the_guard_lets_through(library: Database) -> None:
    look = looker(library)
    assert look(parse("SELECT title FROM book WHERE price > 1000"))["result empty"] == 1
    assert look(parse("DELETE FROM book")) == {}
    assert look(parse("SELECT nothing FROM nowhere")) == {}
    assert look(parse("SELECT COUNT(*) FROM book"))["result zero"] == 0


def test_an_empty_result_makes_a_reading_less_sure(library: Database, schema: Schema, values: ValueIndex) -> None:
    question = "Which members are older than 90?"
    blind = read(question, schema, values, today=TODAY, threshold=0.0)
    seeing = read(question, schema, values, today=TODAY, threshold=0.0, look=looker(library))
    assert seeing.sql == blind.sql
    assert seeing.features["result empty"] == 1
    assert seeing.confidence < blind.confidence


_SOURCES = {path.name: path.read_text(encoding="utf-8") for path in Path(doubts.__file__).parent.rglob("*.py")}
_STATED = re.compile(r"(?:\.doubt\(|doubts=\(|settled=\()((?:\s*\"[a-z_]+\",?)+)")


def test_the_doubts_that_rules_state_are_registered() -> None:
    stated = {name for text in _SOURCES.values() for m in _STATED.finditer(text) for name in re.findall(r"\w+", m[1])}
    stated |= set(re.findall(r"^        \(\"([a-z_]+)\", ", _SOURCES["implausible.py"], re.MULTILINE))
    assert len(stated) > 40
    assert stated - DOUBTS.keys() == set()


def test_no_doubt_is_registered_that_nothing_states() -> None:
    others = "".join(text for name, text in _SOURCES.items() if name != "doubts.py")
    assert [name for name in DOUBTS if f'"{name}"' not in others] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sqlite_file(
        tmp_path / "shop.sqlite",
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
        "INSERT INTO customers VALUES (1, 'Ann', 'Lyon'), (2, 'Bob', 'Bath'), (3, 'Eve', 'Lyon');",
    )
    return tmp_path


async def test_what_cannot_be_read_is_no_opinion(folder: Path) -> None:
    with open_database(folder / "shop.sqlite") as database:
        assert await second_opinion("", database, database.schema()) is None
        assert await second_opinion("DROP TABLE customers", database, database.schema()) is None


def scored(folder: Path, *lines: dict[str, object]) -> list[dict[str, object]]:
    text = "".join(json.dumps({"id": i, "db": "shop", **line}) + "\n" for i, line in enumerate(lines))
    ran = CliRunner().invoke(app, ["score", "--quiet", "--databases", str(folder)], input=text)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_score_tells_right_from_wrong_and_carries_the_id(folder: Path) -> None:
    question = "How many customers are there?"
    right, wrong, refused, bad = scored(
        folder,
        {"question": question, "sql": "SELECT COUNT(*) FROM customers"},
        {"question": question, "sql": "SELECT name FROM customers"},
        {"question": question, "sql": "SELECT 1"},
        {"question": question},
    )
    told = {"id", "score", "correctness", "probability", "passes", "dimensions", "vetoes", "evidence"}
    assert set(right) == told
    assert (right["passes"], wrong["passes"]) == (True, False)
    assert right["score"] >= 0.70 > wrong["score"]  # type: ignore[operator]
    assert any(e["name"] == "second_reading_agrees" for e in right["evidence"])
    assert refused["vetoes"]
    assert refused["score"] < 0.70  # type: ignore[operator]
    assert bad == {"id": 3, "error": "'sql' is missing or not a text"}


def test_opinion_gives_the_reading(folder: Path) -> None:
    line = json.dumps({"id": "a", "db": "shop", "question": "How many customers are there?"})
    ran = CliRunner().invoke(app, ["opinion", "--quiet", "--databases", str(folder)], input=line + "\n")
    read = json.loads(ran.stdout)
    assert read["id"] == "a"
    assert "COUNT(*)" in read["sql"]


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
