"""Cursors: the position where the next page of records, newest first, begins.

In: the time and id of a page's last record. Out: a text that names them, which every store can read. A cursor is not a
secret and grants no access: the page that it points to holds only the owner's records.
"""

from __future__ import annotations

import re

from agent.store.errors import BadCursor

LARGEST_PAGE = 200
CURSOR = r"^[0-9]{1,18}-[A-Za-z0-9_-]{1,200}$"


def cursor(moment: int, record_id: str) -> str:
    return f"{moment}-{record_id}"


def position(cursor: str) -> tuple[int, str]:
    """(microseconds, id). Raises BadCursor."""
    if re.fullmatch(CURSOR.strip("^$"), cursor) is None:
        raise BadCursor("This is not a cursor that was given out here.")
    moment, _, record_id = cursor.partition("-")
    return int(moment), record_id


def page_size(limit: int) -> int:
    return max(1, min(limit, LARGEST_PAGE))
