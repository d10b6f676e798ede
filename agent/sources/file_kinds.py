"""The kinds of files that make a database: of an upload by its first bytes, of a path that a user names by its ending.

In: the beginning of a file. Out: its kind, or a `SourceRefused` that says what the user can do instead. A leaf module,
so that other databases load none of the imports.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from agent.sources import SourceError, SourceRefused

Kind = Literal["sqlite", "duckdb", "delimited", "json", "excel", "parquet"]
TABULAR: frozenset[Kind] = frozenset({"delimited", "json", "excel", "parquet"})
"""Kinds that are imported as tables; several of them make one database."""
_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*)?(\{\s*(\"|\})|\[\s*[\"\d\[])")

_PACKED = {
    "it is an Office file of before 2007: save it as .xlsx": (b"\xd0\xcf\x11\xe0",),
    "it is compressed: unpack it first": (b"\x1f\x8b", b"\xfd7zXZ", b"BZh", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd"),
    "it is a PDF: export its table as CSV or Excel": (b"%PDF",),
    "it is a picture": (b"\x89PNG", b"\xff\xd8\xff"),
    "it is a text document: save its table as CSV or Excel": (b"{\\rtf",),
}
_PAGE = re.compile(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|table|\?xml)\b", re.IGNORECASE)
"""A web page, which a download that asks for a password gives, too, or XML."""
DATA = frozenset({".csv", ".tsv", ".tab", ".psv", ".parquet", ".xlsx", ".xlsm", ".jsonl", ".ndjson"})
"""Files that are imported, alone or of a folder; other files are opened as databases."""
_ALONE = frozenset({".txt", ".json", ".dat"})
"""Files that are imported where they are named and hold a table; in a folder they may be anything."""
STRUCTURE = (".sql", ".ddl")
"""Files of CREATE TABLE statements."""


def file_kind(head: bytes) -> Kind:
    """The kind of a file with these first bytes. Raises SourceRefused."""
    if not head:
        raise SourceRefused("the file is empty")
    if head.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):  # a ZIP, as workbooks are; the import says if it is none
        return "excel"
    for reason, beginnings in _PACKED.items():
        if head.startswith(beginnings):
            raise SourceRefused(f"the file cannot be read: {reason}")
    if _PAGE.match(head):
        raise SourceRefused("the file cannot be read: it is a web page or XML: export its table as CSV or Excel")
    from agent.sources.tabular.layout import text_encoding

    if text_encoding(head) is None:
        raise SourceRefused("the file is no SQLite, DuckDB, Parquet, Excel, JSON or CSV file")
    return "json" if _JSON.match(head) else "delimited"


def is_data(path: Path) -> bool:
    """Whether the path is a folder, or a data file by its ending; where that may stand for anything, one that has
    columns or is JSON."""
    suffix = path.suffix.lower()
    if path.is_dir() or suffix in DATA:
        return True
    if suffix not in _ALONE:
        return False
    from agent.sources.tabular.layout import found_layout

    try:
        with path.open("rb") as file:
            kind = file_kind(file.read(4096))
        return kind == "json" or (kind == "delimited" and len(found_layout(path).headers) > 1)
    except (SourceError, OSError):
        return False
