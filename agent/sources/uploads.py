"""Uploaded files as private databases: SQLite and DuckDB files as they are; CSV, Excel, JSON lines and Parquet imported
into new ones.

In: an untrusted file name and stream of bytes. Out: a `Source`, which only its owner can open, or a `SourceError`.
Files are written to a private folder under random names. A stream over the limit is dropped at once and its file
removed. Files are checked and imported in a separate process (`agent.sources.upload_worker`).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from agent.config import LimitSettings
from agent.runtime.private_folder import private_folder
from agent.sources.file_kinds import TABULAR, Kind, file_kind
from agent.sources.source_errors import SourceError, SourceGone, SourceRefused, SourceTooLarge
from agent.sources.tabular.plan import Plans, Reading
from eval.databases import Database, DatabaseError, can_fork, open_database
from eval.version import VERSION

FREE_BYTES = 256 * 1024 * 1024
"""Disk space that is left free."""
_ROOT = Path(__file__).resolve().parents[2]
_HEAD = 4096
_FLUSH = 1 << 20
_ABANDONED_SECONDS = 3600.0
_ID = re.compile(r"[0-9a-f]{32}")
_LISTED = "listed"
_LINE = 256 << 20
"""Bytes of a worker's answer."""
Progress = Callable[[str, float], None]
"""Gets what is done, and how much of it, 0..1."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    bytes: int = 200 * 1024 * 1024
    """Size of all files of one upload together."""
    rows: int = 5_000_000
    columns: int = 1000
    kept: int = 20
    """Number of uploads of one owner."""
    seconds: float = 120.0
    """Time for checking and importing."""
    memory: int = 4 << 30
    """Address space of the process that checks and imports."""

    @classmethod
    def from_settings(cls, settings: LimitSettings) -> UploadLimits:
        return cls(bytes=settings.upload_mb << 20, rows=settings.upload_rows, kept=settings.uploads_kept)


class SourceTable(BaseModel, frozen=True):
    name: str
    columns: int
    rows: int | None
    """None for views."""


class Source(BaseModel, frozen=True):
    """An uploaded database as its owner sees it."""

    id: str
    name: str
    """Display name: the first file's name without its path, safe to show as text."""
    dialect: Literal["sqlite", "duckdb"]
    tables: list[SourceTable]
    notes: list[str]
    """What was decided or left out during the import."""
    bytes: int
    """On disk."""
    created_at: str
    """ISO 8601, UTC."""
    reading: Reading = Reading()
    """How its tables were read; none for databases."""
    stem: str = ""
    """Of the database's file, where it is not the id: the file was read again by another plan."""
    content: str = ""
    """Digest of its files as they came, and their names."""


