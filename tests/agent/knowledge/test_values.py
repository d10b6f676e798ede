"""The value index: which stored values a phrase means, how it is bounded, and that its cache follows the data."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest

from agent.knowledge import values as room
from agent.knowledge.values import ValueIndex, fold, value_index
from eval.databases import open_database

INDEX = ValueIndex(
    [
        ("product", "category", ["Electronics", "Garden Furniture"]),
        ("customer", "city", ["São Paulo", "New York", "York"]),
        ("customer", "name", ["Ann O'Neil", "Coca-Cola"]),
    ]
)


def _file(path: Path, rows: list[str]) -> Path:
    connection = sqlite3.connect(path)
    connection.execute(
        'CREATE TABLE IF NOT EXISTS "my table" (id INTEGER PRIMARY KEY, "a name" TEXT, n INTEGER, b BLOB)'
    )
    connection.executemany('INSERT INTO "my table" ("a name", n, b) VALUES (?, 1, x\'00\')', [(r,) for r in rows])
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize(
    ("phrase", "value"),
    [("Electronics", "Electronics"), ("electronic", "Electronics"), ("sao paulo", "São Paulo"),
     ("coca cola", "Coca-Cola"), ("ann o'neil", "Ann O'Neil"), ("NEW YORK", "New York")],
)  # fmt: skip
def test_finds_a_value_whatever_its_case_accents_signs_or_plural(phrase: str, value: str) -> None:
    assert INDEX.find(phrase)[0].value == value


def test_finds_parts_and_misspellings_only_when_asked() -> None:
    assert INDEX.find("furniture") == ()
    assert INDEX.find("furniture", fuzzy=True)[0].value == "Garden Furniture"
    assert INDEX.find("Elektronics", fuzzy=True)[0].value == "Electronics"
    assert INDEX.find("zebra", fuzzy=True) == ()


def test_an_exact_value_scores_above_a_folded_one() -> None:
    assert INDEX.find("York")[0].score > INDEX.find("york")[0].score > 0.9


def test_spans_cover_phrases_longest_first() -> None:
    spans = INDEX.spans(["customers", "in", "New", "York", "?"])
    assert [(s.start, s.end, s.hits[0].value) for s in spans] == [(2, 4, "New York"), (3, 4, "York")]


@pytest.mark.parametrize("text", ["", " ", "?!", "\x00", "🙂"])
def test_a_phrase_without_words_means_nothing(text: str) -> None:
    assert INDEX.find(text, fuzzy=True) == ()


def test_fold() -> None:
    assert fold("Café-Bar  Nº5") == "cafe bar no5"


def test_reads_text_columns_of_a_database_and_keeps_a_private_file(tmp_path: Path) -> None:
    path = _file(tmp_path / "d.sqlite", ["Alpha", "Beta", "x" * 500])
    with open_database(str(path)) as database:
        index = value_index(database, database.schema(), cache_dir=tmp_path / "cache")
        assert index.values("my table", "a name") == ("Alpha", "Beta")
        assert index.values("my table", "n") == ()
        files = list((tmp_path / "cache" / "values").iterdir())
        assert len(files) == 1
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
        assert value_index(database, database.schema(), cache_dir=tmp_path / "cache") is index


def test_integers_that_say_yes_or_no_are_known_but_not_found(tmp_path: Path) -> None:
    """A number in a question is none of their values."""
    connection = sqlite3.connect(tmp_path / "d.sqlite")
    connection.executescript(
        "CREATE TABLE boats (id INTEGER PRIMARY KEY, lift INTEGER, berths INTEGER, sold INTEGER);"
        "INSERT INTO boats VALUES (1, 1, 0, 1), (2, 0, 1, 1), (3, NULL, 2, 1);"
    )
    connection.close()
    with open_database(str(tmp_path / "d.sqlite")) as database:
        index = value_index(database, database.schema(), cache_dir=tmp_path)
    assert {column: set(index.values("boats", column)) for column in ("lift", "berths", "sold")} == {
        "lift": {"0", "1"},
        "berths": set(),
        "sold": set(),
    }
    assert index.find("1") == ()


def test_a_change_of_the_data_is_noticed(tmp_path: Path) -> None:
    path = _file(tmp_path / "d.sqlite", ["Alpha"])
    with open_database(str(path)) as database:
        assert len(value_index(database, database.schema(), cache_dir=tmp_path)) == 1
    _file(path, ["Gamma"])
    with open_database(str(path)) as database:
        assert value_index(database, database.schema(), cache_dir=tmp_path).find("gamma")


def test_a_broken_cache_file_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(tmp_path / "d.sqlite", ["Alpha"])
    with open_database(str(path)) as database:
        value_index(database, database.schema(), cache_dir=tmp_path)
        next((tmp_path / "values").iterdir()).write_text("{broken", encoding="utf-8")
        monkeypatch.setattr(room, "_memory", {})
        assert value_index(database, database.schema(), cache_dir=tmp_path).find("alpha")


def test_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "VALUES_PER_COLUMN", 5)
    path = _file(tmp_path / "d.sqlite", [f"value {k}" for k in range(50)])
    with open_database(str(path)) as database:
        assert len(value_index(database, database.schema(), cache_dir=tmp_path)) == 5
