"""Texts and names of untrusted files in SQL for DuckDB."""

from __future__ import annotations

from eval.databases.table_drafts import quoted

BLANKS = " \t\r\n\v\f\u00a0\u2007\u2009\u202f\u200b\ufeff"
"""What may surround a cell without being part of it."""
PAD = f"[{BLANKS}]*"


def literal(text: str) -> str:
    """A text as a string of SQL."""
    return "'" + text.replace("\0", "").replace("'", "''") + "'"


def name(*parts: str) -> str:
    """A name, qualified by the parts before it."""
    return quoted(parts, "duckdb")
