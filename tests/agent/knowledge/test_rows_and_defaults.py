"""Dates, amounts and hidden rows of tables, measures and words: said while asking or in a file, they do the same.
What cannot be taught says why."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.config import Settings
from agent.inspection.memory import check_model
from agent.inspection.terms import exported, tried
from agent.knowledge.memory.retrieval import Memory, remembered
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.model import Dataset, SemanticModel
from agent.knowledge.semantics.terms import glossary_of, model_of, problem, with_taught
from agent.knowledge.vocabulary import vocabulary
from agent.runner import Answer, run
from agent.state import Term, TermKind
from eval.databases import open_database
from eval.databases.base import Database
from eval.schema import Column, Dialect, Schema, Table
from eval.sql import render
from eval.tasks.demos import demo_path
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file

SAID = rows("semantics/terms.jsonl")
TAUGHT = [Term(kind=kind, term=term, means=means) for kind, term, means, *_ in SAID]


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    script = (FIXTURES / "semantics/auction.sql").read_text(encoding="utf-8")
    with open_database(sqlite_file(tmp_path_factory.mktemp("auction") / "auction.sqlite", script)) as database:
        yield database


@pytest.fixture(scope="module")
def file(auction: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "taught.yaml"
    path.write_text(exported(TAUGHT, auction))
    return path


def answered(question: str, database: Database, taught: Sequence[Term] = (), file: Path | None = None) -> Answer:
    settings = Settings() if file is None else Settings().changed(judging={"semantic_model": str(file)})
    return asyncio.run(run(question, database=database, model="offline", settings=settings, taught=taught))


@pytest.mark.parametrize(("question", "sql"), rows("semantics/taught.jsonl"))
def test_what_is_taught_and_what_a_file_says_is_alike(question: str, sql: str, auction: Database, file: Path) -> None:
    taught, of_file = answered(question, auction, TAUGHT), answered(question, auction, file=file)
    for answer in (taught, of_file):
        assert answer.status in ("success", "doubtful")
        assert " ".join((answer.sql or "").split()) == sql


def test_an_export_passes_the_check_of_models(auction: Database, file: Path) -> None:
    report = check_model(file, auction)
    assert (report.findings, report.not_handled) == ((), ())
    assert report.metrics == 1
    wrong = file.with_name("wrong.yaml")
    wrong.write_text(
        file.read_text()
        .replace("deleted_at IS", "gone_at IS")
        .replace("sold_on\\", "bought_on\\")
        .replace('"sold_on"', '"bought_on"')
    )
    assert "\n".join(check_model(wrong, auction).findings).count("gone_at") == 1
    assert any("bought_on" in one for one in check_model(wrong, auction).findings)


def test_hidden_rows_are_said_and_can_be_had(auction: Database) -> None:
    answer = answered("lots by port", auction, TAUGHT)
    (part,) = [one for one in answer.attempts[-1].reading if one.text == "without deleted vessels"]
    assert part.others[0].label == "Include them"
    assert "deleted_at" not in part.others[0].sql
    assert not any("deleted_at" in one.text for one in answer.attempts[-1].reading)
    unbound = answered("how many vessels are there, including deleted ones", auction, TAUGHT).attempts[-1]
    assert [one.text for one in unbound.left_out] == ["1 row otherwise left out (deleted vessels) is included"]


def test_choices_say_what_would_make_them_the_rule(auction: Database) -> None:
    rows = answered("how many lots in May 2024", auction).attempts[-1].reading[1]
    assert [one.teaches for one in rows.others] == [TAUGHT[0]]
    figure = answered("total reserve by species", auction).attempts[-1].reading[0]
    assert TAUGHT[1] in [one.teaches for one in figure.others]
    (deleted,) = answered("how many vessels are there", auction).attempts[-1].left_out
    assert deleted.others[0].teaches == TAUGHT[2]


def test_a_model_is_told(auction: Database) -> None:
    schema = auction.schema()
    memory = Memory(glossary=glossary_of(model_of(TAUGHT, schema), schema))
    lines = remembered(
        "home fish at kilo price", memory, schema, db="", examples=0, glossary=True
    ).glossary_text.splitlines()
    assert "- rows of vessels are meant with vessels.deleted_at IS NULL, unless the question says otherwise" in lines
    assert "- where no date of lots is named, lots.sold_on is meant" in lines
    assert "- where no amount of lots is named, lots.hammer is meant" in lines
    assert "- kilo price: SUM(lots.hammer) / SUM(lots.kilos)" in lines
    assert "- home fish: lots.species = 'cod' AND vessels.port = 'Urk'" in lines


@pytest.mark.parametrize(("kind", "term", "means", "says", "gives"), SAID)
def test_a_term_is_told_tried(kind: TermKind, term: str, means: str, says: str, gives: str, auction: Database) -> None:
    done = tried(Term(kind=kind, term=term, means=means), auction)
    assert (done.told, done.tried) == (says, gives)


@pytest.mark.parametrize("kind", ["BOOLEAN", "INTEGER NOT NULL"])
def test_a_flag_alone_marks_rows(kind: str, tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "flags.sqlite",
        f"CREATE TABLE vessels (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_test {kind});"
        "INSERT INTO vessels VALUES (1, 'Ada', 1), (2, 'Bo', 0), (3, 'Cy', 0);",
    )
    with open_database(path) as database:
        hidden = Term(kind="hidden", term="vessels", means="vessels.is_test")
        assert tried(hidden, database).tried == "It holds for 1 of 3 rows."
        told = "Rows of vessels where is_test is true count only where a question asks for them."
        assert tried(hidden, database).told == told
        answer = answered("how many vessels are there", database, [hidden])
        assert answer.rows == [[2]]
        assert "without test vessels" in [part.text for part in answer.attempts[-1].reading]
        assert answered("how many vessels, including test vessels", database, [hidden]).rows == [[3]]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "clickhouse", "spark"])
def test_hidden_rows_are_called_the_same_in_each_dialect(dialect: Dialect) -> None:
    table = Table("vessels", (Column("id", "INTEGER"), Column("deleted_at", "TEXT")))
    model = model_of([TAUGHT[2]], schema := Schema(dialect, (table,)))
    (rows,) = model_view_of(model, schema).hidden
    assert (rows.called, rows.text) == ("deleted vessels", "vessels.deleted_at IS NOT NULL")
    assert render(rows.kept("v"), dialect).replace("`", "").replace('"', "") == "v.deleted_at IS NULL"


WORDS = [
    Term(term="stalwarts", means="customers.newsletter = 1"),
    Term(term="tat", means="products"),
    Term(term="moolah", means="orders.total_amount"),
]


@pytest.fixture(scope="module")
def shop() -> Schema:
    with open_database(demo_path("shop")) as database:
        return database.schema()


def test_names_are_added_to_a_model_and_conditions_win_over_a_glossary(shop: Schema) -> None:
    known = SemanticModel("m", (Dataset("goods", "products", synonyms=("ware",)),))
    model = with_taught(known, [*WORDS, Term(term="gone", means="nothing.here")], shop)
    assert [(d.table, d.synonyms) for d in model.datasets if d.synonyms] == [("products", ("ware", "tat"))]
    assert sorted((f.name, f.synonyms) for d in model.datasets for f in d.fields) == [
        ("stalwarts", ()),
        ("total_amount", ("moolah",)),
    ]
    assert with_taught(known, [Term(term="x", means="nothing.here")], shop) is known
    assert [e.name for e in glossary_of(model_of(WORDS, shop), shop).entries] == ["stalwarts"]


@pytest.mark.parametrize(("kind", "term", "means", "why"), rows("semantics/not_taught.jsonl"))
def test_what_cannot_be_taught_says_why(shop: Schema, kind: TermKind, term: str, means: str, why: str) -> None:
    """Nothing where it can be."""
    said = problem(Term(kind=kind, term=term, means=means), vocabulary(shop))
    assert why in said if said and why else said is None and not why
