"""Statements on files run in child processes: one that hangs, crashes or eats memory costs its own answer only."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases import CancelToken, Database, Limits, open_database
from eval.databases.isolation import workers as pool
from eval.databases.isolation.messages import receive
from eval.databases.isolation.workers import workers
from eval.statement import ReadStatement
from tests.conftest import chdb_client
from tests.waiting import becomes
from tests.writing import write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")

COSTLY = Path(__file__).parent / "costly"
ROOT = Path(__file__).parents[3]
ENDLESS = {
    "sqlite": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
    "duckdb": "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1",
}
LONG_CALL = {
    "sqlite": "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')",
    "duckdb": "SELECT levenshtein(repeat('ab', 150000), repeat('ba', 150000))",
}
MANY = "CREATE TABLE many (n INTEGER, w VARCHAR)"


def made_sqlite(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(MANY)
        connection.executemany("INSERT INTO many VALUES (?, ?)", ((n, f"word {n}") for n in range(3000)))
        connection.execute("CREATE TABLE wide (v BLOB)")
        connection.executemany("INSERT INTO wide VALUES (randomblob(?))", [(8_000_000,)] * 5)
    return path


def made_duckdb(path: Path) -> Path:
    write(f"duckdb:///{path}", MANY, "INSERT INTO many SELECT range, 'word ' || range FROM range(3000)")
    return path


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("isolation")
    return made_sqlite(folder / "a.sqlite") if request.param == "sqlite" else made_duckdb(folder / "a.duckdb")


@pytest.fixture(scope="module")
def database(path: Path) -> Iterator[Database]:
    with open_database(path, isolation="process") as opened:
        yield opened


def read(database: Database, sql: str) -> ReadStatement:
    return ReadStatement(sql=sql, dialect=database.dialect)


def count(database: Database) -> object:
    return database.execute(read(database, "SELECT count(*) FROM many"), limits=Limits(seconds=20)).rows


def children() -> set[int]:
    """The processes that the fork server of this process has forked, zombies included."""
    server = workers._server
    return {int(p) for p in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()}


def memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def test_costly_statements_end_in_time_while_ordinary_ones_go_on(database: Database) -> None:
    """Each is released at the deadline plus a second at most; the server's memory hardly grows."""
    costly = (COSTLY / f"{database.dialect}.sql").read_text().splitlines()
    limits = Limits(seconds=0.3)
    before, most, answered, done = memory_mb(), 0.0, 0, threading.Event()

    def ordinary() -> None:
        nonlocal most, answered
        while not done.is_set():
            assert count(database) == ((3000,),)
            most, answered = max(most, memory_mb()), answered + 1
            time.sleep(0.02)

    def seconds(sql: str) -> float:
        started = time.monotonic()
        database.execute(read(database, sql), limits=limits)
        return time.monotonic() - started

    with ThreadPoolExecutor(3) as threads:
        beside = threads.submit(ordinary)
        took = dict(zip(costly, threads.map(seconds, costly), strict=True))
        done.set()
        beside.result()
    late = {sql: s for sql, s in took.items() if s > limits.seconds + 1.0}
    assert {
        sql: s for sql in late if (s := seconds(sql)) > limits.seconds + 1.0
    } == {}  # a busy machine gets another try
    assert answered >= 10
    assert most - before < 300


def test_many_wide_rows_stop_at_the_byte_cap(tmp_path: Path) -> None:
    before = memory_mb()
    with open_database(made_sqlite(tmp_path / "w.sqlite"), isolation="process") as database:
        sql = "SELECT zeroblob(8000000) FROM many LIMIT 500"
        result = database.execute(read(database, sql), limits=Limits(seconds=20, cell_bytes=8_000_000))
        assert result.truncated
        assert 1 <= len(result.rows) <= 4
        wide = "SELECT " + ", ".join(["zeroblob(16000000)"] * 300)
        assert database.execute(read(database, wide)).error == "the query needs more memory than it may use"
        assert count(database) == ((3000,),)
    assert memory_mb() - before < 150


def test_a_crash_costs_its_own_answer_only(database: Database) -> None:
    assert count(database) == ((3000,),)
    with ThreadPoolExecutor(2) as threads:
        endless, limits = read(database, ENDLESS[database.dialect]), Limits(seconds=2)
        both = [threads.submit(database.execute, endless, limits=limits) for _ in range(2)]
        victim = busiest_child()
        os.kill(victim, signal.SIGSEGV)
        results = {r.status: r for r in (both[0].result(10), both[1].result(10))}
    assert set(results) == {"error", "timeout"}
    assert "ended while it ran this statement" in (results["error"].error or "")
    assert count(database) == ((3000,),)
    assert becomes(lambda: victim not in children())


