"""A small auction house to teach words in: lots with two dates, two prices and rows that are marked as deleted.

In: a server. Out: the name under which it knows the database, a new one for each call: what is taught is nobody else's.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
import tempfile
from pathlib import Path

import httpx

LOTS = 40
DELETED = 4


def auction(server_url: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "auction.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(f"PRAGMA user_version = {secrets.randbelow(2**31)}")  # the same bytes would be known
            database.executescript(
                "CREATE TABLE bidders (bidder_id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
                "CREATE TABLE lots (lot_id INTEGER PRIMARY KEY, title TEXT, bidder_id INTEGER REFERENCES bidders,"
                " estimate REAL, hammer_price REAL, entered_on DATE, sold_on DATE, deleted_at TIMESTAMP);"
            )
            database.executemany("INSERT INTO bidders VALUES (?, ?, ?)", BIDDERS)
            database.executemany("INSERT INTO lots VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(_lot, range(LOTS)))
            database.commit()
        files = {"file": ("auction.sqlite", path.read_bytes())}
    made = httpx.post(f"{server_url}/databases/upload", files=files, timeout=30)
    assert made.status_code < 300, made.text
    return str(made.json()["id"])


BIDDERS = [(1, "Ada Lindt", "Bern"), (2, "Bo Falk", "Basel"), (3, "Cy Marsh", "Zug")]
MONTHS = ("03", "04", "05", "06")


def _lot(n: int) -> tuple[object, ...]:
    """A third was entered in each of three months and sold a month later; the last few are deleted."""
    month = n % 3
    deleted = "2024-07-01 10:00:00" if n >= LOTS - DELETED else None
    return (
        n + 1,
        f"Clock {n + 1}",
        n % 3 + 1,
        100.0 + n,
        150.0 + 2 * n,
        f"2024-{MONTHS[month]}-10",
        f"2024-{MONTHS[month + 1]}-10",
        deleted,
    )
