"""One answer against its gold, on a database and over a test suite of replicas; and the command that compares."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.batch import app
from eval.databases import DatabaseError, open_database
from eval.metrics.items import Comparison, compare_items
from eval.metrics.suites import suite_databases, suite_files
from tests.writing import sqlite_file

GOLD = "SELECT kind, COUNT(*) FROM pet GROUP BY kind"


def built(path: Path, rows: str = "") -> Path:
    """`rows`: as SQL writes them."""
    script = "CREATE TABLE pet (id INTEGER PRIMARY KEY, kind TEXT, age INTEGER, note BLOB);"
    return sqlite_file(path, script + (f"INSERT INTO pet VALUES {rows}" if rows else ""))


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    return built(tmp_path / "pets.sqlite", "(1, 'cat', 3, x'ff'), (2, 'dog', NULL, NULL), (3, 'cat', 5, x'')")


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "suites" / "pets"
    folder.mkdir(parents=True)
    built(folder / "pets_v1.sqlite", "(1, 'cat', 1, NULL), (2, 'eel', 1, NULL)")
    built(folder / "pets_v2.sqlite")
    return folder.parent


def compared(pets: Path, sql: str, gold: str = GOLD, suites: Path | None = None) -> Comparison:
    files = suite_files(suites, "pets", suites / "cache") if suites else ()
    with open_database(pets) as database:
        return compare_items(gold, sql, database, suite=suite_databases(files))


@pytest.mark.parametrize("sql", ["", "DROP TABLE pet", "SELECT 1; SELECT 2", "SELECT FROM"])
def test_what_is_not_one_read_is_an_error_and_changes_nothing(pets: Path, sql: str) -> None:
    comparison = compared(pets, sql)
    assert (comparison.va, comparison.ex) == (False, False)
    assert comparison.error
    assert compared(pets, GOLD).ex is True


def test_a_gold_that_fails_is_told_apart(pets: Path, suites: Path) -> None:
    comparison = compared(pets, "SELECT 1 FROM pet", gold="SELECT id FROM nowhere", suites=suites)
    assert (comparison.va, comparison.ex, comparison.bird_ex, comparison.ts) == (True, None, None, None)
    assert "nowhere" in str(comparison.gold_error)


def test_order_counts_where_gold_orders(pets: Path) -> None:
    gold = "SELECT kind FROM pet ORDER BY id"
    assert compared(pets, "SELECT kind FROM pet ORDER BY id DESC", gold).ex is True  # cat, dog, cat either way
    assert compared(pets, "SELECT kind FROM pet ORDER BY kind", gold).ex is False
    inner = "SELECT kind FROM pet WHERE id IN (SELECT id FROM pet ORDER BY id)"
    assert compared(pets, "SELECT kind FROM pet ORDER BY kind", inner).ex is True


def test_a_suite_finds_what_one_database_hides(pets: Path, suites: Path) -> None:
    lucky = "SELECT kind, COUNT(*) FROM pet WHERE kind IN ('cat', 'dog') GROUP BY kind"
    comparison = compared(pets, lucky, suites=suites)
    assert (comparison.ex, comparison.ts) == (True, False)
    assert compared(pets, GOLD, suites=suites).ts is True


def test_a_suite_comes_packed_as_well(pets: Path, suites: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "pets.tar.xz", "w:xz") as archive:
        archive.add(suites / "pets", "pets")
        archive.add(pets, "../../escaped.sqlite")
        archive.add(Path(__file__), "pets/readme.txt")
    files = suite_files(packed, "pets", tmp_path / "cache")
    assert [f.name for f in files] == ["escaped.sqlite", "pets_v1.sqlite", "pets_v2.sqlite"]
    assert all((tmp_path / "cache") in f.parents for f in files)
    assert suite_files(packed, "pets", tmp_path / "cache") == files
    assert suite_files(packed, "birds", tmp_path / "cache") == ()
    with pytest.raises(DatabaseError, match="cannot be the name"):
        suite_files(packed, "../pets", tmp_path / "cache")
    (packed / "broken.tar.xz").write_bytes(b"not an archive")
    with pytest.raises(DatabaseError, match=r"broken\.tar\.xz"):
        suite_files(packed, "broken", tmp_path / "cache")


def test_each_line_gets_its_figures_and_a_bad_one_an_error(tmp_path: Path) -> None:
    script = "CREATE TABLE item (id INTEGER, price REAL); INSERT INTO item VALUES (1, 2.5), (2, 4);"
    sqlite_file(tmp_path / "shop.sqlite", script)
    gold = "SELECT SUM(price) FROM item"
    lines = [
        {"id": "a", "db": "shop", "gold_sql": gold, "sql": "SELECT TOTAL(price) FROM item"},
        {"id": "b", "db": "shop", "gold_sql": gold, "sql": "SELECT MAX(price) FROM item"},
        {"id": "c", "db": "nowhere", "gold_sql": gold, "sql": gold},
    ]
    words = ["compare", "--databases", str(tmp_path), "--quiet"]
    done = CliRunner().invoke(app, words, input="".join(json.dumps(line) + "\n" for line in lines))
    first, second, third = map(json.loads, done.stdout.splitlines())
    right = {"va": True, "em": False, "ex": True, "bird_ex": True, "ts": None, "gold_error": None, "error": None}
    assert first == {"id": "a", **right}
    assert second == {"id": "b", **right, "ex": False, "bird_ex": False}
    assert third["id"] == "c"
    assert third["error"]
