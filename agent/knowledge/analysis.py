"""What a kit's analysis script says about a database: run sealed off, on a copy, once for each state of the data.

In: the script and a database. Out: its notes. A script that fails, and a system or an engine on which it cannot be run,
gives no notes and a line in the log: a question is then answered without them.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from agent.knowledge.schema_context import within_budget
from eval.databases.base import Database
from eval.databases.sqlite import copy_sqlite
from eval.databases.types import DatabaseError
from eval.errors import Text2SQLError
from eval.untrusted_script import run_script

log = logging.getLogger(__name__)

NOTE_TOKENS = 4_000
"""Maximum tokens of notes in a prompt; longer ones are cut at a line."""


_kept: dict[tuple[str, str, str], str] = {}


def analysis_notes(script: str, database: Database) -> str:
    """The notes, cached while the database's data stay the same; empty if there are none."""
    if not script.strip():
        return ""
    key = (script, database.url, database.data_version())
    notes = _kept.get(key)
    if notes is None:
        try:
            lines = run_analysis(script, database).strip().splitlines()
        except Text2SQLError as error:
            log.warning("The kit's analysis.py gave no notes: %s", error)
            lines = []
        while len(_kept) >= 64:
            _kept.pop(next(iter(list(_kept)), key), None)
        notes = _kept[key] = "\n".join(within_budget(lines, NOTE_TOKENS))
    return notes


def run_analysis(script: str, database: Database) -> str:
    """What the script prints. Raises ScriptFailed, ConfinementUnavailable and DatabaseError."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            copy_sqlite(database, Path(folder, "database.sqlite"))
        except OSError as error:
            raise DatabaseError(f"The database cannot be copied: {error.strerror}") from None
        return run_script(script, Path(folder))
