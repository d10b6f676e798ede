"""Uploaded files become private databases; what is too large, damaged or hostile is refused and leaves nothing."""

from __future__ import annotations

import asyncio
import io
import json
import random
import socket
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent.parser import read
from agent.results import run_sql
from agent.sources import SourceError, SourceGone, SourceRefused, SourceTooLarge, uploads
from agent.sources.tabular.plan import Plans
from agent.sources.uploads import Source, UploadLimits, UploadStore
from eval.databases import DatabaseError, Limits
from eval.databases.isolation.workers import Workers, workers
from eval.sql import parse
from eval.sql.references import resolve
from eval.statement import ReadStatement
from tests.pairs import rows
from tests.writing import sqlite_file

LIMITS = UploadLimits(bytes=2 << 20, rows=20_000, columns=50, kept=5, seconds=20)


@pytest.fixture
def store(tmp_path: Path) -> UploadStore:
    return UploadStore(tmp_path / "sources", LIMITS)


async def pieces(data: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def everything(store: UploadStore, source: Source, table: str) -> tuple[tuple[object, ...], ...]:
    with store.open(source.id) as database:
        return database.execute(ReadStatement(f'SELECT * FROM "{table}"', database.dialect)).rows


def paths(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()]


def made(tmp_path: Path, *statements: str) -> bytes:
    path = tmp_path / "made.sqlite"
    path.unlink(missing_ok=True)
    return sqlite_file(path, "; ".join(statements)).read_bytes()


GOOD = ("CREATE TABLE t (n INTEGER, word TEXT)", "INSERT INTO t VALUES (1, 'a'), (2, 'b')")


async def test_a_sqlite_file_is_a_database_of_its_owner(store: UploadStore, tmp_path: Path) -> None:
    source = await store.receive([("shop.db", pieces(made(tmp_path, *GOOD)))], owner="ada")

    assert (source.name, source.dialect) == ("shop.db", "sqlite")
    assert [(t.name, t.columns, t.rows) for t in source.tables] == [("t", 2, 2)]
    assert [s.id for s in store.sources(owner="ada")] == [source.id]
    with store.open(source.id, owner="ada") as database:
        assert database.name == "shop"
        assert database.execute(ReadStatement("SELECT sum(n) FROM t", "sqlite")).rows == ((3,),)
        assert database.execute(ReadStatement("DELETE FROM t", "sqlite")).status == "error"
    assert store.sources(owner="eve") == []
    for stranger in (lambda: store.open(source.id, owner="eve"), lambda: store.remove(source.id, owner="eve"),
                     lambda: store.find("../" + source.id, owner="ada"),
                     lambda: store.find("", owner="ada")):  # fmt: skip
        with pytest.raises(SourceGone):
            stranger()
    store.remove(source.id, owner="ada")
    assert left_behind(tmp_path / "sources") == []


async def test_files_and_folders_are_private(store: UploadStore, tmp_path: Path) -> None:
    await store.receive([("a.csv", pieces(b"n,m\n1,2\n"))])

    for path in paths(tmp_path / "sources"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert sorted(p.suffix for p in paths(tmp_path / "sources") if p.is_file()) == ["", "", ".duckdb", ".json"]


@pytest.mark.parametrize(("name", "shown", "table"), rows("imports/names_of_files.jsonl"))
async def test_names_lead_nowhere(store: UploadStore, tmp_path: Path, name: str, shown: str, table: str) -> None:
    source = await store.receive([(name, pieces(b"n,m\n1,2\n"))])

    assert (source.name, source.tables[0].name) == (shown, table)
    assert {p.parent.parent for p in paths(tmp_path) if p.suffix == ".json"} == {tmp_path / "sources"}


async def test_parquet_keeps_its_types(store: UploadStore) -> None:
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    row = {"n": [1], 'we"ird name': ["x"], "money": [Decimal("1.50")], "day": [date(2024, 1, 2)]}
    pq.write_table(pa.table(row), buffer)
    source = await store.receive([("it's data.parquet", pieces(buffer.getvalue()))])

    assert (source.dialect, source.tables[0].name) == ("duckdb", "it_s_data")
    assert everything(store, source, "it_s_data") == ((1, "x", Decimal("1.50"), date(2024, 1, 2)),)
    with store.open(source.id) as database:
        assert database.execute(ReadStatement("SELECT * FROM read_csv('/etc/passwd')", "duckdb")).status == "error"


async def test_a_duckdb_file_is_a_database(store: UploadStore, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS n FROM range(10)")
        connection.execute("CREATE VIEW leak AS SELECT * FROM read_text('/etc/passwd')")
    source = await store.receive([("x.duckdb", pieces((tmp_path / "x.duckdb").read_bytes()))])

    assert source.dialect == "duckdb"
    assert len(everything(store, source, "t")) == 10
    assert everything(store, source, "leak") == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        *(
            (begins.encode("latin-1") + bytes(zeros), reason)
            for begins, zeros, reason in rows("imports/no_databases.jsonl")
        ),
        (bytes(range(256)) * 40, "no SQLite, DuckDB, Parquet, Excel, JSON or CSV file"),
        (b'a,b\n"' + b"x" * (1 << 20) + b"\n" * 10, "cannot be read as CSV"),
    ],
)
async def test_what_is_no_database_is_refused(store: UploadStore, tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as refused:
        await store.receive([("x", pieces(data))])

    assert left_behind(tmp_path / "sources") == []
    assert str(tmp_path) not in str(refused.value)


async def test_an_endless_upload_is_left_at_the_limit(store: UploadStore, tmp_path: Path) -> None:
    sent = largest = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent, largest
        while True:
            sent += 1
            largest = max(largest, sum(p.stat().st_size for p in paths(tmp_path) if p.name.startswith("raw")))
            yield b"1,2,3,4,5\n" * 10_000

    with pytest.raises(SourceTooLarge, match="at most 2 MiB"):
        await store.receive([("big.csv", endless())])

    assert sent == LIMITS.bytes // 100_000 + 1
    assert largest <= LIMITS.bytes
    assert left_behind(tmp_path / "sources") == []


async def test_rows_and_columns_are_limited(store: UploadStore, tmp_path: Path) -> None:
    columns, other = ", ".join(f"c{i}" for i in range(1900)), tmp_path / "other"
    wide = made(tmp_path, *(f"CREATE TABLE t{n} ({columns})" for n in range(11)))
    for kept, name, data, reason in (
        (store, "x.csv", b"n\n" + b"1\n" * 20_001, "more than 20,000 rows"),
        (store, "x.csv", b",".join([b"x"] * 51) + b"\n1\n", "more than 50 columns"),
        (store, "x.csv", b"a\n" + b",".join([b"x"] * 51) + b"\n", "more than 50 columns"),
        (UploadStore(other, UploadLimits(seconds=60)), "w.sqlite", wide, "more than 20,000 columns together"),
    ):
        with pytest.raises(SourceTooLarge, match=reason):
            await kept.receive([(name, pieces(data))])
    assert left_behind(tmp_path / "sources") == left_behind(other) == []


async def test_a_sender_that_breaks_off_or_is_cancelled_leaves_nothing(store: UploadStore, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def broken(slow: bool) -> AsyncIterator[bytes]:
        yield b"a,b\n" * 300_000
        begun.set()
        if slow:
            await asyncio.sleep(30)
        raise ConnectionResetError("gone")

    with pytest.raises(SourceError):
        await store.receive([("x.csv", broken(False))])
    begun.clear()
    task = asyncio.create_task(store.receive([("x.csv", broken(True))]))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left_behind(tmp_path / "sources") == []


async def test_one_owner_keeps_so_many(store: UploadStore) -> None:
    for n in range(LIMITS.kept):
        await store.receive([(f"{n}.csv", pieces(b"a,b\n1,2\n"))], owner="ada")
    with pytest.raises(SourceTooLarge, match="5 uploads already"):
        await store.receive([("more.csv", pieces(b"a,b\n1,2\n"))], owner="ada")
    await store.receive([("other.csv", pieces(b"a,b\n1,2\n"))], owner="bob")


async def test_the_same_files_again_are_the_upload_that_there_is(store: UploadStore) -> None:
    first = await store.receive([("a.csv", pieces(b"a,b\n1,2\n"))], owner="ada")

    assert await store.receive([("a.csv", pieces(b"a,b\n1,2\n"))], owner="ada") == first
    for name, data, owner in (("b.csv", b"1,2", "ada"), ("a.csv", b"1,3", "ada"), ("a.csv", b"1,2", "bob")):
        other = await store.receive([(name, pieces(b"a,b\n" + data + b"\n"))], owner=owner)
        assert other.id != first.id
    again = await store.read_again(first.id, Plans(), owner="ada")
    assert (await store.receive([("a.csv", pieces(b"a,b\n1,2\n"))], owner="ada")).stem == again.stem


async def test_without_forks_a_fresh_interpreter_reads(store: UploadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "can_fork", lambda: False)
    source = await store.receive([("a.csv", pieces(b"a,b\n1,2\n"))])
    assert everything(store, source, "a") == ((1, 2),)


async def test_no_process_or_room_is_said(store: UploadStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(module: str) -> None:
        raise DatabaseError("no process for statements can be started")

    with monkeypatch.context() as patched:
        patched.setattr(workers, "run", refused)
        with pytest.raises(SourceError, match="no process"):
            await store.receive([("a.csv", pieces(b"a,b\n1,2\n"))])
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("U", (), {"free": 1000})())
    with pytest.raises(SourceError, match="no room on the disk"):
        await store.receive([("x.csv", pieces(b"a,b\n1,2\n"))])
    assert left_behind(tmp_path / "sources") == []


async def test_views_and_triggers_cannot_call_or_write(store: UploadStore, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    data = made(
        tmp_path, *GOOD,
        f"CREATE VIEW loads AS SELECT load_extension('{canary}')",
        f"CREATE VIEW writes AS SELECT writefile('{canary}', 'x')",
        "CREATE VIEW broken AS SELECT * FROM nothing_there",
        "CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM t; END",
    )  # fmt: skip
    source = await store.receive([("v.db", pieces(data))])
    with store.open(source.id) as database:
        for view in ("loads", "writes", "broken"):
            assert database.execute(ReadStatement(f"SELECT * FROM {view}", "sqlite")).status == "error"
    assert "triggers never run here: 1" in source.notes
    assert not canary.exists()


def with_schema(tmp_path: Path, kind: str, sql: str) -> bytes:
    """A file whose schema holds what SQLite itself would not have put there."""
    made(tmp_path, *GOOD)
    with closing(sqlite3.connect(tmp_path / "made.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, 'x', 'x', 0, ?)", (kind, sql))
    return (tmp_path / "made.sqlite").read_bytes()


@pytest.mark.parametrize(("kind", "sql", "reason"), rows("imports/schemas_made_by_hand.jsonl"))
async def test_a_forged_schema_is_refused(store: UploadStore, tmp_path: Path, kind: str, sql: Any, reason: str) -> None:
    with pytest.raises(SourceRefused, match=reason):
        await store.receive([("x.db", pieces(with_schema(tmp_path, kind, sql)))])
    assert left_behind(tmp_path / "sources") == []


async def test_a_bomb_of_views_takes_bounded_time(tmp_path: Path) -> None:
    views = [f"CREATE VIEW v{n} AS SELECT a.n FROM v{n - 1} a JOIN v{n - 1} b ON a.n = b.n" for n in range(1, 40)]
    data = made(tmp_path, *GOOD, "CREATE VIEW v0 AS SELECT n FROM t", *views)
    store = UploadStore(tmp_path / "sources", UploadLimits(seconds=3))
    started = time.monotonic()
    try:
        source = await store.receive([("bomb.db", pieces(data))])
        with store.open(source.id) as database:
            database.execute(ReadStatement("SELECT * FROM v39", "sqlite"), limits=Limits(seconds=0.5))
    except SourceError:
        assert left_behind(tmp_path / "sources") == []
    assert time.monotonic() - started < 30  # read to its end, it would take hours


async def test_a_file_in_wal_mode_opens(store: UploadStore, tmp_path: Path) -> None:
    data = made(tmp_path, "PRAGMA journal_mode = WAL", *GOOD)
    assert data[18:20] == b"\x02\x02"
    source = await store.receive([("wal.db", pieces(data))])

    assert everything(store, source, "t") == ((1, "a"), (2, "b"))
    assert "WAL mode" in source.notes[0]


@pytest.mark.slow
async def test_damaged_files_never_hurt(store: UploadStore, tmp_path: Path) -> None:
    words = ", ".join(f"({n}, '{'w' * (n % 300)}')" for n in range(500))
    good = made(tmp_path, GOOD[0], "CREATE INDEX i ON t (word)", f"INSERT INTO t VALUES {words}")
    rng = random.Random(7)
    damage: list[Callable[[bytearray], object]] = [
        lambda d: d.__setitem__(slice(16, 18), b"\x00\x01"),
        lambda d: d.__setitem__(slice(16, 18), b"\x02\x00"),
        lambda d: d.__setitem__(slice(20, 21), b"\xff"),
        lambda d: d.__setitem__(slice(28, 32), b"\xff\xff\xff\xff"),
        lambda d: d.__setitem__(slice(100, 112), bytes(12)),
        lambda d: d.__delitem__(slice(len(d) // 2, None)),
    ]
    outcomes = set()
    for n in range(12):
        data = bytearray(good)
        if n < len(damage):
            damage[n](data)
        else:
            for _ in range(40):
                data[rng.randrange(100, len(data))] = rng.randrange(256)
        try:
            source = await store.receive([("x.db", pieces(bytes(data)))])
            outcomes.add("kept")
            everything(store, source, "t")
            store.remove(source.id)
        except SourceError:
            outcomes.add("refused")
    assert "refused" in outcomes
    assert left_behind(tmp_path / "sources") == []


async def test_a_workbook_is_a_table_for_each_sheet(store: UploadStore, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sales = book.active
    sales.title = "Sales 2026"
    sales.append(["Sales of the north"])
    sales.append([])
    sales.append(["day", "amount", "paid", "at"])
    sales.append([date(2026, 2, 3), 12.5, True, datetime(2026, 2, 3, 9, 30)])
    sales.append([date(2026, 2, 4), 7, False, datetime(2026, 2, 4, 23, 5)])
    book.create_sheet("Empty")
    book.create_sheet("Shops").append(["name"])
    book["Shops"].append(["=1+1"])
    book["Shops"].append(["Härte"])
    book.save(tmp_path / "book.xlsx")
    data = (tmp_path / "book.xlsx").read_bytes()

    source = await store.receive([("book.xlsx", pieces(data)), ("more.csv", pieces(b"a,b\n1,2\n"))])
    with pytest.raises(SourceRefused, match="if all are CSV, Excel, JSON or Parquet"):
        await store.receive([("a.csv", pieces(b"a\n1\n")), ("b.db", pieces(b"SQLite format 3\0" + bytes(600)))])

    assert sorted(t.name for t in source.tables) == ["Sales_2026", "Shops", "more"]
    first = everything(store, source, "Sales_2026")[0]
    assert first == (date(2026, 2, 3), 12.5, True, datetime(2026, 2, 3, 9, 30))
    assert any("1 row above the table left out" in note for note in source.notes)
    assert len(left_behind(tmp_path / "sources")) == 5


async def test_what_a_file_held_is_no_table_of_its_own_but_a_statement_reads_it(store: UploadStore) -> None:
    source = await store.receive([("fees.csv", pieces(b"Member,Fee\nAnn,\xc2\xa334.99\nBob,\xc2\xa320.00\n"))])

    with store.open(source.id) as database:
        schema = database.schema()
        sql = 'SELECT "Fee" FROM fees_as_written ORDER BY row'
        missing = resolve(parse(sql, "duckdb"), schema).phantoms
        outcome = await run_sql(database, sql, limits=Limits(seconds=20, rows=10))
        reading = read("how many rows are there", schema)
    assert [t.name for t in schema.tables] == [t.name for t in source.tables] == ["fees"]
    assert schema.column_count == 2
    assert not missing
    assert [row[0] for row in outcome.rows] == ["£34.99", "£20.00"], outcome.error
    assert "FROM fees" in reading.sql
    assert "as_written" not in reading.sql


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines files")
def test_a_reader_that_was_taken_over_reaches_its_own_files_alone(tmp_path: Path) -> None:
    work, secret = tmp_path / "work", tmp_path / "secret"
    work.mkdir()
    (work / "a.csv").write_text("a\n1\n")
    secret.write_text("s")
    workers = Workers()
    with socket.create_server(("127.0.0.1", 0)) as home:
        job = {
            "files": [[str(work / "a.csv"), "a.csv"]], "kinds": ["delimited"], "out": str(work / "out"),
            "secret": str(secret), "port": home.getsockname()[1],
        }  # fmt: skip
        try:
            with workers.run("tests.agent.sources.taken_over") as child, child.makefile() as told:
                child.sendall(json.dumps(job).encode())
                child.shutdown(socket.SHUT_WR)
                number, could = told.read().splitlines()
        finally:
            workers.close()
    assert int(number) > 0
    assert json.loads(could) == ["reads its file", "writes its folder"]


def test_a_module_that_cannot_be_run_costs_its_own_caller_only() -> None:
    workers = Workers()
    try:
        for name in ("tests.agent.sources.nowhere", "json"):
            with workers.run(name) as child:
                assert child.recv(1) == b""
        with workers.run("agent.sources.upload_child") as child, child.makefile() as told:
            assert int(told.readline()) > 0
    finally:
        workers.close()
