"""`python -m agent.batch select`: the command on lines of candidates, good, broken and hostile."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import commands
from tests.writing import sqlite_file

Line = dict[str, Any]
Select = Callable[..., list[Line]]

QUESTION = "How many animals are there?"
COUNT = "SELECT COUNT(*) FROM animals"


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    animals = "('Rex', 'Dog', 30.0), ('Tom', 'cat', 4.0), ('Ada', 'cat', 5.0), ('Kim', 'Owl', 1.0)"
    table = "CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, weight REAL)"
    sqlite_file(folder / "zoo.sqlite", f"{table}; INSERT INTO animals (name, kind, weight) VALUES {animals}")
    return folder


@pytest.fixture
def select(databases: Path) -> Select:
    def selected(*lines: Line | str, jobs: int = 1) -> list[Line]:
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        words = ("-m", "agent.batch", "select", "--databases", databases, "--jobs", jobs)
        done = commands.run(*words, input=text, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return selected


def _line(*sqls: Any, question: str = QUESTION, **fields: Any) -> Line:
    candidates = [{"system": f"s{i}", "sql": sql} for i, sql in enumerate(sqls)]
    return {"id": 1, "db": "zoo", "question": question, "candidates": candidates, **fields}


def test_what_most_agree_on_and_the_question_asks_for_is_chosen_whoever_wrote_it(select: Select) -> None:
    sqls = ["SELECT name FROM animals", COUNT, "SELECT COUNT(id) FROM animals", "SELECT SUM(weight) FROM animals"]
    shuffled = random.Random(1).sample(sqls, len(sqls))
    tied = ["SELECT name FROM animals WHERE id = 1", "SELECT name FROM animals WHERE id = 2"]
    first, second, right, wrong, one, other = select(
        _line(*sqls),
        _line(*shuffled),
        _line(COUNT),
        _line("SELECT name FROM animals WHERE kind = 'Horse'"),
        _line(*tied, question="Name one of the animals"),
        _line(*reversed(tied), question="Name one of the animals"),
    )
    assert list(first) == ["id", "sql", "system", "probability"]
    assert first["sql"] == second["sql"] == COUNT
    assert (first["system"], second["system"]) == ("s1", f"s{shuffled.index(COUNT)}")
    assert first["probability"] == second["probability"] > 0.8
    assert right["probability"] > wrong["probability"]
    assert wrong["sql"]
    assert one["sql"] == other["sql"]
    assert {one["system"], other["system"]} == {"s0", "s1"}


def test_broken_hostile_empty_and_odd_candidates_are_survived(select: Select) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"
    hostile = (
        "DROP TABLE animals",
        "SELECT * FROM animals; DELETE FROM animals",
        "SELECT nothing FROM nowhere",
        "SELEC",
    )
    odd: list[Any] = ["SELECT 1", None, [], {}, {"sql": COUNT}, {"system": {"a": 1}, "sql": COUNT}]
    one, other = select(
        _line(*hostile, "", "(" * 3000, "\x00\ud800", None, 7, endless, COUNT),
        {"id": 1, "db": "zoo", "question": QUESTION, "candidates": odd},
    )
    assert (one["sql"], one["system"]) == (COUNT, "s10")
    assert (other["sql"], other["system"]) == (COUNT, None)


def test_a_line_with_none_that_can_be_run_says_so(select: Select) -> None:
    given = {
        "There is no": (),
        "It cannot be run": ("DROP TABLE animals",),
        "None of the 3": ("SELECT nope", "SELEC", ""),
    }
    for line, reason in zip(select(*(_line(*sqls) for sqls in given.values())), given, strict=True):
        assert (line["sql"], line["system"], line["probability"]) == (None, None, 0.0)
        assert line["reason"].startswith(reason)
