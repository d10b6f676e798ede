"""The glossary: reading, checking against the schema, the entries that a question names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.knowledge.memory.glossary import Entry, read_glossary, unfit
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.loader import Memory
from agent.knowledge.memory.prompt_text import remembered
from eval.databases.base import Database
from tests.pairs import FIXTURES, rows

Kept = Callable[[str, str], Path]
GOOD = (FIXTURES / "memory/glossary.yaml").read_text(encoding="utf-8")


def test_a_glossary_is_read_and_fits(kept: Kept, shop: Database) -> None:
    glossary = read_glossary(kept("g.yaml", GOOD))

    assert [(e.kind, e.name, e.line) for e in glossary.entries] == [
        ("term", "big spender", 2),
        ("metric", "revenue", 6),
        ("filter", "orders", 10),
    ]
    assert [unfit(e, shop.schema()) for e in glossary.entries] == [None, None, None]


@pytest.mark.parametrize(("text", "message"), rows("memory/bad_glossaries.jsonl"))
def test_a_bad_file_says_which_line_and_why(kept: Kept, text: str, message: str) -> None:
    with pytest.raises(BadMemory) as refused:
        read_glossary(kept("g.yaml", text))
    assert message in str(refused.value)


@pytest.mark.parametrize(("kind", "expression", "message"), rows("memory/unfit_terms.jsonl"))
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
