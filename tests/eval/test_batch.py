"""`python -m eval.batch check` and `run` as a user runs them: processes, lines in, lines out; and databases by their
names, in a folder or in a URL template."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eval import batch
from eval.collection import KEPT_OPEN, Collection
from eval.databases import DatabaseError, DatabaseNotFound
from eval.jsonl import LineError
from tests import commands
from tests.jsonl import as_lines, read_lines, write_lines
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    for name, rows in (("shop", "(0.0), (1.5), (3.0)"), ("farm", "(0.0)")):
        script = "CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL); INSERT INTO orders (total) VALUES "
        sqlite_file(tmp_path / f"{name}.sqlite", script + rows)
    return tmp_path


def _run(*arguments: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    return commands.run("-m", "eval.batch", *arguments, cwd=ROOT, input=text)


@pytest.fixture
def running(databases: Path) -> Iterator[commands.Process]:
    """`run` on the databases, with its streams as pipes."""
    pipe, words = subprocess.PIPE, ("-m", "eval.batch", "run", "--databases", databases, "-q")
    with commands.Process(*words, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process


def _lines(text: str, *arguments: str | Path) -> list[dict[str, Any]]:
    done = _run(*arguments, text=text)
    assert done.returncode == 0, done.stderr
    return read_lines(done.stdout)


def test_check_says_what_may_run_and_which_names_do_not_exist(databases: Path) -> None:
    words = ("check", "--dialect", "sqlite", "--databases", databases, "-q")
    first, second, third, fourth, fifth = _lines((FIXTURES / "batch/checked.jsonl").read_text(), *words)
    assert first["id"] == "a"
    assert first["sql"] == "SELECT totl FROM orders"
    assert first["phantoms"]["columns"] == [{"name": "totl", "nearest": ["total"]}]
    assert (second["allowed"], second["sql"]) == (False, None)
    assert "DROP" in second["reason"]
    assert third["id"] is None
    assert third["phantoms"]["tables"] == [{"name": "order", "nearest": ["orders"]}]
    assert not fourth["allowed"]
    assert fourth["phantoms"]["tables"] == [{"name": "sqlite_master", "nearest": []}]
    assert [p["name"] for p in fifth["phantoms"]["tables"]] == ["other.orders"]


def test_run_returns_rows_in_order_and_refuses_what_writes(databases: Path) -> None:
    first, second, third, fourth = _lines((FIXTURES / "batch/run.jsonl").read_text(), "run", "--databases", databases)
    assert first["rows"] == [[1, 0.0], [2, 1.5], [3, 3.0]]
    assert first["columns"] == ["id", "total"]
    assert (second["status"], second["rows"]) == ("refused", [])
    assert third["status"] == "error"
    assert "nothing" in third["error"]
    assert fourth["rows"] == [[3]]


def test_more_processes_give_the_same_lines_and_a_url_serves_as_well(databases: Path, tmp_path: Path) -> None:
    records = [{"id": i, "db": ("shop", "farm")[i % 2], "sql": f"SELECT {i}, id FROM orders"} for i in range(40)]
    file = write_lines(tmp_path / "statements.jsonl", records)
    runs = [
        _lines("", "run", "--databases", place, *jobs, "-q", file)
        for place, jobs in ((databases, ()), (databases, ("--jobs", "2")), (f"sqlite:///{databases}/{{db}}.sqlite", ()))
    ]
    for lines in runs:
        assert [line["id"] for line in lines] == list(range(40))
        for line in lines:
            line.pop("execution_time_ms")
    assert runs[0] == runs[1] == runs[2]


def test_a_reader_that_goes_away_ends_the_command_quietly(running: commands.Process) -> None:
    line = as_lines([{"id": 0, "db": "shop", "sql": "SELECT * FROM orders"}])
    running.stdin.write(line * 5)
    running.stdin.flush()
    assert json.loads(running.stdout.readline())["id"] == 0
    running.stdout.close()
    with suppress(BrokenPipeError):
        running.stdin.write(line * 5_000)
        running.stdin.close()
    assert running.wait(60) == 0
    assert running.stderr.read() == ""


def test_an_interrupt_stops_at_once_without_a_traceback(running: commands.Process) -> None:
    running.stdin.write(as_lines([{"id": 1, "db": "shop", "sql": "SELECT 1"}]))
    running.stdin.flush()
    running.stdout.readline()
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    assert "Traceback" not in running.stderr.read()


@pytest.mark.parametrize("arguments", [("check", "--dialect", "dbase"), ("run", "--databases", ".", "no file")])
def test_a_wrong_call_is_told_and_ends_with_2(arguments: tuple[str, ...]) -> None:
    done = _run(*arguments)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_structure_that_cannot_be_read_fails_the_line_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unreadable:
        dialect = "postgres"

        def database(self, _: str) -> Unreadable:
            return self

        def schema(self) -> None:
            raise DatabaseError("cannot read the structure")

    monkeypatch.setattr(batch, "_collection", lambda _: Unreadable())
    with pytest.raises(LineError, match=r"^cannot read the structure$"):
        batch._ran("postgresql://reader@host/{db}", {"id": 1, "db": "shop", "sql": "SELECT 1"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "databases"
    place.mkdir()
    for number in range(KEPT_OPEN + 2):
        sqlite_file(place / f"db{number}.sqlite", f"CREATE TABLE t{number} (a)")
    return place


def test_only_so_many_stay_open_and_all_can_be_had_again(folder: Path) -> None:
    collection = Collection(str(folder))
    first = collection.database("db0")
    for number in range(KEPT_OPEN + 2):
        collection.database(f"db{number}")

    assert first.schema().table("t0") is not None
    assert collection.database("db0") is not first
    assert collection.database("db0") is collection.database("db0")
    collection.close()


@pytest.mark.parametrize("name", ["", ".", "..", "../databases/db1", "a/b", "a\\b", "a\0b"])
def test_a_name_cannot_lead_out_of_the_folder(folder: Path, name: str) -> None:
    with pytest.raises(DatabaseNotFound, match="cannot be the name of a database"):
        Collection(str(folder)).database(name)


def test_a_name_in_a_url_is_quoted(folder: Path) -> None:
    with pytest.raises(DatabaseNotFound):
        Collection(f"sqlite:///{folder}/inner/{{db}}.sqlite").database("../db1")
