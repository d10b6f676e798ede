"""The value index: which stored values a phrase means, how it is bounded, that its cache follows the data, and
that the one on disk answers as the one in memory does."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.knowledge import value_lookup, value_reading
from agent.knowledge import values as room
from agent.knowledge.value_lookup import StoredValues, build
from agent.knowledge.value_reading import VALUES_PER_COLUMN
from agent.knowledge.values import EMPTY, ValueIndex, complete_value_index, value_index
from eval.databases import Database, ExecutionResult, open_database
from eval.statement import ReadStatement
from tests.pairs import rows
from tests.writing import sqlite_file, write


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))


def _file(path: Path, rows: list[str]) -> Path:
    sqlite_file(
        path, 'CREATE TABLE IF NOT EXISTS "my table" (id INTEGER PRIMARY KEY, "a name" TEXT, n INTEGER, b BLOB)'
    )
    with closing(sqlite3.connect(path)) as file, file:
        file.executemany('INSERT INTO "my table" ("a name", n, b) VALUES (?, 1, x\'00\')', [(r,) for r in rows])
    return path


def test_reads_text_columns_of_a_database_and_keeps_a_private_file(tmp_path: Path) -> None:
    path = _file(tmp_path / "d.sqlite", ["Alpha", "Beta", "x" * 500])
    with open_database(str(path)) as database:
        index = value_index(database, database.schema())
        assert index.values("my table", "a name") == ("Alpha", "Beta")
        assert index.values("my table", "n") == ()
        files = list((tmp_path / "cache" / "values").iterdir())
        assert len(files) == 1
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
        assert value_index(database, database.schema()) is index


def test_integers_that_say_yes_or_no_are_known_but_not_found(tmp_path: Path) -> None:
    """A number in a question is none of their values."""
    script = "CREATE TABLE boats (id INTEGER PRIMARY KEY, lift INTEGER, berths INTEGER, sold INTEGER);"
    script += "INSERT INTO boats VALUES (1, 1, 0, 1), (2, 0, 1, 1), (3, NULL, 2, 1);"
    with open_database(sqlite_file(tmp_path / "d.sqlite", script)) as database:
        index = value_index(database, database.schema())
    assert [set(index.values("boats", column)) for column in ("lift", "berths", "sold")] == [{"0", "1"}, set(), set()]
    assert index.find("1") == ()


def test_a_broken_cache_file_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(tmp_path / "d.sqlite", ["Alpha"])
    with open_database(str(path)) as database:
        value_index(database, database.schema())
        next((tmp_path / "cache" / "values").iterdir()).write_text("{broken", encoding="utf-8")
        monkeypatch.setattr(room, "_memory", {})
        assert value_index(database, database.schema()).find("alpha")


CARS = ValueIndex(rows("values/cars.jsonl"))


def test_values_are_counted_by_a_word_of_theirs_and_a_hit_says_how_it_was_found() -> None:
    name, last = CARS.parts("fords")

    assert (name.column, name.count, name.first, name.last, name.score) == ("Name", 4, 3, 2, 0.8)
    assert name.examples[0] == "Ford"
    assert (last.column, last.count, last.first, last.score) == ("nameLast", 1, 1, 0.8)
    assert [(p.column, p.count, p.prefix) for p in CARS.parts("chevr")] == [("Name", 1, True)]
    assert CARS.parts("zebra") == CARS.parts("the") == CARS.parts("") == ()
    found = {phrase: CARS.find(phrase, fuzzy=True) for phrase in ("Japan", "japan", "kershaws", "galaxie", "Kershau")}
    meant = {phrase: CARS.related(phrase) for phrase in ("rainy", "women", "american")}

    assert [hits[0].how for hits in found.values()] == ["same", "folded", "inflected", "part", "misspelt"]
    assert [hits[0].how for hits in meant.values()] == ["inflected", "abbreviation", "demonym"]


@pytest.mark.parametrize(("phrase", "expected"), rows("values/meant.jsonl"))
def test_values_are_meant_by_other_words(phrase: str, expected: list[str]) -> None:
    """`L` is the left hand only in a column whose name says so, and `Sun` a day only among days."""
    assert [f"{hit.column}:{hit.value}" for hit in CARS.related(phrase)] == expected


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A table of which the first rows are read, a column with few kinds of values, and one with many."""
    monkeypatch.setattr(value_reading, "SCANNED_ROWS", 1_000)
    monkeypatch.setattr(value_reading, "VALUES_PER_COLUMN", 500)
    path = sqlite_file(
        tmp_path / "large.sqlite",
        """
        CREATE TABLE parcels (id INTEGER PRIMARY KEY, client TEXT, city TEXT, sent_on TEXT, weight REAL);
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 5000)
        INSERT INTO parcels SELECT i, 'Client ' || i, CASE i WHEN 5000 THEN 'Badheim' ELSE 'Town ' || i % 20 END,
            printf('2024-01-%02d', 1 + i % 30), nullif(i % 8, 0) FROM c;
        """,
    )
    with open_database(path) as database:
        yield database


