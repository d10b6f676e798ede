"""Cursors: the position where the next page of records, newest first, begins.

In: the time and id of a page's last record. Out: an opaque text, which decodes to the same two values. A cursor is not
a secret and grants no access: the page that it points to holds only the owner's records.
"""

from __future__ import annotations

import base64
import binascii

from agent.store.errors import BadCursor

LARGEST_PAGE = 200


def cursor(moment: int, record_id: str) -> str:
    return base64.urlsafe_b64encode(f"{moment}:{record_id}".encode()).decode().rstrip("=")


def position(cursor: str) -> tuple[int, str]:
    """(microseconds, id). Raises BadCursor."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
        moment, separator, record_id = text.partition(":")
        if not separator or not moment.isascii() or not moment.isdigit() or len(moment) > 18 or "\x00" in record_id:
            raise ValueError(cursor)
        return int(moment), record_id
    except (ValueError, binascii.Error):
        raise BadCursor("This is not a cursor that was given out here.") from None


def page_size(limit: int) -> int:
    return max(1, min(limit, LARGEST_PAGE))
