"""A correction teaches what it changed: paraphrases become right, and other questions stay as they were."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent.config import Settings
from agent.runner import Answer, run
from agent.state import Term
from agent.statements.corrections import learned
from eval.databases import open_database
from eval.databases.base import Database
from tests.pairs import rows
from tests.writing import sqlite_file

TRADES = rows("statements/trades.jsonl")
KILN = TRADES[1][0]


def answered(question: str, database: Database, taught: Sequence[Term] = ()) -> Answer:
    return asyncio.run(run(question, database=database, model="offline", settings=Settings(), taught=taught))


def right(answer: Answer, gold: str, database: Database) -> bool:
    with closing(sqlite3.connect(database.url.removeprefix("sqlite:///"))) as connection:
        wanted = connection.execute(gold).fetchall()
    return answer.status in ("success", "doubtful") and as_set(answer.rows) == as_set(wanted)


def as_set(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    plain = (tuple(round(v, 4) if isinstance(v, float) else v for v in row) for row in rows)
    return sorted(plain, key=repr)


@pytest.mark.parametrize(("script", "question", "corrected", "taught", "paraphrases", "others"), TRADES)
def test_one_correction_lifts_its_paraphrases_and_changes_nothing_else(
    tmp_path: Path,
    script: str,
    question: str,
    corrected: str,
    taught: str,
    paraphrases: list[tuple[str, str]],
    others: list[str],
) -> None:
    with open_database(sqlite_file(tmp_path / "trade.sqlite", script)) as database:
        first = answered(question, database)
        guess = first.attempts[-1].guess if first.attempts else ""
        term = learned(question, first.sql or "", corrected, database, guess)
        assert term is not None
        assert f"{term.kind}|{term.term}" == taught
        for paraphrase, gold in paraphrases:
            assert not right(answered(paraphrase, database), gold, database), paraphrase
            assert right(answered(paraphrase, database, [term]), gold, database), paraphrase
        assert [q for q in others if answered(q, database).sql != answered(q, database, [term]).sql] == []


@pytest.mark.parametrize(("question", "ran", "corrected", "taught"), rows("statements/changes.jsonl"))
def test_only_one_change_is_learned(tmp_path: Path, question: str, ran: str, corrected: str, taught: str) -> None:
    period = "{0} >= '2024-05-01' AND {0} < '2024-06-01'"
    forms = {"all": "SELECT COUNT(*) FROM firings"}
    forms |= {d: f"SELECT id FROM firings WHERE {period.format(f'{d}_on')}" for d in ("loaded", "opened")}
    with open_database(sqlite_file(tmp_path / "kiln.sqlite", KILN)) as kiln:
        term = learned(question, ran.format(**forms), corrected.format(**forms), kiln)
    assert (f"{term.kind}|{term.term}|{term.means}" if term else "") == taught
