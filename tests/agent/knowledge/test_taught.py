"""A word that was taught is understood in every turn of phrase, and changes no question that does not hold it."""

from __future__ import annotations

import pytest

from agent.knowledge.semantics.entries import glossary_of
from agent.knowledge.semantics.model import Dataset, SemanticModel
from agent.knowledge.taught import model_of, problem, with_taught
from agent.knowledge.vocabulary import vocabulary
from agent.state import Term
from eval.databases import open_database
from eval.schema import Schema
from eval.tasks.demos import demo_path

TAUGHT = [
    Term(term="stalwarts", means="customers.newsletter = 1"),
    Term(term="tat", means="products"),
    Term(term="moolah", means="orders.total_amount"),
]


@pytest.fixture(scope="module")
def shop() -> Schema:
    database = open_database(f"sqlite:///{demo_path('shop')}")
    schema = database.schema()
    database.close()
    return schema


def test_names_are_added_to_a_model_and_conditions_win_over_a_glossary(shop: Schema) -> None:
    known = SemanticModel("m", (Dataset("goods", "products", synonyms=("ware",)),))
    model = with_taught(known, [*TAUGHT, Term(term="gone", means="nothing.here")], shop)
    assert model is not None
    assert [(d.table, d.synonyms) for d in model.datasets if d.synonyms] == [("products", ("ware", "tat"))]
    assert sorted((f.name, f.synonyms) for d in model.datasets for f in d.fields) == [
        ("stalwarts", ()),
        ("total_amount", ("moolah",)),
    ]
    assert with_taught(known, [Term(term="x", means="nothing.here")], shop) is known
    assert [e.name for e in glossary_of(model_of(TAUGHT, shop), shop).entries] == ["stalwarts"]


def test_what_cannot_be_taught_says_why(shop: Schema) -> None:
    words = vocabulary(shop)
    refused = {
        ("word", "tat", "products"): "",
        ("word", "tat", "products.name"): "",
        ("word", "tat", "nothing"): "no table",
        ("word", "  !", "products"): "word",
        ("measure", "turnover", "SUM(orders.total_amount)"): "",
        ("measure", "turnover", "orders.total_amount"): "no aggregate",
        ("measure", "turnover", "SUM(orders.nothing)"): "no column orders.nothing",
        ("date", "orders", "orders.order_date"): "",
        ("date", "orders", "orders.status"): "no dates",
        ("date", "orders", "products.created_at"): "products",
        ("date", "nothing", "orders.order_date"): "no table",
        ("amount", "orders", "orders.total_amount"): "",
        ("amount", "orders", "orders.status"): "no figures",
        ("hidden", "orders", "orders.status = 'cancelled'"): "",
        ("hidden", "orders", "customers.newsletter = 1"): "no condition on orders",
        ("hidden", "orders", "1 = 1"): "no condition on orders",
        ("hidden", "orders", "COUNT(orders.order_id) > 1"): "single rows",
        ("hidden", "orders", "orders.order_id IN (SELECT 1)"): "no condition on orders",
    }
    for (kind, term, means), why in refused.items():
        said = problem(Term.model_validate({"kind": kind, "term": term, "means": means}), words)
        assert why in said if said and why else said is None and not why, (kind, term, means, said)