def test_a_value_of_the_last_row_is_found_and_a_moved_one_in_its_own_table(large: Database) -> None:
    index = value_index(large, large.schema())

    assert [h.column for h in index.find("badheim")] == ["city"]
    assert index.complete("parcels", "city")
    assert not index.complete("parcels", "client")
    assert index.find("Client 5000") == ()
    assert [(h.column, h.value, h.how) for h in index.find("client 5000", fuzzy=True)] == [
        ("client", "Client 5000", "folded")
    ]
    assert [h.value for h in index.look_up(["CLIENT 4999", "no such client"])] == ["Client 4999"]
    index = value_index(large, large.schema()).moved({("parcels", "client"): "clients"})

    assert [(h.table, h.value) for h in index.look_up(["Client 4711"])] == [("clients", "Client 4711")]


def test_an_absent_name_is_looked_up_once(large: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    index = value_index(large, large.schema())
    run = large.execute
    asked: list[str] = []

    def execute(statement: ReadStatement, **settings: Any) -> ExecutionResult:
        asked.append(statement.sql)
        return run(statement, **settings)

    monkeypatch.setattr(large, "execute", execute)
    for phrase in ("Nobody'; DROP TABLE parcels --", "Nobody'; DROP TABLE parcels --", "nobody here"):
        index.find(phrase, fuzzy=True)

    assert len(asked) == 1
    assert "sent_on" not in asked[0], "a name is no date"


TABLE = "CREATE TABLE parcels (id INTEGER PRIMARY KEY, client VARCHAR(40), city VARCHAR(40), sent_on DATE, weight INT)"
ROWS = [
    (i, f"Client {i}", "Badheim" if i == 3_000 else f"Town {i % 20}", f"2024-01-{1 + i % 30:02}", i % 8)
    for i in range(1, 3_001)
]


@pytest.fixture(params=["duckdb_url", "postgres_url", "mysql_url"])
def url(request: pytest.FixtureRequest) -> str:
    place: str = request.getfixturevalue(request.param)
    rows = f"INSERT INTO parcels VALUES {', '.join(map(str, ROWS))}"
    write(place, "DROP TABLE IF EXISTS parcels", TABLE, rows)
    if request.param == "postgres_url":
        write(place, "ANALYZE parcels")
    return place


def test_every_engine_is_asked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_reading, "SCANNED_ROWS", 500)
    monkeypatch.setattr(value_reading, "VALUES_PER_COLUMN", 200)
    with open_database(url) as database:
        index = value_index(database, database.schema())

        assert [h.column for h in index.find("badheim")] == ["city"]
        assert not index.complete("parcels", "client")
        assert [h.value for h in index.find("CLIENT 3000", fuzzy=True)] == ["Client 3000"]
        assert [h.value for h in index.look_up(["client 2999", "it's \\ no client"])] == ["Client 2999"]
        assert (index.facts("parcels", "weight").least, index.facts("parcels", "weight").greatest) == (0, 7)
        assert str(index.facts("parcels", "sent_on").least) == "2024-01-01"


COLUMNS = [
    ("product", "category", ["Electronics", "Garden Furniture", "Garden Tools"]),
    ("customer", "city", ["São Paulo", "New York", "York", "Land of Hope Inc."]),
    ("customer", "name", ["Ann O'Neil", "Coca-Cola", "Widget 0042"]),
]


