"""A data file, or a folder of them, as a database: `--db sales.csv`.

In: the path of a CSV, TSV, JSON lines, Parquet or Excel file, or of a folder of such files. Out: a database that is
imported on first use, kept in the cache folder, and imported again when a file changes, by the same plan. The import
before the latest one is kept, because questions may still run on it.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from agent.sources import SourceError, SourceRefused
from agent.sources.file_kinds import DATA
from agent.sources.tabular.plan import Plans, Reading, TablePlan
from agent.sources.uploads import Source, UploadLimits, UploadStore
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.tasks.cache_folder import cache_folder
from eval.version import VERSION

LIMITS = UploadLimits(bytes=16 << 30, rows=100_000_000, kept=1, seconds=1800.0, memory=8 << 30)
"""What a user's own files may need."""
Review = Callable[[Reading], Sequence[TablePlan]]
"""Shows how files were read; returns the changed plans of all tables, or nothing where all is well."""
_SETTLED_SECONDS = 0.25
"""A file that was written less long ago may be half-written."""
_CHANGES = 20
"""How often files may change before their import is given up."""


def open_files(
    path: Path | Sequence[Path], cache: str | None, on_note: Callable[[str], None], review: Review | None = None
) -> Database:
    """Open the data file, the data files of the list, or all those of the folder as one database with a table for each.

    `on_note` gets a text when an import begins and as it goes on. `review` gets how the files were read, and returns
    the plans that it changes; without it `on_note` gets each decision. A plan saved beside the file (`plan_beside`)
    comes before what was decided earlier. Blocks while the files are imported; not for use on an event loop. Raises
    DatabaseError.
    """
    named = [one.absolute() for one in ([path] if isinstance(path, Path) else path)]
    try:
        files = _data_files(named[0]) if isinstance(path, Path) else named
        return _opened(files, named, cache, on_note, review)
    except (SourceError, OSError) as error:
        raise DatabaseError(f"{', '.join(one.name for one in named)} cannot be imported: {error}") from None


def _opened(
    files: list[Path], named: Sequence[Path], cache: str | None, on_note: Callable[[str], None], review: Review | None
) -> Database:
    """`named`: what the user named, by which the import is kept."""
    key = hashlib.sha256("\0".join(map(str, named)).encode()).hexdigest()[:16]
    folder = cache_folder(cache) / "files" / key
    store = UploadStore(folder, LIMITS, keeps_files=False)
    for _ in range(_CHANGES):
        seen = _settled(files)
        state = f"{VERSION}\n{seen}{_state(_saved(named[0]))}"  # another version may read them better
        if not store.sources(owner=state):
            before = _before(named[0], folder)
            # Remove imports of earlier states, except the latest one, which running questions may still read
            imports = sorted((f for f in folder.iterdir() if f.is_dir()), key=lambda f: f.stat().st_mtime)
            for place in imports[:-1]:
                shutil.rmtree(place, ignore_errors=True)
            try:
                asyncio.run(_imported(files, store, state, before, on_note, review))
            except (SourceError, OSError):
                if _settled(files) == seen:
                    raise
                continue
            if _settled(files) != seen:  # the copy may be of two states
                store.remove(store.sources(owner=state)[0].id, owner=state)
                continue
        [source, *_] = store.sources(owner=state)
        database = store.open(source.id, owner=state)
        database.name = named[0].stem
        return database
    raise SourceRefused("it changes while it is read")


def plan_beside(path: Path) -> Path:
    """Where a plan for a data file, or for a folder of them, is saved to be repeated and edited."""
    return path / "import.plan.json" if path.is_dir() else path.with_name(f"{path.name}.plan.json")


def save_plan(path: Path, reading: Reading) -> None:
    """Save the plan beside the file. Raises OSError."""
    plans = Plans(tables=tuple(table.plan for table in reading.tables))
    plan_beside(path).write_text(plans.model_dump_json(indent=1, exclude_none=True) + "\n", encoding="utf-8")


def _saved(path: Path) -> list[Path]:
    beside = plan_beside(path)
    return [beside] if beside.is_file() else []


def _before(path: Path, folder: Path) -> Reading:
    """The plan that is saved beside the file, or how it was read the last time. Raises SourceRefused for a plan that
    cannot be read."""
    for beside in _saved(path):
        try:
            return Plans.model_validate_json(beside.read_bytes()).as_reading()
        except ValueError as error:
            raise SourceRefused(f"{beside.name} is no plan: {str(error).splitlines()[0]}") from None
    kept = sorted(folder.glob("*/*.json"), key=lambda f: f.stat().st_mtime)
    try:
        return Source.model_validate_json(kept[-1].read_bytes()).reading if kept else Reading()
    except ValueError:
        return Reading()


def files_state(path: Path) -> str | None:
    """What changes when a data file, or one of the folder, is written; None where that cannot be seen."""
    try:
        path = path.absolute()
        return _state([*_data_files(path), *_saved(path)])
    except (SourceError, OSError):
        return None


def _state(files: list[Path]) -> str:
    """Changes with every writing, also one that sets back the time of change."""
    found = [(file.name, file.stat()) for file in files]
    return repr([(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in found])


def _settled(files: list[Path]) -> str:
    """The state of files that nobody has written to for a moment. Blocks until then. Raises SourceRefused."""
    for _ in range(_CHANGES):
        state = _state(files)
        if all(time.time() - file.stat().st_mtime > _SETTLED_SECONDS for file in files):
            return state
        time.sleep(_SETTLED_SECONDS)
        if _state(files) == state:
            return state
    raise SourceRefused("it is still being written")


def _data_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(f for f in path.iterdir() if f.suffix.lower() in DATA and f.is_file())
    if not files:
        raise SourceRefused(f"the folder has no data files ({', '.join(sorted(DATA))})")
    return files


async def _imported(
    files: list[Path],
    store: UploadStore,
    owner: str,
    before: Reading,
    on_note: Callable[[str], None],
    review: Review | None,
) -> None:
    def progress(what: str, part: float) -> None:
        if large:
            on_note(f"{what} ({part:.0%})")

    async def received(before: Reading) -> Source:
        sent = [(f.name, _chunks(f)) for f in files]
        return await store.receive(sent, owner=owner, before=before, on_progress=progress)

    on_note(f"importing {files[0].parent.name if len(files) > 1 else files[0].name}")
    large = sum(f.stat().st_size for f in files) > 50 << 20  # smaller ones are read in a moment
    source = await received(before)
    while review is not None and (changed := review(source.reading)):
        store.remove(source.id, owner=owner)
        source = await received(Plans(tables=tuple(changed)).as_reading())
    if review is None:
        for note in source.notes:
            on_note(note)


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            yield chunk
