"""The index of values on disk answers as the one in memory does, and finds what that one has no room for."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge import value_store as room
from agent.knowledge.value_reading import VALUES_PER_COLUMN
from agent.knowledge.value_store import StoredValueIndex, build, complete_value_index
from agent.knowledge.values import ValueIndex
from eval.databases import Database, open_database
from tests.writing import sqlite_file

COLUMNS = [
    ("product", "category", ["Electronics", "Garden Furniture", "Garden Tools"]),
    ("customer", "city", ["São Paulo", "New York", "York", "Land of Hope Inc."]),
    ("customer", "name", ["Ann O'Neil", "Coca-Cola", "Widget 0042"]),
]


@pytest.fixture
def stored(tmp_path: Path) -> StoredValueIndex:
    build(tmp_path / "values.sqlite", COLUMNS)
    return StoredValueIndex(tmp_path / "values.sqlite")


@pytest.fixture(params=["in memory", "on disk"])
def index(request: pytest.FixtureRequest, stored: StoredValueIndex) -> ValueIndex:
    return stored if request.param == "on disk" else ValueIndex(COLUMNS)


@pytest.mark.parametrize(
    ("phrase", "value", "column"),
    [
        ("Electronics", "Electronics", "category"),
        ("electronic", "Electronics", "category"),
        ("sao paulo", "São Paulo", "city"),
        ("coca cola", "Coca-Cola", "name"),
        ("ann o'neil", "Ann O'Neil", "name"),
        ("Electrnics", "Electronics", "category"),
        ("Gardn Furniture", "Garden Furniture", "category"),
        ("furniture", "Garden Furniture", "category"),
        ("Land of Hope", "Land of Hope Inc.", "city"),
        ("0042", "Widget 0042", "name"),
        ("NewYork", "New York", "city"),
        ("NEW YORK", "New York", "city"),
        ("Elektronics", "Electronics", "category"),
    ],
)
def test_values_are_found_exactly_folded_misspelt_and_by_a_part(
    index: ValueIndex, phrase: str, value: str, column: str
) -> None:
    first = index.find(phrase, fuzzy=True)[0]

    assert (first.value, first.column) == (value, column)


@pytest.mark.parametrize("phrase", ["York", "new york", "garden", "sao paulo", "hope", "nothing like it", "", "a b"])
def test_it_answers_as_the_one_in_memory(stored: StoredValueIndex, phrase: str) -> None:
    in_memory = ValueIndex(COLUMNS)

    assert {h.value for h in stored.find(phrase)} == {h.value for h in in_memory.find(phrase)}
    assert {h.value for h in stored.find(phrase, fuzzy=True)} == {h.value for h in in_memory.find(phrase, fuzzy=True)}


def test_parts_and_misspellings_are_found_only_when_asked(index: ValueIndex) -> None:
    assert index.find("furniture") == index.find("Elektronics") == index.find("zebra", fuzzy=True) == ()
    assert index.find("electronic")[0].value == "Electronics"


@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "🙂"])
def test_a_phrase_without_words_means_nothing(index: ValueIndex, text: str) -> None:
    assert index.find(text, fuzzy=True) == ()


def test_phrases_of_a_question_are_covered_longest_first(index: ValueIndex) -> None:
    words = ["how", "many", "people", "of", "New", "York", "like", "garden", "tools", "?"]
    spans = [(s.start, s.end, s.hits[0].value) for s in index.spans(words)]

    assert spans == [(4, 6, "New York"), (5, 6, "York"), (7, 9, "Garden Tools")]


def test_a_phrase_cannot_reach_the_files_sql(stored: StoredValueIndex) -> None:
    for phrase in ("'; DROP TABLE stored; --", '" OR 1=1', "%", "_", "\x00", "𝔘𝔫𝔦" * 50):
        stored.find(phrase, fuzzy=True)
    assert len(stored) == 10


def test_what_is_too_much_is_left_out(tmp_path: Path) -> None:
    assert build(tmp_path / "v.sqlite", [("t", "c", (f"value {i}" for i in range(100)))], most=7) == 7
    assert len(StoredValueIndex(tmp_path / "v.sqlite")) == 7


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


def test_small_databases_need_no_file(shop_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(room, "build", lambda *_, **__: pytest.fail("a file was built"))
    with open_database(str(shop_file)) as database:
        assert len(complete_value_index(database, database.schema())) > 0


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


def test_a_word_in_very_many_values_is_found_with_another(tmp_path: Path) -> None:
    names = [f"The Company of Number {i}" for i in range(30_000)]
    build(tmp_path / "v.sqlite", [("firm", "name", names)])
    index = StoredValueIndex(tmp_path / "v.sqlite")

    assert index.find("company of number 29999", fuzzy=True)[0].value == "The Company of Number 29999"
    assert index.find("The Compnay of Nubmer 29999", fuzzy=True)[0].value == "The Company of Number 29999"


def test_values_stay_with_their_columns(stored: StoredValueIndex, tmp_path: Path) -> None:
    columns = [("a", "empty", []), ("a", "signs", ["?!"]), ("a", "full", ["One", "Two Two"]), ("b", "empty", [])]
    build(tmp_path / "v.sqlite", columns)
    index = StoredValueIndex(tmp_path / "v.sqlite")

    assert stored.find("Landof Hope", fuzzy=True)[0].value == "Land of Hope Inc."
    assert stored.values("customer", "city") == ("São Paulo", "New York", "York", "Land of Hope Inc.")
    assert [index.values(t, c) for t, c, _ in columns] == [(), (), ("One", "Two Two"), ()]
    assert {(h.table, h.column) for phrase in ("one", "two two") for h in index.find(phrase)} == {("a", "full")}


def test_dates_and_yes_or_no_are_those_of_the_index_in_memory(tmp_path: Path) -> None:
    build(tmp_path / "v.sqlite", COLUMNS)
    sample = ValueIndex([("trip", "day", ["31.12.2023", "01.02.2024"]), ("trip", "paid", ["0", "1"])])
    index = StoredValueIndex(tmp_path / "v.sqlite", sample)

    assert index.stored_forms == sample.stored_forms != {}
    assert index.values("trip", "paid") == ("0", "1")


def test_without_full_text_search_the_index_in_memory_answers(large: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_TABLES", room._TABLES.replace("fts5", "no_such_module"))

    assert 0 < len(complete_value_index(large, large.schema())) <= VALUES_PER_COLUMN


def test_the_first_column_leaves_room_for_the_others(tmp_path: Path) -> None:
    """Small columns are whole, the others have equal shares, and the file says which are not complete."""
    columns = [("t", "small", ["A", "B"]), *(("t", name, [f"{name} {i}" for i in range(100)]) for name in ("x", "y"))]
    build(tmp_path / "v.sqlite", columns, most=42)
    index = StoredValueIndex(tmp_path / "v.sqlite")

    assert [len(index.values("t", name)) for name in ("small", "x", "y")] == [2, 20, 20]
    assert [index.complete("t", name) for name in ("small", "x", "y")] == [True, False, False]


def test_values_on_disk_are_counted_by_a_word_of_theirs(stored: StoredValueIndex) -> None:
    assert [(p.column, p.count, p.first, p.last) for p in stored.parts("garden")] == [("category", 2, 2, 0)]
    assert [(p.column, p.examples) for p in stored.parts("york")] == [("city", ("York", "New York"))]
    assert stored.parts("zebra") == ()


def test_a_word_that_folds_to_several_ends_no_look_up(index: ValueIndex) -> None:
    assert {part.column for part in index.parts("coca-cola")} <= {"name"}
    assert [part.column for part in index.parts("garden")] == ["category"]
