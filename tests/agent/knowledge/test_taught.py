"""A word that was taught is understood in every turn of phrase, and changes no question that does not hold it."""

from __future__ import annotations

import asyncio

import pytest

from agent.config import Settings
from agent.knowledge.memory.glossary import Glossary
from agent.knowledge.semantics.model import Dataset, SemanticModel
from agent.knowledge.taught import problem, with_conditions, with_names
from agent.runner import Answer, run
from eval.databases import open_database
from eval.schema import Schema
from eval.sql import check, parse
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks

TAUGHT = [("stalwarts", "customers.newsletter = 1"), ("tat", "products"), ("moolah", "orders.total_amount")]
COUNTS = {
    "stalwarts": "SELECT COUNT(*) FROM customers WHERE newsletter = 1",
    "tat": "SELECT COUNT(*) FROM products",
}
PARAPHRASES = [
    "how many stalwarts are there",
    "number of stalwarts",
    "count the stalwarts",
    "How many stalwarts do we have?",
    "how many customers are stalwarts",
    "how many tat are there",
    "number of tat",
    "count the tat",
]


@pytest.fixture(scope="module")
def shop() -> Schema:
    database = open_database(f"sqlite:///{demo_path('shop')}")
    schema = database.schema()
    database.close()
    return schema


def answered(question: str, taught: list[tuple[str, str]]) -> Answer:
    return asyncio.run(run(question, database="shop", model="offline", settings=Settings(), taught=taught))


@pytest.mark.parametrize("question", PARAPHRASES)
def test_a_taught_word_lifts_its_paraphrases(question: str) -> None:
    before, after = answered(question, []), answered(question, TAUGHT)
    database = open_database(f"sqlite:///{demo_path('shop')}")
    try:
        wanted = COUNTS["stalwarts" if "stalwart" in question else "tat"]
        statement = check(parse(wanted, "sqlite")).statement
        assert statement is not None
        rows = [list(row) for row in database.execute(statement).rows]
    finally:
        database.close()
    assert before.rows != rows
    assert after.rows == rows


def test_other_questions_are_read_as_before() -> None:
    questions = [task.question for task in tasks() if task.database == "shop"][:60]
    assert len(questions) >= 20
    for question in questions:
        assert answered(question, TAUGHT).sql == answered(question, []).sql


def test_names_are_added_to_a_model_and_conditions_win_over_a_glossary(shop: Schema) -> None:
    known = SemanticModel("m", (Dataset("goods", "products", synonyms=("ware",)),))
    model = with_names(known, [*TAUGHT, ("gone", "nothing.here")], shop)
    assert model is not None
    assert [(d.table, d.synonyms) for d in model.datasets if d.synonyms] == [("products", ("ware", "tat"))]
    assert [(f.name, f.synonyms) for d in model.datasets for f in d.fields] == [
        ("stalwarts", ()),
        ("total_amount", ("moolah",)),
    ]
    assert with_names(known, [("x", "nothing.here")], shop) is known
    assert [e.name for e in with_conditions(Glossary(), TAUGHT, shop).entries] == ["stalwarts"]


def test_what_cannot_be_taught_says_why(shop: Schema) -> None:
    assert problem("tat", "products", shop) is None
    assert problem("tat", "products.name", shop) is None
    assert "no table" in (problem("tat", "nothing", shop) or "")
    assert "word" in (problem("  !", "products", shop) or "")