def busiest_child() -> int:
    """The child that used most processor time within half a second."""

    def ticks(process: int) -> int:
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except FileNotFoundError:  # it has ended meanwhile
            return 0
        return sum(map(int, stat.rpartition(")")[2].split()[11:13]))

    before = {process: ticks(process) for process in children()}
    time.sleep(0.5)
    return max(before, key=lambda process: ticks(process) - before[process])


@pytest.mark.parametrize("function", ["from_json", "json_transform"])
def test_a_statement_that_crashes_duckdb_is_an_error_without_addresses(tmp_path: Path, function: str) -> None:
    with open_database(made_duckdb(tmp_path / "c.duckdb"), isolation="process") as database:
        sql = f"SELECT {function}('[]', repeat('[', 20000) || '\"INT\"' || repeat(']', 20000))"
        error = database.execute(read(database, sql)).error or ""
        assert "ended while it ran this statement" in error
        assert str(tmp_path) not in error
        assert count(database) == ((3000,),)


def test_a_childs_work_ends_when_it_is_cancelled_and_by_force_at_the_deadline(database: Database) -> None:
    for statement in (ENDLESS[database.dialect], LONG_CALL[database.dialect]):
        cancel = CancelToken()
        count(database)
        before = children()
        threading.Timer(0.3, cancel.cancel).start()
        result = database.execute(read(database, statement), cancel=cancel)
        assert (result.status, result.error) == ("cancelled", "cancelled")
        assert becomes(lambda before=before: not before <= children())  # the one that ran it is gone, and reaped
    count(database)  # a child is ready
    killed = workers.ended_by_force
    result = database.execute(read(database, LONG_CALL[database.dialect]), limits=Limits(seconds=0.5))
    assert (result.status, result.error) == ("timeout", "stopped at the deadline of 0.5 s")
    assert workers.ended_by_force == killed + 1


def test_values_plans_and_refusals_are_the_same_as_without(path: Path, database: Database) -> None:
    values = {
        "sqlite": "SELECT 1, 2.5, NULL, 'é', x'00ff', 9e999, CAST(x'636166E9' AS TEXT), 9223372036854775807",
        "duckdb": "SELECT 1, 2.5, NULL, 'é', '\\xff'::BLOB, 'nan'::DOUBLE, DATE '2024-02-29', TIME '12:30:00.5', "
        "TIMESTAMP '2024-02-29 12:00:00', INTERVAL 3 DAY, [1, 2], {'a': 1}, 170141183460469231731687303715884105727, "
        "TIMESTAMPTZ '2024-02-29 12:00:00+00', uuid '00000000-0000-0000-0000-000000000001'",
    }
    with open_database(path) as direct:
        for sql in (values[database.dialect], "SELECT n, w FROM many ORDER BY n", "SELECT 1 WHERE 1 = 0"):
            mine, theirs = (d.execute(read(d, sql)) for d in (database, direct))
            assert repr((mine.rows, mine.columns, mine.truncated)) == repr(
                (theirs.rows, theirs.columns, theirs.truncated)
            )
        words, wrong = read(direct, "SELECT n, w FROM many ORDER BY n"), read(direct, "SELECT nope FROM many")
        cut = Limits(rows=7, cell_bytes=3)
        assert database.execute(words, limits=cut).rows == direct.execute(words, limits=cut).rows
        assert database.plan_lines(words) == direct.plan_lines(words) != ()
        assert database.refusal(wrong) == direct.refusal(wrong) is not None
        assert database.refusal(words) is None
        assert database.schema() == direct.schema()


def test_more_statements_than_children_wait_for_their_turn_and_each_gets_its_own_rows(database: Database) -> None:
    def rows(number: int) -> object:
        return database.execute(read(database, f"SELECT {number}, count(*) FROM many"), limits=Limits(seconds=20)).rows

    with ThreadPoolExecutor(24) as threads:
        assert list(threads.map(rows, range(72))) == [((n, 3000),) for n in range(72)]
    assert workers._count[database._target] <= pool.MOST_PER_DATABASE


def test_temporary_files_have_a_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "TEMP_BYTES", 20 << 20)
    sort = {
        "sqlite": "SELECT randomblob(1000) FROM many a, many b ORDER BY 1",
        "duckdb": "SELECT range, repeat('x', 100) FROM range(100000000) ORDER BY hash(range)",
    }
    for file in (made_sqlite(tmp_path / "t.sqlite"), made_duckdb(tmp_path / "t.duckdb")):
        with open_database(file, isolation="process") as database:
            result = database.execute(read(database, sort[database.dialect]), limits=Limits(seconds=60))
            assert result.status == "error"
            assert "temp" in (result.error or "").lower()
            assert count(database) == ((3000,),)


