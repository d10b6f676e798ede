"""A query that does not run is made one that does, and every change is told; names are spelled as they are stored. A
correction teaches what it changed: paraphrases become right, and other questions stay as they were."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent.config import Settings
from agent.runner import Answer, run
from agent.state import Term
from agent.statements.corrections import learned
from agent.statements.mending import mended
from agent.statements.spelling import as_stored, in_any_case, without_escapes
from eval.databases import Database, open_database
from eval.schema import Column, Dialect, Schema, Table
from tests.agent.access.conftest import build
from tests.pairs import rows, sections
from tests.writing import sqlite_file

STATEMENTS = sections("statements/made.txt")
MADE = list(STATEMENTS["shop"][0])


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("mending") / "shop.db"
    build(f"sqlite://{path}", MADE)
    with open_database(path) as opened:
        yield opened


@pytest.mark.parametrize(("sql", "wanted", "told"), rows("statements/mended.jsonl"))
def test_it_runs_and_says_the_change(database: Database, sql: str, wanted: list[list[object]], told: list[str]) -> None:
    made = mended(sql, database)
    assert made.problem == ""
    assert [list(row) for row in made.result.rows] == wanted
    assert bool(made.changes) == bool(told)
    assert all(any(words in change for change in made.changes) for words in told), made.changes


@pytest.fixture(scope="module", params=["sqlite", "postgres_url"])
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("named")
    url = f"sqlite://{folder}/named.db" if request.param == "sqlite" else request.getfixturevalue(request.param)
    build(url, list(STATEMENTS["names in capitals"][0]))
    with open_database(url) as opened:
        yield opened


@pytest.mark.parametrize(("sql", "wanted"), rows("statements/mended_names.jsonl"))
def test_names_are_quoted_where_the_engine_needs_it(named: Database, sql: str, wanted: list[list[object]]) -> None:
    made = mended(sql, named)

    assert made.problem == "", made.sql
    assert [list(row) for row in made.result.rows] == wanted
    assert made.changes


@pytest.mark.parametrize(
    "sql", ["", "hello", "DROP TABLE clients", "SELECT weather FROM planets", "SELECT " + "(" * 5000]
)
def test_what_cannot_be_mended_is_told(database: Database, sql: str) -> None:
    made = mended(sql, database)
    assert made.problem
    assert made.result is None or not made.result.ok


def test_nothing_that_writes_is_run(database: Database, tmp_path: Path) -> None:
    made = mended("SELECT 1; DELETE FROM clients", database)
    assert (made.sql, made.changes) == ("SELECT 1", ("What follows the query is left out.",))
    assert list(mended("SELECT COUNT(*) FROM clients", database).result.rows) == [(2,)]


PEOPLE = Table("AppUser", (Column("id", "int"), Column("displayName", "text")), namespace="Shop")
ORDERS = Table(
    "orders", (Column("id", "int"), Column("userId", "int"), Column("total", "numeric"), Column("paid", "money"))
)
TWINS = (Table("Log", (Column("at", "date"),)), Table("LOG", (Column("At", "date"),)))


@pytest.mark.parametrize(("dialect", "written", "stored"), rows("statements/spelled.jsonl"))
def test_names_and_signs(dialect: Dialect, written: str, stored: str | None) -> None:
    schema = Schema(dialect, (PEOPLE, ORDERS, *(TWINS if dialect == "postgres" else ())))
    assert as_stored(written, schema, "store") == (written if stored is None else stored)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("a\\_b = 'x\\_y'", "a_b = 'x\\_y'"), ("“Name” = ‘Ann’", "\"Name\" = 'Ann'"), ("x \\>= 3 \\*", "x >= 3 *")],
)
def test_what_is_quoted_stays(text: str, plain: str) -> None:
    assert without_escapes(text) == plain


@pytest.mark.parametrize(("dialect", "written", "compared"), rows("statements/in_any_case.jsonl"))
def test_texts_in_any_case(dialect: Dialect, written: str, compared: str | None) -> None:
    columns = (Column("id", "int"), Column("s", "varchar(9)"), Column("kind", "order_enum"), Column("day", "date"))
    assert in_any_case(written, Schema(dialect, (Table("t", columns),))) == (compared or written)


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
