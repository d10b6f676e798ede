"""Names become open databases: one lock for each, and data files that are read again when they change."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.config import DatabaseSettings
from agent.runtime.catalogue import close_all, resolve_database
from agent.sources import files
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.sql import check, parse


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def config(tmp_path: Path) -> DatabaseSettings:
    return DatabaseSettings.model_validate({"TEXT2SQL_CACHE_DIR": str(tmp_path / "cache")})


def people(folder: Path, *names: str, file: str = "people.csv") -> str:
    path = folder / file
    path.write_text("name\n" + "".join(f"{name}\n" for name in names))
    return str(path)


def rows(database: Database, sql: str = "SELECT name FROM people") -> list[object]:
    statement = check(parse(sql, database.dialect)).statement
    assert statement is not None
    result = database.execute(statement)
    assert result.ok, result.error
    return [row[0] for row in result.rows]


def test_a_slow_import_holds_up_no_other_database(tmp_path: Path, config: DatabaseSettings) -> None:
    slow, quick = people(tmp_path, "Ada", file="slow.csv"), people(tmp_path, "Bo", file="quick.csv")
    importing, go_on = threading.Event(), threading.Event()

    def wait(_: str) -> None:
        importing.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(resolve_database, slow, config, on_note=wait)
        try:
            assert importing.wait(60)
            other = threads.submit(resolve_database, quick, config)
            assert rows(other.result(60), "SELECT name FROM quick") == ["Bo"]
            assert not first.done()
        finally:
            go_on.set()
        assert rows(first.result(60), "SELECT name FROM slow") == ["Ada"]


def test_two_who_ask_for_one_file_import_it_once(tmp_path: Path, config: DatabaseSettings) -> None:
    file, notes = people(tmp_path, "Ada"), list[str]()
    with ThreadPoolExecutor(2) as threads:
        one, two = (threads.submit(resolve_database, file, config, on_note=notes.append) for _ in range(2))
        assert one.result(60) is two.result(60)
    assert notes == ["importing people.csv"]


def test_a_changed_file_is_read_again_while_others_keep_the_import(tmp_path: Path, config: DatabaseSettings) -> None:
    before = resolve_database(people(tmp_path, "Ada"), config)
    assert rows(before) == ["Ada"]
    after = resolve_database(people(tmp_path, "Ada", "Bo"), config)
    assert rows(after) == ["Ada", "Bo"]
    assert rows(before) == ["Ada"]
    assert resolve_database(str(tmp_path / "people.csv"), config) is after
    last = resolve_database(people(tmp_path, "Cy", "Di", "Ed"), config)
    assert (rows(last), rows(after)) == (["Cy", "Di", "Ed"], ["Ada", "Bo"])
    assert len(list((tmp_path / "cache").rglob("*.duckdb"))) == 2


def test_a_file_added_to_a_folder_becomes_a_table(tmp_path: Path, config: DatabaseSettings) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    people(folder, "Ada")
    assert [t.name for t in resolve_database(str(folder), config).schema().tables] == ["people"]
    people(folder, "Rex", file="dogs.csv")
    assert sorted(t.name for t in resolve_database(str(folder), config).schema().tables) == ["dogs", "people"]


def test_a_file_that_is_gone_is_not_answered_from_its_copy(tmp_path: Path, config: DatabaseSettings) -> None:
    file = Path(people(tmp_path, "Ada"))
    resolve_database(str(file), config)
    file.unlink()
    with pytest.raises(DatabaseError, match=r"people\.csv"):
        resolve_database(str(file), config)
    assert rows(resolve_database(people(tmp_path, "Ada"), config)) == ["Ada"]


def test_a_change_of_the_same_size_and_time_is_noticed(tmp_path: Path, config: DatabaseSettings) -> None:
    file = Path(people(tmp_path, "Ada"))
    written = file.stat().st_mtime_ns
    assert rows(resolve_database(str(file), config)) == ["Ada"]

    people(tmp_path, "Eva")
    os.utime(file, ns=(written, written))

    assert rows(resolve_database(str(file), config)) == ["Eva"]


def test_half_a_file_is_waited_for(tmp_path: Path, config: DatabaseSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    file, rest = Path(people(tmp_path, "Ada")), ["Bo\n", "Cy\n"]

    def written_on(_: float) -> None:
        if rest:
            with file.open("a") as more:
                more.write(rest.pop(0))

    monkeypatch.setattr(files.time, "sleep", written_on)

    assert rows(resolve_database(str(file), config)) == ["Ada", "Bo", "Cy"]


@pytest.mark.parametrize("now", ["name\nBo\nCy\n", "name,age\nBo,7\n"])
def test_a_file_that_is_replaced_while_it_is_read_is_read_whole(
    tmp_path: Path, config: DatabaseSettings, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    file, chunks, replaced = Path(people(tmp_path, *["Ada"] * 5)), files._chunks, list[Path]()

    def first_part() -> bytes:
        part = file.read_bytes()[:12]
        (tmp_path / "new").write_text(now)
        (tmp_path / "new").replace(file)
        return part

    def second_part() -> bytes:
        return b'"' + file.read_bytes()[12:]

    async def torn(path: Path) -> AsyncIterator[bytes]:
        if replaced:
            async for chunk in chunks(path):
                yield chunk
            return
        replaced.append(path)
        yield first_part()
        yield second_part()

    monkeypatch.setattr(files, "_chunks", torn)

    database = resolve_database(str(file), config)

    assert rows(database)[:1] == ["Bo"]
    assert len(rows(database)) == now.count("\n") - 1


def test_a_restless_file_is_refused(tmp_path: Path, config: DatabaseSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(people(tmp_path, "Ada"))
    monkeypatch.setattr(files.time, "sleep", lambda _: file.write_text(file.read_text() + "Bo\n"))
    with pytest.raises(DatabaseError, match="still being written"):
        resolve_database(str(file), config)
