"""Test suites: replicas of a database with other rows, as a folder of SQLite files or a `.tar.xz` of them.

In: a folder that contains `{db}/` or `{db}.tar.xz`. Out: opened databases, in order of their file names. An archive is
unpacked once into a cache folder whose name depends on the archive's path, size and time, so that a changed archive is
unpacked again. Only plain `.sqlite` files are extracted, under their bare names.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eval.databases import Database, DatabaseError, open_database
from eval.databases.urls import is_plain_name

UNPACKED_BYTES = 8 * 1024**3
"""An archive that would unpack to more bytes is refused."""


def suite_files(folder: Path, name: str, cache: Path) -> tuple[Path, ...]:
    """The SQLite files of a database's test suite, unpacked if necessary; empty when it has none. Raises DatabaseError
    for an archive that cannot be read."""
    if not is_plain_name(name):
        raise DatabaseError(f"{name!r} cannot be the name of a test suite")
    plain, packed = folder / name, folder / f"{name}.tar.xz"
    if plain.is_dir():
        return tuple(sorted(plain.glob("*.sqlite")))
    if packed.is_file():
        return tuple(sorted(_unpacked(packed, cache).glob("*.sqlite")))
    return ()


def suite_databases(files: tuple[Path, ...]) -> Iterator[Database]:
    """Open one replica at a time; each is closed when the next is requested."""
    for file in files:
        with open_database(file, infer_keys=False, isolation="none") as database:
            yield database


def _unpacked(archive: Path, cache: Path) -> Path:
    state = archive.stat()
    key = hashlib.sha256(f"{archive.resolve()}\0{state.st_size}\0{state.st_mtime_ns}".encode()).hexdigest()[:24]
    target = cache / "suites" / key
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Unpacked next to its final place and renamed at the end, so that no other process sees half of it.
    beside = Path(tempfile.mkdtemp(prefix=f"{key}-", dir=target.parent))
    try:
        _extract(archive, beside)
        beside.replace(target)
    except OSError as problem:
        if not target.is_dir():
            raise DatabaseError(f"{archive.name} cannot be unpacked: {problem}") from None
    except tarfile.TarError as problem:
        raise DatabaseError(f"{archive.name} cannot be read: {problem}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return target


def _extract(archive: Path, folder: Path) -> None:
    left = UNPACKED_BYTES
    with tarfile.open(archive, "r:xz") as packed:
        for member in packed:
            name = Path(member.name).name
            if not member.isfile() or not name.endswith(".sqlite"):
                continue
            left -= member.size
            if left < 0:
                raise tarfile.TarError(f"more than {UNPACKED_BYTES} bytes")
            source = packed.extractfile(member)
            assert source is not None
            with source, (folder / name).open("wb") as file:
                shutil.copyfileobj(source, file)
