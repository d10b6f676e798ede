"""The index of values on disk answers as the one in memory does, and finds what that one has no room for."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge import value_file
from agent.knowledge.value_file import StoredValues, build
from agent.knowledge.value_reading import VALUES_PER_COLUMN
from agent.knowledge.value_store import complete_value_index
from agent.knowledge.values import EMPTY, ValueIndex
from eval.databases import Database, open_database
from tests.pairs import rows
from tests.writing import sqlite_file

COLUMNS = [
    ("product", "category", ["Electronics", "Garden Furniture", "Garden Tools"]),
    ("customer", "city", ["São Paulo", "New York", "York", "Land of Hope Inc."]),
    ("customer", "name", ["Ann O'Neil", "Coca-Cola", "Widget 0042"]),
]


@pytest.fixture
def stored(tmp_path: Path) -> ValueIndex:
    return filed(tmp_path, COLUMNS)


def filed(folder: Path, columns: list[tuple[str, str, list[str]]]) -> ValueIndex:
    """An index all of whose values are in a file."""
    path = folder / f"{len(list(folder.iterdir()))}.sqlite"
    build(path, columns)
    return EMPTY.with_file(StoredValues(path))


@pytest.fixture(params=["in memory", "on disk"])
def index(request: pytest.FixtureRequest, stored: ValueIndex) -> ValueIndex:
    return stored if request.param == "on disk" else ValueIndex(COLUMNS)


@pytest.mark.parametrize(("phrase", "value", "column"), rows("values/found.jsonl"))
def test_values_are_found_exactly_folded_misspelt_and_by_a_part(
    index: ValueIndex, phrase: str, value: str, column: str
) -> None:
    first = index.find(phrase, fuzzy=True)[0]

    assert (first.value, first.column) == (value, column)


def test_a_phrase_cannot_reach_the_files_sql(stored: ValueIndex) -> None:
    for phrase in ("'; DROP TABLE stored; --", '" OR 1=1', "%", "_", "\x00", "𝔘𝔫𝔦" * 50):
        stored.find(phrase, fuzzy=True)
    assert len(stored) == 10


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """More distinct values in a column than the index in memory keeps."""
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    script = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);"
    script += "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT 20000)"
    script += "INSERT INTO person (name) SELECT printf('Person %06d', i) FROM c"
    with open_database(sqlite_file(tmp_path / "people.sqlite", script)) as database:
        yield database


def test_every_value_of_a_large_table_is_found_and_the_file_is_its_owners(large: Database, tmp_path: Path) -> None:
    index = complete_value_index(large, large.schema())

    assert len(index) == 20_000 > VALUES_PER_COLUMN
    assert [h.value for h in index.find("person 019999")] == ["Person 019999"]
    (file,) = (tmp_path / "cache" / "values").glob("*.sqlite")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_question_does_not_wait_for_it(large: Database) -> None:
    schema = large.schema()
    assert len(complete_value_index(large, schema, wait=False)) <= VALUES_PER_COLUMN
    complete_value_index(large, schema)  # what the thread in the background does, waited for

    assert len(complete_value_index(large, schema, wait=False)) == 20_000


def test_files_of_the_data_as_it_was_before_go_when_new_ones_are_written(large: Database, tmp_path: Path) -> None:
    earlier = complete_value_index(large, large.schema())
    kept = tmp_path / "cache" / "values"
    before = {f.name for f in kept.iterdir()}
    of_another_database = kept / "0123-4567.sqlite"
    of_another_database.touch()
    sqlite_file(tmp_path / "people.sqlite", "UPDATE person SET name = 'Somebody Else' WHERE id = 20000")

    later = complete_value_index(large, large.schema())

    after = {f.name for f in kept.iterdir()} - {of_another_database.name}
    assert of_another_database.exists()
    assert {Path(n).suffix for n in after} == {Path(n).suffix for n in before}
    assert not after & before
    assert later.find("somebody else")
    assert not later.find("Person 019999")
    assert earlier.find("Person 019999"), "whoever has the file open reads on"


def test_what_is_in_memory_and_what_is_in_the_file_is_found_once(tmp_path: Path) -> None:
    build(tmp_path / "v.sqlite", [("firm", "name", ["Hope Ltd", "New Hope Ltd"])])
    small = ValueIndex(
        [("firm", "name", ["Hope Ltd"]), ("town", "name", ["Hope"]), ("trip", "day", ["31.12.2023", "01.02.2024"])],
        {("firm", "name")},
    )
    index = small.with_file(StoredValues(tmp_path / "v.sqlite"))

    assert sorted((h.table, h.value) for h in index.find("hope")) == [("town", "Hope")]
    assert sorted(h.value for h in index.find("hope ltd", fuzzy=True)) == ["Hope Ltd"]
    assert sorted(h.value for h in index.find("new hope", fuzzy=True)) == ["New Hope Ltd"]
    assert {(p.table, p.count) for p in index.parts("hope")} == {("firm", 2), ("town", 1)}
    assert (len(index), index.complete("firm", "name"), index.complete("town", "name")) == (5, False, True)
    assert index.stored_forms == small.stored_forms != {}
    assert [h.table for h in index.moved({("firm", "name"): "companies"}).find("new hope ltd")] == ["companies"]


def test_without_full_text_search_the_index_in_memory_answers(large: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_file, "_TABLES", value_file._TABLES.replace("fts5", "no_such_module"))

    assert 0 < len(complete_value_index(large, large.schema())) <= VALUES_PER_COLUMN


def test_the_first_column_leaves_room_for_the_others(tmp_path: Path) -> None:
    """Small columns are whole, the others have equal shares, and the file says which are not complete."""
    columns = [("t", "small", ["A", "B"]), *(("t", name, [f"{name} {i}" for i in range(100)]) for name in ("x", "y"))]
    assert build(tmp_path / "v.sqlite", columns, most=42) == 42
    file = StoredValues(tmp_path / "v.sqlite")

    assert [bool(list(file.same(text, text))) for text in ("a", "b", "x 19", "x 20", "y 19", "y 20")] == [
        True, True, True, False, True, False
    ]  # fmt: skip
    assert file.partial == {("t", "x"), ("t", "y")}


def test_values_on_disk_are_counted_by_a_word_of_theirs(stored: ValueIndex) -> None:
    assert [(p.column, p.count, p.first, p.last) for p in stored.parts("garden")] == [("category", 2, 2, 0)]
    assert [(p.column, p.examples) for p in stored.parts("york")] == [("city", ("York", "New York"))]
    assert stored.parts("zebra") == ()
