"""Verified examples and the glossary: reading, checking, choosing what a question needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.knowledge.memory.examples import Example, read_examples, usable
from agent.knowledge.memory.glossary import Entry, read_glossary, unfit
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.retrieval import Memory, load_memory, nearest, remembered, template
from eval.databases.base import Database
from tests.jsonl import as_lines
from tests.pairs import FIXTURES, rows

Kept = Callable[[str, str], Path]
GOOD = {"question": "How many customers live in Lyon?", "sql": "SELECT COUNT(*) FROM customers WHERE city = 'Lyon';"}
GLOSSARY = (FIXTURES / "memory/glossary.yaml").read_text(encoding="utf-8")


def test_json_lines_and_yaml_say_the_same(kept: Kept) -> None:
    from_lines = read_examples(kept("a.jsonl", "\n" + as_lines([GOOD])))
    from_yaml = read_examples(kept("a.yaml", f'# ours\n- question: {GOOD["question"]}\n  sql: "{GOOD["sql"]}"\n'))

    assert from_lines == from_yaml == [Example(GOOD["question"], GOOD["sql"].rstrip(";"), "", 2)]


@pytest.mark.parametrize(("name", "text", "message"), rows("memory/bad_examples.jsonl"))
def test_a_bad_file_says_which_line_and_why(kept: Kept, name: str, text: str, message: str) -> None:
    with pytest.raises(BadMemory) as refused:
        read_examples(kept(name, text))
    assert message in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_said(tmp_path: Path, kept: Kept) -> None:
    with pytest.raises(BadMemory, match="cannot be read"):
        load_memory(str(tmp_path / "none.jsonl"), None)
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(BadMemory, match=r"no UTF-8"):
        load_memory(str(tmp_path / "b.jsonl"), None)


def test_a_changed_file_is_read_again(kept: Kept) -> None:
    path = kept("a.jsonl", as_lines([GOOD]))
    assert len(load_memory(str(path), None).examples) == 1
    kept("a.jsonl", as_lines([GOOD, {**GOOD, "question": "And in Porto?"}]))
    assert len(load_memory(str(path), None).examples) == 2


@pytest.mark.parametrize(("sql", "why"), rows("memory/usable.jsonl"))
def test_an_example_is_used_only_if_guard_and_schema_take_it(shop: Database, sql: str, why: str | None) -> None:
    problem = usable(Example("q", sql), shop.schema())

    assert problem is None if why is None else why in str(problem)
    assert (nearest("q", [Example("q", sql)], shop.schema(), 3) == ()) == (why is not None)


def test_questions_that_differ_in_values_have_one_template() -> None:
    for form, one, other in (
        ("How many orders were paid in {}?", "2004", "2005"),
        ("Orders with status {}", "'paid'", "“on hold”"),
        ("Payments over {}", "$1,500.50", "20"),
    ):
        assert template(form.format(one)) == template(form.format(other))


def test_the_most_alike_comes_last_and_templates_do_not_repeat(shop: Database) -> None:
    examples = [
        Example("What is the average total of orders?", "SELECT AVG(total) FROM orders"),
        Example("How many customers live in Porto?", "SELECT COUNT(*) FROM customers WHERE city = 'Porto'"),
        Example("How many customers live in Turku?", "SELECT COUNT(*) FROM customers WHERE city = 'Turku'"),
        Example("List the names of customers", "SELECT name FROM customers"),
    ]

    examples_found = nearest("How many customers live in Lyon?", examples, shop.schema(), 2)

    assert [e.question for e in examples_found] == ["List the names of customers", "How many customers live in Porto?"]
    assert nearest("How many customers live in Lyon?", examples, shop.schema(), 0) == ()


def test_a_glossary_is_read_and_fits(kept: Kept, shop: Database) -> None:
    glossary = read_glossary(kept("g.yaml", GLOSSARY))

    assert [(e.kind, e.name, e.line) for e in glossary.entries] == [
        ("term", "big spender", 2),
        ("metric", "revenue", 6),
        ("filter", "orders", 10),
    ]
    assert [unfit(e, shop.schema()) for e in glossary.entries] == [None, None, None]


@pytest.mark.parametrize(("text", "message"), rows("memory/bad_glossaries.jsonl"))
def test_a_bad_glossary_says_which_line_and_why(kept: Kept, text: str, message: str) -> None:
    with pytest.raises(BadMemory) as refused:
        read_glossary(kept("g.yaml", text))
    assert message in str(refused.value)


@pytest.mark.parametrize(("kind", "expression", "message"), rows("memory/unfit_terms.jsonl"))
def test_what_does_not_fit_the_schema_is_said(shop: Database, kind: str, expression: str, message: str) -> None:
    assert message in str(unfit(Entry(kind, "whales", expression), shop.schema()))  # type: ignore[arg-type]


def test_terms_are_found_in_other_inflections_and_filters_always(kept: Kept, shop: Database) -> None:
    memory = Memory((), read_glossary(kept("g.yaml", GLOSSARY)))

    def statements(question: str) -> list[str]:
        notes = remembered(question, memory, shop.schema(), db="shop", examples=0, glossary=True)
        return [e.name for e in notes.entries]

    assert statements("How many big spenders are there?") == ["big spender", "orders"]
    assert statements("Revenue of our whales") == ["big spender", "revenue", "orders"]
    assert statements("How many big cities?") == ["orders"]
