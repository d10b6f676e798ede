"""The audit log: who asked what, which SQL ran, how many rows it returned.

In: questions and statements as they happen. Out: one JSON line each in a file that is only appended to and that only
its owner may read.
"""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent.access.policies import Person
from agent.models.prompt_log import current_run

if TYPE_CHECKING:
    from agent.config import DatabaseSettings
    from eval.databases.base import Database


class AuditLog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def question(self, person: Person, database: Database, question: str) -> None:
        self._write(person, database, {"event": "question", "question": question})

    def statement(self, person: Person, database: Database, sql: str, rows: int, problem: str) -> None:
        """`sql`: as the engine received it. `problem`: empty if it ran to its end."""
        self._write(person, database, {"event": "statement", "sql": sql, "rows": rows, "problem": problem})

    def _write(self, person: Person, database: Database, entry: dict[str, str | int]) -> None:
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "person": person.name,
            "database": database.name,
            "run": current_run.get(),
            **entry,
        }
        text = json.dumps(line, ensure_ascii=False) + "\n"
        with self._lock:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, text.encode("utf-8", "replace"))
            finally:
                os.close(file)


_logs = lru_cache(maxsize=8)(AuditLog)


def audit_of(settings: DatabaseSettings) -> AuditLog | None:
    return _logs(Path(settings.audit_log)) if settings.audit_log else None
