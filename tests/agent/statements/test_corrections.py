"""A correction teaches what it changed: paraphrases become right, and other questions stay as they were."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent.config import Settings
from agent.runner import Answer, run
from agent.state import Term
from agent.statements.corrections import learned
from eval.databases import open_database
from eval.databases.base import Database
from tests.agent.statements.trades import TRADES, Trade
from tests.writing import sqlite_file

OTHERS = 60


@pytest.fixture(scope="module", params=TRADES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Trade, Database]]:
    trade = TRADES[request.param]
    with opened(trade, tmp_path_factory.mktemp("trades") / f"{request.param}.sqlite") as database:
        yield trade, database


@pytest.fixture(scope="module")
def kiln(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with opened(TRADES["kiln"], tmp_path_factory.mktemp("kiln") / "kiln.sqlite") as database:
        yield database


@contextmanager
def opened(trade: Trade, path: Path) -> Iterator[Database]:
    sqlite_file(path, trade.schema)
    with closing(sqlite3.connect(path)) as connection:
        for table, rows in trade.rows(random.Random(7)).items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
    database = open_database(f"sqlite:///{path}")
    yield database
    database.close()


def answered(question: str, database: Database, taught: Sequence[Term] = ()) -> Answer:
    return asyncio.run(run(question, database=database, model="offline", settings=Settings(), taught=taught))


def right(answer: Answer, gold: str, database: Database) -> bool:
    with closing(sqlite3.connect(database.url.removeprefix("sqlite:///"))) as connection:
        wanted = connection.execute(gold).fetchall()
    return answer.status in ("success", "doubtful") and as_set(answer.rows) == as_set(wanted)


def as_set(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    plain = (tuple(round(v, 4) if isinstance(v, float) else v for v in row) for row in rows)
    return sorted(plain, key=repr)


def test_one_correction_lifts_its_paraphrases_and_changes_nothing_else(place: tuple[Trade, Database]) -> None:
    trade, database = place
    first = answered(trade.question, database)
    guess = first.attempts[-1].guess if first.attempts else ""
    term = learned(trade.question, first.sql or "", trade.corrected, database, guess)
    assert term is not None
    assert (term.kind, term.term) == (trade.kind, trade.term)

    before = [right(answered(q, database), gold, database) for q, gold in trade.paraphrases]
    after = [right(answered(q, database, [term]), gold, database) for q, gold in trade.paraphrases]
    assert not any(before)
    assert sum(after) == trade.lifted

    others = trade.others[:OTHERS]
    assert len(others) == OTHERS
    changed = [q for q in others if answered(q, database).sql != answered(q, database, [term]).sql]
    assert changed == []


@pytest.mark.parametrize(
    ("question", "ran", "corrected", "taught"),
    [
        ("firings emptied in May 2024", "{loaded}", "{opened}", "word|emptied|firings.opened_on"),
        (
            "total value of the firings",
            "SELECT SUM(pieces) FROM firings",
            "SELECT SUM(fuel_cost) FROM firings",
            "amount|firings|firings.fuel_cost",
        ),
        ("how many big firings", "{all}", "{all} WHERE pieces > 60 AND cone = 6", ""),
        ("how many firings", "{all}", "{all} WHERE pieces > 60", ""),
        ("how many small firings", "{all}", "{all} WHERE pieces < 20", "word|small|firings.pieces < 20"),
        ("how many small firings by glaze", "{all}", "{all} WHERE pieces < 20", ""),
        ("how many lucky firings", "{all} WHERE cone = 6", "{all} WHERE cone = 9", "word|lucky|firings.cone = 9"),
        ("how many lucky firings", "{all} WHERE cone = 6", "{all}", "word|lucky|firings"),
        ("how many lucky firings are a joy", "{all}", "{all} WHERE cone = 9", ""),
        ("how many lucky firings", "{all}", "{all} GROUP BY glaze", ""),
        ("how many lucky firings", "{all}", "{all} WHERE studio_id IN (SELECT id FROM studios)", ""),
        ("how many lucky firings", "{all}", "DROP TABLE firings", ""),
        ("how many firings in Ghent", "{all}", "no SQL at all (", ""),
    ],
)
def test_only_one_change_is_learned(kiln: Database, question: str, ran: str, corrected: str, taught: str) -> None:
    period = "{0} >= '2024-05-01' AND {0} < '2024-06-01'"
    forms = {"all": "SELECT COUNT(*) FROM firings"}
    forms |= {d: f"SELECT id FROM firings WHERE {period.format(f'{d}_on')}" for d in ("loaded", "opened")}
    term = learned(question, ran.format(**forms), corrected.format(**forms), kiln)
    assert (f"{term.kind}|{term.term}|{term.means}" if term else "") == taught
