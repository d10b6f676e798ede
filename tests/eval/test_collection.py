"""A folder of databases, or a URL template, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.collection import KEPT_OPEN, Collection
from eval.databases import DatabaseNotFound
from tests.writing import sqlite_file


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
