"""What a path names, as its ending tells: data files, or the statements that create tables.

In: a path. Out: whether it is of that kind; of endings that may stand for anything, the content decides. A leaf module,
so that other databases load none of the imports.
"""

from __future__ import annotations

from pathlib import Path

DATA = frozenset({".csv", ".tsv", ".tab", ".psv", ".parquet", ".xlsx", ".xlsm", ".jsonl", ".ndjson"})
"""Files that are imported, alone or of a folder; other files are opened as databases."""
_ALONE = frozenset({".txt", ".json", ".dat"})
"""Files that are imported where they are named and hold a table; in a folder they may be anything."""
STRUCTURE = (".sql", ".ddl")


def is_data(path: Path) -> bool:
    suffix = path.suffix.lower()
    return path.is_dir() or suffix in DATA or (suffix in _ALONE and _holds_table(path))


def _holds_table(path: Path) -> bool:
    """Whether the text has columns, or is JSON."""
    from agent.sources.errors import SourceError
    from agent.sources.file_kinds import file_kind
    from agent.sources.tabular.layout import found_layout

    try:
        with path.open("rb") as file:
            kind = file_kind(file.read(4096))
        return kind == "json" or (kind == "delimited" and len(found_layout(path).headers) > 1)
    except (SourceError, OSError):
        return False


def is_structure(path: Path) -> bool:
    return path.suffix.lower() in STRUCTURE
