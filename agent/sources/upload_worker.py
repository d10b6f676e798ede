"""Checks and imports an uploaded file in a separate process: `agent.sources.upload_child`, or where a platform cannot
fork `python -m agent.sources.upload_worker`.

In: a job as one JSON object on standard input. Out: lines of JSON on standard output: what is done at the moment, and
last the tables, notes and plan, or the error. Memory, time and file size of the process are bounded and it has none of
the server's secrets, so a crafted file that hangs or crashes a reader does no harm.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent.sources import SourceError, SourceRefused, SourceTooLarge
from agent.sources.file_kinds import TABULAR, Kind
from agent.sources.tabular.layout import found_layout
from agent.sources.tabular.plan import Reading
from agent.sources.tabular.stage import Bounds
from agent.sources.tabular.tables import File, import_tables
from agent.sources.tabular.words import notes as notes_of
from agent.sources.workbook import sheets_as_csv
from eval.databases import DatabaseError, open_database
from eval.databases.urls import parse_target

MAX_TABLES = 2000
MAX_COLUMNS = 20_000
"""Maximum columns of all tables together: as many as the schema page and a profile can handle."""
_VIRTUAL = re.compile(r"CREATE\s+VIRTUAL\s+TABLE\b.*?\bUSING\s+[\"'`\[]?(\w+)", re.IGNORECASE | re.DOTALL)
_HARMLESS_MODULES = frozenset({"fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"})


def do(job: dict[str, Any]) -> None:
    """Do a job and print the answer. The process is bounded by the job's limits from then on."""
    with suppress(ImportError):  # limits that this process cannot lift again
        import resource

        for limit, value in (
            (resource.RLIMIT_AS, job["memory"]),
            (resource.RLIMIT_CPU, int(job["seconds"]) + 5),
            (resource.RLIMIT_FSIZE, job["out_bytes"]),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NOFILE, 128),
        ):
            with suppress(ValueError, OSError):
                resource.setrlimit(limit, (value, value))
    try:
        answer = _done(job)
    except SourceTooLarge as e:
        answer = {"too_large": str(e)}
    except (SourceError, DatabaseError) as e:
        answer = {"refused": str(e).replace(str(job["out"]), "the file")}
    json.dump(answer, sys.stdout)


def _done(job: dict[str, Any]) -> dict[str, Any]:
    kinds: list[Kind] = job["kinds"]
    files = [(Path(path), str(name)) for path, name in job["files"]]
    out = Path(job["out"])
    notes: Sequence[str] = ()
    reading = Reading()
    if kinds[0] in TABULAR:
        reading = _import(job, files, kinds, out)
        notes = notes_of(reading)
    else:
        files[0][0].replace(out)
        if kinds[0] == "sqlite":
            notes = _check_sqlite(out, job["seconds"])
    with open_database(out, isolation="none") as database:
        tables = database.schema().tables
    if not tables:
        raise SourceRefused("the file contains no tables")
    _refuse_many(len(tables), sum(len(t.columns) for t in tables))
    return {
        "dialect": database.dialect,
        "tables": [{"name": t.name, "columns": len(t.columns), "rows": t.row_count} for t in tables],
        "notes": notes,
        "reading": reading.model_dump(mode="json"),
    }


def _check_sqlite(path: Path, seconds: float) -> tuple[str, ...]:
    """Refuse a file that is damaged or needs modules that can do more than store data."""
    target = parse_target(path)
    if target.dialect != "sqlite":
        raise SourceRefused("the file is no SQLite database")
    notes = []
    with path.open("r+b") as file:
        if b"\x02" in file.read(20)[18:20]:  # reading a database in WAL mode requires write access beside the file
            file.seek(18)
            file.write(b"\x01\x01")
            notes.append("the file was in WAL mode; what was only in its -wal file is not part of it")
    deadline = time.monotonic() + seconds
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as raw:
        raw.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        raw.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            raw.execute("PRAGMA trusted_schema = OFF")
            raw.execute("PRAGMA cell_size_check = ON")
            made = raw.execute("SELECT type, sql FROM sqlite_schema").fetchall()
            for _, sql in made:
                module = _VIRTUAL.match(str(sql or ""))
                if module and module[1].lower() not in _HARMLESS_MODULES:
                    raise SourceRefused(
                        f"the file has a virtual table of the kind {module[1][:40]}, which is not opened"
                    )
            # before the structure is read, which takes half a minute of so many
            tables = sum(kind == "table" for kind, _ in made)
            _refuse_many(tables, 0)
            columns = (
                "SELECT count(*) FROM (SELECT 1 FROM sqlite_schema AS s, pragma_table_info(s.name) "
                f"WHERE s.type = 'table' LIMIT {MAX_COLUMNS + 1})"
            )
            _refuse_many(tables, raw.execute(columns).fetchone()[0])
            verdict = raw.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as e:
            raise SourceRefused(f"the file is damaged: {e}") from None
    if verdict is None or verdict[0] != "ok":
        raise SourceRefused(f"the file is damaged: {str(verdict and verdict[0])[:200]}")
    triggers = sum(kind == "trigger" for kind, _ in made)
    if triggers:
        notes.append(f"triggers never run here: {triggers:,}")
    return tuple(notes)


def _refuse_many(tables: int, columns: int) -> None:
    if tables > MAX_TABLES:
        raise SourceTooLarge(f"the file holds more than {MAX_TABLES:,} tables")
    if columns > MAX_COLUMNS:
        raise SourceTooLarge(f"the file's tables have more than {MAX_COLUMNS:,} columns together")


def _import(job: dict[str, Any], files: list[tuple[Path, str]], kinds: list[Kind], out: Path) -> Reading:
    bounds = Bounds(job["rows"], job["columns"])
    tables: list[File] = []
    for (path, name), kind in zip(files, kinds, strict=True):
        if kind == "excel":
            _report(f"reading {name}", 0.0)
            sheets = sheets_as_csv(path, name, out.parent, bounds)
            book = Path(name).stem
            tables += [File(sheet, title, "delimited", book) for sheet, title in sheets]
        else:
            ending = Path(name).suffix.lower()
            is_no_text = kind == "delimited" and ending in (".xlsx", ".xlsm", ".parquet")
            if is_no_text and len(found_layout(path).headers) < 2:
                raise SourceRefused(
                    f"the file cannot be read: it is called {ending}, but is plain text without columns"
                )
            tables.append(File(path, Path(name).stem, kind))
    before = Reading.model_validate(job["before"])
    return import_tables(tables, out, bounds, before, _report, memory=job["memory"])


def _report(what: str, part: float) -> None:
    """Tell the process that waits."""
    sys.stdout.write(json.dumps({"doing": what, "part": round(part, 3)}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    do(json.load(sys.stdin))