@pytest.fixture
def stored(tmp_path: Path) -> ValueIndex:
    """An index all of whose values are in a file."""
    build(tmp_path / "v.sqlite", COLUMNS)
    return EMPTY.with_file(StoredValues(tmp_path / "v.sqlite"))


@pytest.fixture(params=["in memory", "on disk"])
def index(request: pytest.FixtureRequest, stored: ValueIndex) -> ValueIndex:
    return stored if request.param == "on disk" else ValueIndex(COLUMNS)


@pytest.mark.parametrize(("phrase", "value", "column"), rows("values/found.jsonl"))
def test_values_are_found_by_other_spellings_and_parts(index: ValueIndex, phrase: str, value: str, column: str) -> None:
    first = index.find(phrase, fuzzy=True)[0]

    assert (first.value, first.column) == (value, column)


def test_values_on_disk_are_counted_by_a_word_and_no_phrase_reaches_the_files_sql(stored: ValueIndex) -> None:
    for phrase in ("'; DROP TABLE stored; --", '" OR 1=1', "%", "_", "\x00", "𝔘𝔫𝔦" * 50):
        stored.find(phrase, fuzzy=True)
    assert len(stored) == 10
    assert [(p.column, p.count, p.first, p.last) for p in stored.parts("garden")] == [("category", 2, 2, 0)]
    assert [(p.column, p.examples) for p in stored.parts("york")] == [("city", ("York", "New York"))]
    assert stored.parts("zebra") == ()


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Database]:
    """More distinct values in a column than the index in memory keeps."""
    script = "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT);"
    script += "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c LIMIT 20000)"
    script += "INSERT INTO person (name) SELECT printf('Person %06d', i) FROM c"
    with open_database(sqlite_file(tmp_path / "people.sqlite", script)) as database:
        yield database


def test_a_question_does_not_wait_and_every_value_is_found_in_its_owners_file(many: Database, tmp_path: Path) -> None:
    schema = many.schema()
    assert len(complete_value_index(many, schema, wait=False)) <= VALUES_PER_COLUMN
    complete_value_index(many, schema)  # what the thread in the background does, waited for

    assert len(complete_value_index(many, schema, wait=False)) == 20_000
    index = complete_value_index(many, many.schema())

    assert len(index) == 20_000 > VALUES_PER_COLUMN
    assert [h.value for h in index.find("person 019999")] == ["Person 019999"]
    (file,) = (tmp_path / "cache" / "values").glob("*.sqlite")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_files_of_the_data_as_it_was_before_go_when_new_ones_are_written(many: Database, tmp_path: Path) -> None:
    earlier = complete_value_index(many, many.schema())
    kept = tmp_path / "cache" / "values"
    before = {f.name for f in kept.iterdir()}
    of_another_database = kept / "0123-4567.sqlite"
    of_another_database.touch()
    sqlite_file(tmp_path / "people.sqlite", "UPDATE person SET name = 'Somebody Else' WHERE id = 20000")

    later = complete_value_index(many, many.schema())

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


def test_without_full_text_search_the_index_in_memory_answers(many: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_lookup, "_TABLES", value_lookup._TABLES.replace("fts5", "no_such_module"))

    assert 0 < len(complete_value_index(many, many.schema())) <= VALUES_PER_COLUMN


def test_the_first_column_leaves_room_for_the_others(tmp_path: Path) -> None:
    """Small columns are whole, the others have equal shares, and the file says which are not complete."""
    columns = [("t", "small", ["A", "B"]), *(("t", name, [f"{name} {i}" for i in range(100)]) for name in ("x", "y"))]
    assert build(tmp_path / "v.sqlite", columns, most=42) == 42
    file = StoredValues(tmp_path / "v.sqlite")

    assert [bool(list(file.same(text, text))) for text in ("a", "b", "x 19", "x 20", "y 19", "y 20")] == [
        True, True, True, False, True, False
    ]  # fmt: skip
    assert file.partial == {("t", "x"), ("t", "y")}
