"""A data file, or a folder of them, as a database: `--db sales.csv`.

In: the path of a CSV, TSV, Parquet or Excel file, or of a folder of such files. Out: a database that is imported on
first use, kept in the cache folder, and imported again when a file changes. The import before the latest one is kept,
because questions may still run on it.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from agent.sources.errors import SourceError, SourceRefused
from agent.sources.uploads import UploadLimits, UploadStore
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.tasks.cache_folder import cache_folder

SUFFIXES = frozenset({".csv", ".tsv", ".parquet", ".xlsx"})
"""Files that are imported; other files are opened as databases."""
LIMITS = UploadLimits(bytes=16 << 30, rows=100_000_000, kept=1, seconds=1800.0, memory=8 << 30)
"""What a user's own files may need."""
_CHUNK = 1 << 20


def is_data(path: Path) -> bool:
    """Whether the path is a data file or a folder."""
    return path.is_dir() or path.suffix.lower() in SUFFIXES


def open_files(path: Path, cache: str | None, on_note: Callable[[str], None]) -> Database:
    """Open the data file, or all data files of the folder as one database with a table for each.

    `on_note` gets a text when an import begins, and one for each decision that it made. Blocks while the files are
    imported; not for use on an event loop. Raises DatabaseError.
    """
    path = path.absolute()
    try:
        files = _data_files(path)
        folder = cache_folder(cache) / "files" / hashlib.sha256(str(path).encode()).hexdigest()[:16]
        state = _state(files)
        store = UploadStore(folder, LIMITS)
        if not store.sources(owner=state):
            _forget_earlier(folder)
            asyncio.run(_imported(files, store, state, on_note))
        [source, *_] = store.sources(owner=state)
        database = store.open(source.id, owner=state)
    except (SourceError, OSError) as error:
        raise DatabaseError(f"{path.name} cannot be imported: {error}") from None
    database.name = path.stem
    return database


def files_state(path: Path) -> str | None:
    """What changes when a data file, or one of the folder, is written; None where that cannot be seen."""
    try:
        return _state(_data_files(path.absolute()))
    except (SourceError, OSError):
        return None


def _state(files: list[Path]) -> str:
    return repr([(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in files])


def _forget_earlier(folder: Path) -> None:
    """Remove imports of earlier states, except the latest one, which running questions may still read."""
    imports = sorted((f for f in folder.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime)
    for place in imports[:-1]:
        shutil.rmtree(place, ignore_errors=True)


def _data_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(f for f in path.iterdir() if f.suffix.lower() in SUFFIXES and f.is_file())
    if not files:
        raise SourceRefused(f"the folder has no data files ({', '.join(sorted(SUFFIXES))})")
    return files


async def _imported(files: list[Path], store: UploadStore, owner: str, on_note: Callable[[str], None]) -> None:
    on_note(f"importing {files[0].parent.name if len(files) > 1 else files[0].name}")
    source = await store.receive_all([(f.name, _chunks(f)) for f in files], owner=owner)
    for note in source.notes:
        on_note(note)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
