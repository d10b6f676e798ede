"""The rows in a JSON file that is no list of them: below a name, in columns, as lists, by key.

In: a JSON file. Out: a file with one object a line, or nothing where the file's rows are objects already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGEST = 64 << 20
"""Bytes of a file whose whole text is read at once; larger ones are left as they are."""
_DEPTH = 4
_HEADS, _BODIES = ("columns", "fields", "headers", "header"), ("data", "rows", "values", "records")


def as_records(path: Path, folder: Path) -> Path | None:
    """The rewritten file in `folder`; None where there is nothing to rewrite, or no JSON."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        with path.open(encoding="utf-8-sig") as file:
            value = json.load(file)
    except (ValueError, RecursionError):
        return None  # one object a line, or none
    rows = None if isinstance(value, list) and value and isinstance(value[0], dict) else _rows(value, _DEPTH)
    if rows is None:
        return None
    target = folder / f"{path.name}.records"
    with target.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return target


def _rows(value: Any, depth: int) -> list[dict[str, Any]] | None:
    if isinstance(value, list):
        if value and all(isinstance(row, dict) for row in value):
            return [_exact(row) for row in value]
        if len(value) > 1 and all(isinstance(row, list) for row in value):
            head = value[0]
            named = all(isinstance(name, str) for name in head) and len(set(head)) == len(head)
            return list(_named(head, value[1:])) if named else list(_named(range(1, len(head) + 1), value))
        return None
    if not isinstance(value, dict) or not depth:
        return None
    heads: list[Any] = next((v for k in _HEADS if isinstance(v := value.get(k), list)), [])
    body: list[Any] = next((v for k in _BODIES if isinstance(v := value.get(k), list)), [])
    if heads and body and all(isinstance(row, list) for row in body):  # one list of names, one of rows
        return list(_named([h.get("name") if isinstance(h, dict) else h for h in heads], body))
    inner = list(value.values())
    lists = len(inner) > 1 and all(isinstance(v, list) and len(v) == len(inner[0]) for v in inner)
    if lists and not any(isinstance(cell, dict | list) for v in inner for cell in v):  # a list for each column
        return list(_named(list(value), zip(*inner, strict=True)))
    if inner and all(isinstance(v, dict) for v in inner):
        keys = [set(v) for v in inner]
        if len(inner) > 1 and all(k == keys[0] for k in keys) and all(k.isdecimal() for k in keys[0]):
            return [{name: column[k] for name, column in value.items()} for k in inner[0]]  # each column by row
        if len(inner) > 1 and len(set.intersection(*keys)) * 2 > len(set.union(*keys)):
            return [_exact({"key": key, **row}) for key, row in value.items()]  # each row by its key
    found = [rows for v in inner if isinstance(v, dict | list) and (rows := _rows(v, depth - 1))]
    if found:
        return max(found, key=len)
    return [_exact(value)] if depth == _DEPTH and value else None


def _named(names: Any, rows: Any) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield _exact({str(name): cell for name, cell in zip(names, row, strict=False)})


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    """Large whole numbers as text, because not every reader keeps all their figures."""
    return {name: str(v) if type(v) is int and abs(v) > 1 << 53 else v for name, v in row.items()}
