"""What a path names, as its ending tells: data files, or the statements that create tables.

In: a path. Out: whether it is of that kind. A leaf module, so that other databases load none of the imports.
"""

from __future__ import annotations

from pathlib import Path

DATA = frozenset({".csv", ".tsv", ".tab", ".psv", ".parquet", ".xlsx", ".xlsm", ".jsonl", ".ndjson"})
"""Files that are imported, alone or of a folder; other files are opened as databases."""
_ALONE = frozenset({".txt", ".json", ".dat"})
"""Files that are imported where they are named; in a folder they may be anything."""
STRUCTURE = (".sql", ".ddl")


def is_data(path: Path) -> bool:
    """Whether the path is a data file or a folder."""
    return path.is_dir() or path.suffix.lower() in DATA | _ALONE


def is_structure(path: Path) -> bool:
    """Whether the name is that of a file of CREATE TABLE statements."""
    return path.suffix.lower() in STRUCTURE
