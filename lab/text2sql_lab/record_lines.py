"""Files of a run that only grow: one JSON object per line, safe against a kill at any moment.

In: records as they happen. Out: the file, and its records again. A last line that a kill cut short counts as never
written: reading skips it, and the next record takes its place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.jsonl import encode


def records_in(path: Path) -> list[dict[str, Any]]:
    """The records of a file, none where there is no file. Raises ValueError for a line that is not JSON."""
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.splitlines()]


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Append a record; once this returns, it survives a kill."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, io.SEEK_END)
            if file.read() != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        file.write(encode(record).encode() + b"\n")