class UploadStore:
    """The uploaded databases in one folder. Safe to use from several tasks and processes."""

    def __init__(self, folder: Path, limits: UploadLimits | None = None, *, keeps_files: bool = True) -> None:
        """`keeps_files`: whether files of tables are kept as they came, to be read again by another plan.

        Raises SourceError when the folder cannot be made private."""
        self.limits = limits or UploadLimits()
        self._keeps_files = keeps_files
        self._folder = folder
        _make_private(folder)

    async def receive(
        self,
        files: Sequence[tuple[str, AsyncIterable[bytes]]],
        *,
        owner: str = "",
        before: Reading | None = None,
        on_progress: Progress = lambda *_: None,
    ) -> Source:
        """Import files into one database, with a table for each file or sheet. Several files are allowed if all are
        CSV, Excel, JSON or Parquet. `before`: how files of these names were read earlier; without it, files that this
        owner has already uploaded and that did not change give the upload that there is. Raises SourceTooLarge as soon
        as a limit is passed, SourceRefused for what is no database or table, SourceError."""
        if not files:
            raise SourceRefused("no file was sent")
        place = self._place(owner)
        await asyncio.to_thread(self._make_ready, place)
        source_id = secrets.token_hex(16)
        async with _working(place, source_id) as work:
            received = [(str(work / f"raw{i}"), shown_name(name)) for i, (name, _) in enumerate(files)]
            kinds: list[Kind] = []
            left = self.limits.bytes
            content = hashlib.sha256(VERSION.encode())  # another version may read the same files better
            for (path, name), (_, chunks) in zip(received, files, strict=True):
                content.update(f"\0{name}\0".encode())
                kind, size = await self._written(Path(path), chunks, left, content)
                left -= size
                kinds.append(kind)
            digest = content.hexdigest()
            there = await asyncio.to_thread(self.sources, owner=owner)
            if before is None and (same := next((s for s in there if s.content == digest), None)):
                return same
            if len(there) >= self.limits.kept:
                raise SourceTooLarge(f"there are {self.limits.kept} uploads already: remove one first")
            if len(files) > 1 and not TABULAR.issuperset(kinds):
                raise SourceRefused("several files make one database if all are CSV, Excel, JSON or Parquet")
            answer = await self._read(work, kinds, received, before or Reading(), on_progress)
            source = Source(
                id=source_id,
                name=received[0][1],
                bytes=(work / "out").stat().st_size,
                created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
                content=digest,
                **answer,
            )
            if self._keeps_files and TABULAR.issuperset(kinds):
                kept = place / f"{source_id}.files"
                kept.mkdir(0o700)
                for i in range(len(received)):
                    (work / f"raw{i}").replace(kept / f"raw{i}")
                listed = json.dumps({"kinds": kinds, "names": [name for _, name in received]})
                (kept / _LISTED).write_text(listed, encoding="utf-8")
                (kept / _LISTED).chmod(0o600)
            self._keep(source, work, place)
            return source

    def sources(self, *, owner: str = "") -> list[Source]:
        """The owner's uploads, newest first. Blocks for a few ms, as do the methods below."""
        kept = []
        for path in self._place(owner).glob("*.json"):
            with suppress(OSError, ValueError):
                kept.append(Source.model_validate_json(path.read_bytes()))
        return sorted(kept, key=lambda s: s.created_at, reverse=True)

    def find(self, source_id: str, *, owner: str = "") -> Source:
        """Raises SourceGone, also for another owner's upload."""
        try:
            return Source.model_validate_json(self._path(source_id, owner, "json").read_bytes())
        except (OSError, ValueError):
            raise SourceGone("this upload does not exist") from None

    async def read_again(self, source_id: str, plans: Plans, *, owner: str = "") -> Source:
        """Read an upload's files again by other plans; those of tables that are not named stay. Close databases opened
        from it first. Raises SourceGone, SourceRefused (the files are not kept), SourceTooLarge."""
        source = await asyncio.to_thread(self.find, source_id, owner=owner)
        place = self._place(owner)
        kept = place / f"{source_id}.files"
        if not (kept / _LISTED).is_file():
            raise SourceRefused("the files of this database are not kept: upload them again")
        listed = json.loads((kept / _LISTED).read_bytes())
        files = [(str(kept / f"raw{i}"), name) for i, name in enumerate(listed["names"])]
        changed = {plan.table: plan for plan in plans.tables}
        before = Reading(
            tables=tuple(
                table.model_copy(update={"plan": changed.get(table.plan.table, table.plan)})
                for table in source.reading.tables
            )
        )
        stem = secrets.token_hex(16)
        async with _working(place, stem) as work:
            answer = await self._read(work, listed["kinds"], files, before, lambda *_: None)
            size = (work / "out").stat().st_size
            again = source.model_copy(update={"bytes": size, "stem": stem}).model_dump() | answer
            self._keep(Source.model_validate(again), work, place)
            self._database_of(source, owner).unlink(missing_ok=True)
        return await asyncio.to_thread(self.find, source_id, owner=owner)

    def open(self, source_id: str, *, owner: str = "") -> Database:
        """Open the upload read-only, like any database. Raises SourceGone, DatabaseError."""
        source = self.require(source_id, owner=owner)
        database = open_database(self._database_of(source, owner))
        database.name = Path(source.name).stem or source.name
        return database

    def require(self, source_id: str, *, owner: str = "") -> Source:
        """Like `find`; raises SourceGone, too, where the upload's file is no longer there."""
        source = self.find(source_id, owner=owner)
        if not self._database_of(source, owner).is_file():
            raise SourceGone(f"the file of {source.name} is gone; upload it again")
        return source

    def remove(self, source_id: str, *, owner: str = "") -> None:
        """Delete the upload permanently; close databases opened from it first. Raises SourceGone."""
        source = self.find(source_id, owner=owner)
        self._database_of(source, owner).unlink(missing_ok=True)
        shutil.rmtree(self._path(source_id, owner, "files"), ignore_errors=True)
        self._path(source_id, owner, "json").unlink(missing_ok=True)

    def _database_of(self, source: Source, owner: str) -> Path:
        return self._path(source.stem or source.id, owner, source.dialect)

    def _place(self, owner: str) -> Path:
        return self._folder / hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _path(self, source_id: str, owner: str, ending: str) -> Path:
        if not _ID.fullmatch(source_id):
            raise SourceGone("this upload does not exist")
        return self._place(owner) / f"{source_id}.{ending}"

    def _make_ready(self, place: Path) -> None:
        _make_private(place)
        for entry in os.scandir(place):
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if entry.name.startswith(".") and age > _ABANDONED_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)

    async def _written(
        self, path: Path, chunks: AsyncIterable[bytes], limit: int, content: hashlib._Hash
    ) -> tuple[Kind, int]:
        """Write the stream to a new private file, up to the limit; the first bytes show the kind of file."""
        kind: Kind | None = None
        size, buffer = 0, bytearray()
        async for chunk in chunks:
            size += len(chunk)
            if size > limit:
                raise SourceTooLarge(f"an upload may have at most {self.limits.bytes >> 20:,} MiB")
            buffer += chunk
            if kind is None and len(buffer) >= _HEAD:
                kind = file_kind(bytes(buffer[:_HEAD]))
            if len(buffer) >= _FLUSH:
                await asyncio.to_thread(_append, path, bytes(buffer), content)
                buffer.clear()
        kind = kind or file_kind(bytes(buffer[:_HEAD]))
        await asyncio.to_thread(_append, path, bytes(buffer), content)
        return kind, size

    async def _read(
        self, work: Path, kinds: list[Kind], files: list[tuple[str, str]], before: Reading, on_progress: Progress
    ) -> dict[str, Any]:
        """Check or import the files into `work/out`; returns the fields of the `Source` that follow from them."""
        out = work / "out"
        job = asdict(self.limits) | {
            "kinds": kinds,
            "files": files,
            "out": str(out),
            "out_bytes": 10 * self.limits.bytes + (64 << 20),
            "before": before.model_dump(mode="json"),
        }
        answer = await _in_own_process(job, work, on_progress)
        if "too_large" in answer:
            raise SourceTooLarge(answer["too_large"])
        if "refused" in answer:
            raise SourceRefused(answer["refused"])
        out.chmod(0o600)
        return answer

    def _keep(self, source: Source, work: Path, place: Path) -> None:
        about = work / "about.json"
        about.write_text(source.model_dump_json(), encoding="utf-8")
        about.chmod(0o600)
        (work / "out").replace(place / f"{source.stem or source.id}.{source.dialect}")
        about.replace(place / f"{source.id}.json")  # last: an upload without a description does not exist


