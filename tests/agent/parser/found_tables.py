"""Tables as people find them on the web, made from `fixtures/parser/found_tables.txt` by a fixed seed.

In: a folder. Out: `{name}.sqlite` files in it.
"""

from __future__ import annotations

import datetime as dt
import random
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

_FILE = Path(__file__).resolve().parents[2] / "fixtures" / "parser" / "found_tables.txt"
_NUMBER = re.compile(r"between (\S+) and (\S+?)(?: by (\S+))?$")

Cell = str | int | float | None


def make(folder: Path) -> list[str]:
    """Write all databases; their names."""
    draw = random.Random(7)
    blocks = re.split(r"^(\w+)\.(\w+) (\d+)$", _FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = []
    for name, table, rows, text in zip(*(blocks[k::4] for k in (1, 2, 3, 4)), strict=True):
        columns = [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
        fill = [_filled(how, draw) for _, _, how in columns]
        made = [tuple(one(k) for one in fill) for k in range(1, int(rows) + 1)]
        with sqlite3.connect(folder / f"{name}.sqlite") as connection:
            connection.execute(f'CREATE TABLE "{table}" ({", ".join(f"{c!r} {kind}" for c, kind, _ in columns)})')
            connection.executemany(f'INSERT INTO "{table}" VALUES ({",".join("?" * len(columns))})', made)
        connection.close()
        names.append(name)
    return names


def _filled(how: str, draw: random.Random) -> Callable[[int], Cell]:
    """What fills a column, by the number of the row."""
    if how.endswith(" or nothing"):
        filled = _filled(how.removesuffix(" or nothing"), draw)
        return lambda k: filled(k) if draw.random() < 0.85 else None
    kind, _, rest = how.partition(" ")
    choices = rest.split(", ")
    if kind == "number":
        return lambda k: k
    if kind == "of":
        return lambda _: draw.choice(choices)
    if kind == "called":
        return lambda k: f"{draw.choice(choices)} {k}"
    if kind == "days":
        first = dt.date.fromisoformat(choices[0].removeprefix("from "))
        return lambda _: (first + dt.timedelta(days=draw.randrange(730))).isoformat()
    if kind == "minutes":
        start = dt.datetime.fromisoformat(choices[0].removeprefix("from "))
        return lambda _: (start + dt.timedelta(minutes=draw.randrange(43_000))).isoformat(" ")
    match = _NUMBER.match(how)
    assert match is not None
    low, high, step = float(match[1]), float(match[2]), float(match[3] or 1)
    whole = all(part is None or "." not in part for part in match.groups())

    def number(_: int) -> Cell:
        value = low + step * draw.randrange(int((high - low) / step) + 1)
        return int(value) if whole else round(value, 2)

    return number
