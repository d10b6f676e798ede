"""What a kit's analysis script says about a database: run sealed off, on a copy, once for each state of the data.

In: the script and a database. Out: its notes. A script that fails, and a system or an engine on which it cannot be run,
gives no notes and a line in the log: a question is then answered without them.
"""

from __future__ import annotations

import logging
import tempfile
from functools import lru_cache
from pathlib import Path

from agent.knowledge.schema_context import within_budget
from eval.databases.base import Database
from eval.databases.sqlite_copy import copy_sqlite
from eval.databases.types import DatabaseError
from eval.errors import Text2SQLError
from eval.untrusted_script import run_script

__all__ = ["NOTE_TOKENS", "analysis_notes", "run_analysis"]

log = logging.getLogger(__name__)

NOTE_TOKENS = 4_000
"""Maximum tokens of notes in a prompt; longer ones are cut at a line."""


def analysis_notes(script: str, database: Database) -> str:
    """The notes, cached while the database's data stay the same; empty if there are none."""
    return _notes(script, database.url, database.data_version(), _Held(database)) if script.strip() else ""


class _Held:
    """A database as an argument that does not count for a cache."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __eq__(self, _: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=64)
def _notes(script: str, url: str, version: str, held: _Held) -> str:  # noqa: ARG001 (the key of the cache)
    try:
        notes = run_analysis(script, held.database)
    except Text2SQLError as error:
        log.warning("The kit's analysis.py gave no notes: %s", error)
        return ""
    return "\n".join(within_budget(notes.strip().splitlines(), NOTE_TOKENS))


def run_analysis(script: str, database: Database) -> str:
    """What the script prints. Raises ScriptFailed, ConfinementUnavailable and DatabaseError."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            copy_sqlite(database, Path(folder, "database.sqlite"))
        except OSError as error:
            raise DatabaseError(f"The database cannot be copied: {error.strerror}") from None
        return run_script(script, Path(folder))