@asynccontextmanager
async def _working(place: Path, name: str) -> AsyncIterator[Path]:
    """A private folder that is gone at the end. Raises SourceError where the disk fails."""
    work = place / f".{name}"
    try:
        await asyncio.to_thread(work.mkdir, 0o700)
        yield work
    except OSError as e:
        raise SourceError(f"the upload cannot be kept: {e.strerror}") from None
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, work, ignore_errors=True))


def shown_name(name: str) -> str:
    """The last part of a name, without path parts and control characters, at most 100 characters."""
    last = re.split(r"[/\\]", name)[-1]
    return "".join(c for c in last if c.isprintable())[-100:].strip(" .") or "upload"


async def _in_own_process(job: dict[str, Any], work: Path, on_progress: Progress) -> dict[str, Any]:
    """Check and import in the worker process. Raises SourceRefused for a file on which that fails."""
    answer: dict[str, Any] = {"doing": ""}
    worker = _forked() if can_fork() else _spawned(work)
    try:
        async with asyncio.timeout(job["seconds"]), worker as (told, ask):
            with suppress(ConnectionError):
                ask.write(json.dumps(job).encode())
                ask.write_eof()
            while line := await told.readline():
                answer = json.loads(line)
                if "doing" in answer:
                    on_progress(answer["doing"], answer["part"])
    except TimeoutError:
        raise SourceTooLarge(f"the file takes more than {job['seconds']:g} s to check") from None
    except (ValueError, ConnectionError):
        answer = {"doing": ""}
    if "doing" in answer:
        raise SourceRefused("the file cannot be read: it is damaged, or needs more memory than it may have")
    return answer


Pipes = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def _forked() -> AsyncIterator[Pipes]:
    """A process for one job, which has ended when the context is left."""
    from eval.databases.isolation.workers import workers

    try:
        connection = await asyncio.to_thread(workers.run, "agent.sources.upload_child")
    except DatabaseError as error:
        raise SourceError(str(error)) from None
    told, ask = await asyncio.open_unix_connection(sock=connection, limit=_LINE)
    number = 0
    try:
        number = int(await told.readline() or 0)
        yield told, ask
    finally:
        if number:
            workers.end_process(number)
            await asyncio.shield(_closed(told))
        ask.close()


async def _closed(told: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while await told.read(_FLUSH):
            pass


@asynccontextmanager
async def _spawned(work: Path) -> AsyncIterator[Pipes]:
    """The same where a platform cannot fork."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "SYSTEMROOT")}
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # never import code from the working folder
        "-m",
        "agent.sources.upload_worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=kept | {"HOME": str(work), "TMPDIR": str(work)},
        cwd=work,
        limit=_LINE,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout, process.stdin
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())


def _append(path: Path, data: bytes, content: hashlib._Hash) -> None:
    content.update(data)
    if shutil.disk_usage(path.parent).free < FREE_BYTES + len(data):
        raise SourceError("there is no room on the disk for this upload")
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        file.write(data)


def _make_private(folder: Path) -> None:
    try:
        private_folder(folder)
    except OSError as e:
        raise SourceError(f"the folder for uploads cannot be used: {e.strerror}") from None
