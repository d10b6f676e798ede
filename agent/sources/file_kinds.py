"""The kinds of files that make a database, recognised by their first bytes and not by their names.

In: the beginning of a file. Out: its kind, or a `SourceRefused` that says what the user can do instead.
"""

from __future__ import annotations

import re
from typing import Literal

from agent.sources.errors import SourceRefused
from agent.sources.tabular.layout import text_encoding

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
    if text_encoding(head) is None:
        raise SourceRefused("the file is no SQLite, DuckDB, Parquet, Excel, JSON or CSV file")
    return "json" if _JSON.match(head) else "delimited"
