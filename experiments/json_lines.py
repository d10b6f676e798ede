"""Files of JSON objects, one a line: benchmarks' questions, recorded answers, and what an experiment keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file; blank lines are skipped."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def write_lines(path: Path, objects: Iterable[Mapping[str, Any]]) -> None:
    """Write the file under a temporary name first, so that an interrupted experiment leaves no half of it behind."""
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in objects)
    part.replace(path)
