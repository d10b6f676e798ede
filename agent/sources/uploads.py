"""Uploaded files as private databases: SQLite and DuckDB files as they are; CSV, Excel and Parquet imported into new
ones.

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
from collections.abc import AsyncIterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from agent.config import LimitSettings
from agent.sources.errors import SourceError, SourceGone, SourceRefused, SourceTooLarge
from agent.sources.file_kinds import Kind, file_kind
from agent.store.private_folder import private_folder
from eval.databases import Database, open_database

FREE_BYTES = 256 * 1024 * 1024
"""Disk space that is left free."""
_ROOT = Path(__file__).resolve().parents[2]
_HEAD = 4096
_FLUSH = 1024 * 1024
_ABANDONED_SECONDS = 3600.0
_ID = re.compile(r"[0-9a-f]{32}")


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


class SourceTable(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    columns: int
    rows: int | None
    """None for views."""


class Source(BaseModel):
    """An uploaded database as its owner sees it."""

    model_config = ConfigDict(frozen=True)

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


class UploadStore:
    """The uploaded databases in one folder. Safe to use from several tasks and processes."""

    def __init__(self, folder: Path, limits: UploadLimits | None = None) -> None:
        """Raises SourceError when the folder cannot be made private."""
        self.limits = limits or UploadLimits()
        self._folder = folder
        _make_private(folder)

    async def receive(
        self, name: str, chunks: AsyncIterable[bytes], *, owner: str = "", declared_bytes: int | None = None
    ) -> Source:
        """Receive one file. With `declared_bytes` (a Content-Length), a large file is refused before it is read.

        Raises SourceTooLarge as soon as a limit is passed, SourceRefused for a file that is no database or table,
        SourceError.
        """
        return await self.receive_all([(name, chunks)], owner=owner, declared_bytes=declared_bytes)

    async def receive_all(
        self,
        files: Sequence[tuple[str, AsyncIterable[bytes]]],
        *,
        owner: str = "",
        declared_bytes: int | None = None,
    ) -> Source:
        """Import files into one database, with a table for each file or sheet. Several files are allowed if all are CSV
        or Excel, or all are Parquet. Raises like `receive`."""
        if declared_bytes is not None and declared_bytes > self.limits.bytes:
            raise self._too_large()
        if not files:
            raise SourceRefused("no file was sent")
        place = self._place(owner)
        await asyncio.to_thread(self._make_room, place)
        source_id = secrets.token_hex(16)
        work = place / f".{source_id}"
        try:
            await asyncio.to_thread(work.mkdir, 0o700)
            received: list[tuple[str, str]] = []
            kinds: list[Kind] = []
            left = self.limits.bytes
            for number, (name, chunks) in enumerate(files):
                path = work / f"raw{number}"
                kind, size = await self._written(path, chunks, left)
                left -= size
                kinds.append(kind)
                received.append((str(path), shown_name(name)))
            if len(files) > 1 and not (set(kinds) <= {"delimited", "excel"} or set(kinds) == {"parquet"}):
                raise SourceRefused("several files make one database if all are CSV or Excel, or all are Parquet")
            return await self._prepared(source_id, work, place, kinds, received)
        except OSError as e:
            raise SourceError(f"the upload cannot be kept: {e.strerror}") from None
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, work, ignore_errors=True))

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

    def open(self, source_id: str, *, owner: str = "") -> Database:
        """Open the upload read-only, like any database. Raises SourceGone, DatabaseError."""
        source = self.find(source_id, owner=owner)
        database = open_database(self._path(source_id, owner, source.dialect), isolation="process")
        database.name = Path(source.name).stem or source.name
        return database

    def remove(self, source_id: str, *, owner: str = "") -> None:
        """Delete the upload permanently; close databases opened from it first. Raises SourceGone."""
        source = self.find(source_id, owner=owner)
        for ending in (source.dialect, "json"):
            self._path(source_id, owner, ending).unlink(missing_ok=True)

    def _place(self, owner: str) -> Path:
        return self._folder / hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _path(self, source_id: str, owner: str, ending: str) -> Path:
        if not _ID.fullmatch(source_id):
            raise SourceGone("this upload does not exist")
        return self._place(owner) / f"{source_id}.{ending}"

    def _make_room(self, place: Path) -> None:
        _make_private(place)
        for entry in os.scandir(place):
            if (
                entry.name.startswith(".")
                and time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_SECONDS
            ):
                shutil.rmtree(entry.path, ignore_errors=True)
        if len(list(place.glob("*.json"))) >= self.limits.kept:
            raise SourceTooLarge(f"there are {self.limits.kept} uploads already: remove one first")

    async def _written(self, path: Path, chunks: AsyncIterable[bytes], limit: int) -> tuple[Kind, int]:
        """Write the stream to a new private file, up to the limit; the first bytes show the kind of file."""
        kind: Kind | None = None
        size, buffer = 0, bytearray()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise self._too_large()
                buffer += chunk
                if kind is None and len(buffer) >= _HEAD:
                    kind = file_kind(bytes(buffer[:_HEAD]))
                if len(buffer) >= _FLUSH:
                    await asyncio.to_thread(_flush, handle, bytes(buffer), path)
                    buffer.clear()
            kind = kind or file_kind(bytes(buffer[:_HEAD]))
            await asyncio.to_thread(_flush, handle, bytes(buffer), path)
        finally:
            os.close(handle)
        return kind, size

    async def _prepared(
        self, source_id: str, work: Path, place: Path, kinds: list[Kind], received: list[tuple[str, str]]
    ) -> Source:
        limits = self.limits
        ending = "duckdb" if kinds[0] in ("duckdb", "parquet") else "sqlite"
        out = work / f"out.{ending}"
        job = {
            "kinds": kinds,
            "files": received,
            "out": str(out),
            "rows": limits.rows,
            "columns": limits.columns,
            "seconds": limits.seconds,
            "memory": limits.memory,
            "out_bytes": 10 * limits.bytes + (64 << 20),
        }
        answer = await _in_own_process(job, work, limits.seconds)
        if "too_large" in answer:
            raise SourceTooLarge(answer["too_large"])
        if "refused" in answer:
            raise SourceRefused(answer["refused"])
        out.chmod(0o600)
        source = Source(
            id=source_id,
            name=received[0][1],
            dialect=answer["dialect"],
            tables=answer["tables"],
            notes=list(answer["notes"]),
            bytes=out.stat().st_size,
            created_at=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        about = work / "about.json"
        about.write_text(source.model_dump_json(), encoding="utf-8")
        about.chmod(0o600)
        out.replace(place / f"{source_id}.{ending}")
        about.replace(place / f"{source_id}.json")  # last: an upload without a description does not exist
        return source

    def _too_large(self) -> SourceTooLarge:
        return SourceTooLarge(f"an upload may have at most {self.limits.bytes >> 20:,} MiB")


def shown_name(name: str) -> str:
    """The last part of a name, without path parts and control characters, at most 100 characters."""
    last = re.split(r"[/\\]", name)[-1]
    return "".join(c for c in last if c.isprintable())[-100:].strip(" .") or "upload"


async def _in_own_process(job: dict[str, Any], work: Path, seconds: float) -> dict[str, Any]:
    """Check and import in the worker process. Raises SourceRefused for a file on which that fails."""
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
    )
    try:
        written, _ = await asyncio.wait_for(process.communicate(json.dumps(job).encode()), seconds)
        answer: dict[str, Any] = json.loads(written)
    except TimeoutError:
        raise SourceTooLarge(f"the file takes more than {seconds:g} s to check") from None
    except ValueError:
        raise SourceRefused("the file cannot be read: it is damaged, or needs more memory than it may have") from None
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
    return answer


def _flush(handle: int, data: bytes, path: Path) -> None:
    if shutil.disk_usage(path.parent).free < FREE_BYTES + len(data):
        raise SourceError("there is no room on the disk for this upload")
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _make_private(folder: Path) -> None:
    try:
        private_folder(folder)
    except OSError as e:
        raise SourceError(f"the folder for uploads cannot be used: {e.strerror}") from None
