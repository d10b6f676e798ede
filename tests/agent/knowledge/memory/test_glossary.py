"""The glossary: reading, checking against the schema, the entries that a question names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.knowledge.memory.glossary import Entry, Glossary, read_glossary, statements, unfit
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.loader import Memory
from agent.knowledge.memory.prompt_text import remembered
from eval.databases.base import Database

Kept = Callable[[str, str], Path]
GOOD = """
terms:
  - term: big spender
    synonyms: [whale]
    means: customers.segment = 'A'
metrics:
  - metric: revenue
    sql: SUM(orders.total)
    note: without tax
filters:
  - table: orders
    condition: orders.status <> 'cancelled'
"""


def test_a_glossary_is_read_and_fits(kept: Kept, shop: Database) -> None:
    glossary = read_glossary(kept("g.yaml", GOOD))

    assert [(e.kind, e.name, e.line) for e in glossary.entries] == [
        ("term", "big spender", 3),
        ("metric", "revenue", 7),
        ("filter", "orders", 11),
    ]
    assert [unfit(e, shop.schema()) for e in glossary.entries] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words: []\n", "line 1: 'words' is none of terms, metrics, filters"),
        ("terms:\n  - term: x\n", "line 2: means is missing"),
        ("terms:\n  - term: x\n    means: a.b\n    colour: red\n", "line 4: 'colour' is none of"),
        ("terms:\n  - term: x\n    means: a.b\n    synonyms: y\n", "line 2: synonyms must be a list"),
        ("terms: x\n", "line 1: terms must be a list"),
        ("terms:\n  - term: '...'\n    means: a.b\n", "line 2: term has no words"),
        ("- a\n", "line 1: terms, metrics and filters are expected"),
        ("terms:\n\t- x\n", "line 2: no YAML"),
    ],
)
def test_a_bad_file_says_which_line_and_why(kept: Kept, text: str, message: str) -> None:
    with pytest.raises(BadMemory) as refused:
        read_glossary(kept("g.yaml", text))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "expression", "message"),
    [
        ("term", "customers.sgment = 'A'", "no column"),
        ("term", "segment = 'A'", "must be written table.segment"),
        ("term", "1 = 1", "names no column"),
        ("term", "customers.segment =", "cannot be read"),
        ("term", "customers.segment FROM customers", "one expression is expected"),
        ("term", "customers.segment, customers.name", "one expression is expected"),
        ("term", "load_extension(customers.name)", "the guard refuses"),
        ("filter", "customers.segment = 'A'", "no table whales"),
    ],
)
def test_what_does_not_fit_the_schema_is_said(shop: Database, kind: str, expression: str, message: str) -> None:
    assert message in str(unfit(Entry(kind, "whales", expression), shop.schema()))  # type: ignore[arg-type]


def test_terms_are_found_in_other_inflections_and_filters_always(kept: Kept, shop: Database) -> None:
    memory = Memory((), read_glossary(kept("g.yaml", GOOD)))

    def statements(question: str) -> list[str]:
        notes = remembered(question, memory, shop.schema(), db="shop", examples=0, glossary=True)
        return [e.name for e in notes.entries]

    assert statements("How many big spenders are there?") == ["big spender", "orders"]
    assert statements("Revenue of our whales") == ["big spender", "revenue", "orders"]
    assert statements("How many big cities?") == ["orders"]


def test_other_modes_of_privacy_hide_constants_and_examples(kept: Kept, shop: Database) -> None:
    memory = Memory((), read_glossary(kept("g.yaml", GOOD)))
    asked = {"db": "shop", "examples": 3, "glossary": True}

    full = remembered("big spenders", memory, shop.schema(), **asked)  # type: ignore[arg-type]
    masked = remembered("big spenders", memory, shop.schema(), privacy="masked", **asked)  # type: ignore[arg-type]

    assert "- big spender, whale: customers.segment = 'A'" in full.glossary_text
    assert "- big spender, whale: customers.segment = …" in masked.glossary_text
    assert "cancelled" not in masked.glossary_text


def test_terms_go_to_the_offline_engine_as_statements() -> None:
    entries = (Entry("term", "big spender", "customers.segment = 'A'", ("whale",)), Entry("metric", "revenue", "x"))

    assert list(statements(entries)) == [
        "big spender refers to customers.segment = 'A'",
        "whale refers to customers.segment = 'A'",
    ]
    assert Glossary().entries == ()
