"""Profiles are kept while structure and data are what they were, and begun from the last one when they are not."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge.profile import cache, kept_profile
from eval.databases import Database, open_database
from tests.writing import sqlite_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    script = "CREATE TABLE item (id INTEGER PRIMARY KEY, kind TEXT); CREATE TABLE sale (item INTEGER, price REAL);"
    script += "INSERT INTO item VALUES (1, 'pen'), (2, 'ink'); INSERT INTO sale VALUES (1, 2.5), (2, 4.0)"
    return sqlite_file(tmp_path / "shop.sqlite", script)


@pytest.fixture
def shop(file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr(cache, "_memory", type(cache._memory)())
    with open_database(str(file)) as database:
        yield database


def test_a_profile_is_read_from_its_file_while_nothing_has_changed(
    shop: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache")
    files = list((tmp_path / "cache" / "profiles").iterdir())
    cache._memory.clear()  # as a new process would begin
    monkeypatch.setattr(shop, "execute", lambda *_, **__: pytest.fail("a statement was sent"))

    assert kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache") == first
    assert [stat.S_IMODE(f.stat().st_mode) for f in files] == [0o600]


def test_changed_rows_are_seen_and_there_is_still_one_file(shop: Database, file: Path, tmp_path: Path) -> None:
    kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache")
    sqlite_file(file, "INSERT INTO item VALUES (3, 'paper')")
    again = kept_profile(shop, shop.schema(ttl=0), cache_dir=tmp_path / "cache")

    kind = next(c for c in again.columns if c.column == "kind")
    assert {v.value for v in kind.values} >= {"pen", "ink", "paper"} or set(kind.samples) == {"pen", "ink", "paper"}
    assert len(list((tmp_path / "cache" / "profiles").iterdir())) == 1


def test_a_damaged_file_is_replaced(shop: Database, tmp_path: Path) -> None:
    first = kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache")
    (place,) = (tmp_path / "cache" / "profiles").iterdir()
    place.write_text('{"key": "half a')
    cache._memory.clear()

    assert kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache").columns == first.columns


def test_each_privacy_mode_has_its_own(shop: Database, tmp_path: Path) -> None:
    kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache")
    masked = kept_profile(shop, shop.schema(), privacy="masked", cache_dir=tmp_path / "cache")

    assert "pen" not in repr(masked)
    files = [f.read_text() for f in (tmp_path / "cache" / "profiles").iterdir()]
    assert sorted("pen" in text for text in files) == [False, True]


def test_a_folder_that_cannot_be_written_stops_nothing(shop: Database, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, where a folder should be")

    assert kept_profile(shop, shop.schema(), cache_dir=tmp_path / "cache").complete
