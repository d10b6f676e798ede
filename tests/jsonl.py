"""Lines of JSON: what goes into a file of questions or of answers, and what comes out of one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def as_lines(records: Iterable[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def write_lines(path: Path, records: Iterable[object]) -> Path:
    path.write_text(as_lines(records), encoding="utf-8")
    return path


def read_lines(held: Path | str) -> list[dict[str, Any]]:
    """The records of a file, or of a text that a command printed."""
    text = held.read_text(encoding="utf-8") if isinstance(held, Path) else held
    return [json.loads(line) for line in text.splitlines()]