def test_a_child_can_reach_no_other_file_and_no_network(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    (tmp_path / "other").write_text("x")
    script = (
        "import socket, sys\nfrom pathlib import Path\nfrom eval.confinement import confine\n"
        "mine, other = map(Path, sys.argv[1:])\nprint(confine([mine], []))\n"
        "print(mine.read_text())\n"
        "for forbidden in (other.read_text, lambda: mine.write_text('y'), socket.socket):\n"
        "    try:\n        forbidden()\n        print('allowed')\n"
        "    except PermissionError:\n        print('refused')\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "mine"), str(tmp_path / "other")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    if done[0] != "[]":
        pytest.skip(f"this kernel does not confine: {done[0]}")
    assert done[1:] == ["x", "refused", "refused", "refused"]


class _Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("true",)


def test_the_server_reads_only_plain_values_from_a_child() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for message in (pickle.dumps(_Harmful()), b"no pickle"):
            theirs.sendall(len(message).to_bytes(8, "big") + message)
            with pytest.raises(EOFError):
                receive(ours, 1000)
        theirs.sendall((1 << 40).to_bytes(8, "big"))
        with pytest.raises(EOFError, match="too large"):
            receive(ours, 1000)


@pytest.mark.parametrize("killed", [False, True])
def test_nothing_is_left_when_the_server_ends(path: Path, tmp_path: Path, killed: bool) -> None:
    script = (
        "import sys\nfrom eval.databases import open_database\n"
        "from eval.databases.isolation.workers import workers\n"
        "from eval.sql.types import ReadStatement\nd = open_database(sys.argv[1], isolation='process')\n"
        "d.execute(ReadStatement('SELECT 1', d.dialect))\nprint(workers._server.pid, flush=True)\n"
        + ("import time\ntime.sleep(60)" if killed else "")
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as process:
        server = int(process.stdout.readline())
        if killed:
            process.kill()
    assert becomes(lambda: not Path(f"/proc/{server}/task").exists() or _is_zombie(server))
    assert becomes(lambda: list(tmp_path.iterdir()) == [])


def _is_zombie(process: int) -> bool:
    """Where nobody adopts orphans, as in a container without init."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_fork_server_that_was_lost_is_started_again(tmp_path: Path) -> None:
    with open_database(made_sqlite(tmp_path / "f.sqlite"), isolation="process") as database:
        assert count(database) == ((3000,),)
        server = workers._server
        server.kill()
        server.wait()
        results = [database.execute(read(database, "SELECT count(*) FROM many")) for _ in range(3)]
        assert results[-1].rows == ((3000,),)


def test_children_are_ended_when_their_database_is_closed(tmp_path: Path) -> None:
    database = open_database(made_sqlite(tmp_path / "g.sqlite"), isolation="process")
    before = children() if workers._server else set()
    count(database)
    own = children() - before
    database.close()
    assert becomes(lambda: not own & children())
    assert database.execute(read(database, "SELECT 1")).error == "the database has been closed"


def test_a_folder_of_chdb_is_read_by_children_that_cannot_write_it(clickhouse_url: str) -> None:
    with chdb_client(clickhouse_url) as client:
        client.command("CREATE TABLE many ENGINE = MergeTree ORDER BY n AS SELECT number AS n FROM numbers(3000)")
    values = "SELECT toUUID('00000000-0000-0000-0000-000000000001'), toIPv4('10.0.0.1'), toDecimal64('1.5', 2), [1], "
    values += "toDateTime('2024-02-29 12:00:00', 'Asia/Tokyo'), map('a', 1), tuple(1, 'x'), NULL"
    with open_database(clickhouse_url) as direct, open_database(clickhouse_url, isolation="process") as database:
        assert count(database) == ((3000,),)
        killed = workers.ended_by_force
        endless = "SELECT count() FROM many AS a, many AS b, many AS c, many AS d WHERE a.n * b.n = -c.n - d.n"
        result = database.execute(read(database, endless), limits=Limits(seconds=0.5))
        assert (result.status, workers.ended_by_force - killed <= 1) == ("timeout", True)
        assert repr(database.execute(read(database, values)).rows) == repr(direct.execute(read(direct, values)).rows)
        assert database.schema() == direct.schema()
        error = database.execute(read(database, "SELECT file('/etc/passwd')")).error or ""
        assert "file may not be called" in error
