"""What a team knows: verified examples and a glossary are read, checked and chosen, and stand in whole runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.config import Settings
from agent.events import AnswerEvent
from agent.knowledge.memory.examples import Example, read_examples, usable
from agent.knowledge.memory.glossary import Entry, read_glossary, unfit
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.retrieval import Memory, load_memory, nearest, remembered, template
from agent.models.openai import OpenAIModel
from agent.runner import stream
from eval.databases import open_database
from eval.databases.base import Database
from tests.agent.conftest import Run
from tests.jsonl import as_lines
from tests.openai_server import OpenAIServer, completion
from tests.pairs import FIXTURES, rows
from tests.settings import overridden
from tests.writing import sqlite_file

TABLES = (FIXTURES / "memory/shop.sql").read_text(encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path / "shop.sqlite", TABLES)) as database:
        yield database


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


Kept = Callable[[str, str], Path]
GOOD = {"question": "How many customers live in Lyon?", "sql": "SELECT COUNT(*) FROM customers WHERE city = 'Lyon';"}
GLOSSARY = (FIXTURES / "memory/glossary.yaml").read_text(encoding="utf-8")


def test_json_lines_and_yaml_say_the_same_and_a_changed_file_is_read_again(kept: Kept) -> None:
    from_lines = read_examples(kept("a.jsonl", "\n" + as_lines([GOOD])))
    from_yaml = read_examples(kept("a.yaml", f'# ours\n- question: {GOOD["question"]}\n  sql: "{GOOD["sql"]}"\n'))

    assert from_lines == from_yaml == [Example(GOOD["question"], GOOD["sql"].rstrip(";"), "", 2)]
    path = kept("a.jsonl", as_lines([GOOD]))
    assert len(load_memory(str(path), None).examples) == 1
    kept("a.jsonl", as_lines([GOOD, {**GOOD, "question": "And in Porto?"}]))
    assert len(load_memory(str(path), None).examples) == 2


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


def test_a_glossary_fits_its_terms_are_found_inflected_and_its_filters_always(kept: Kept, shop: Database) -> None:
    glossary = read_glossary(kept("g.yaml", GLOSSARY))

    assert [(e.kind, e.name, e.line) for e in glossary.entries] == [
        ("term", "big spender", 2),
        ("metric", "revenue", 6),
        ("filter", "orders", 10),
    ]
    assert [unfit(e, shop.schema()) for e in glossary.entries] == [None, None, None]
    memory = Memory((), read_glossary(kept("g.yaml", GLOSSARY)))

    def statements(question: str) -> list[str]:
        notes = remembered(question, memory, shop.schema(), db="shop", examples=0, glossary=True)
        return [e.name for e in notes.entries]

    assert statements("How many big spenders are there?") == ["big spender", "orders"]
    assert statements("Revenue of our whales") == ["big spender", "revenue", "orders"]
    assert statements("How many big cities?") == ["orders"]


@pytest.mark.parametrize(("text", "message"), rows("memory/bad_glossaries.jsonl"))
def test_a_bad_glossary_says_which_line_and_why(kept: Kept, text: str, message: str) -> None:
    with pytest.raises(BadMemory) as refused:
        read_glossary(kept("g.yaml", text))
    assert message in str(refused.value)


@pytest.mark.parametrize(("kind", "expression", "message"), rows("memory/unfit_terms.jsonl"))
def test_what_does_not_fit_the_schema_is_said(shop: Database, kind: str, expression: str, message: str) -> None:
    assert message in str(unfit(Entry(kind, "whales", expression), shop.schema()))  # type: ignore[arg-type]


SQL = "SELECT COUNT(*) FROM customers WHERE segment = 'A'"
EXAMPLES = json.dumps({"question": "How many customers live in Porto?", "sql": "SELECT COUNT(*) FROM customers"}) + "\n"
TERMS = """
terms:
  - term: big spender
    means: customers.segment = 'A'
"""


@pytest.fixture
def writer(endpoint: OpenAIServer) -> OpenAIServer:
    """It writes SQL, and works in steps."""
    endpoint.otherwise = completion({"reasoning": "counts", "sql": SQL, "thought": "t", "tool": "generate_sql"})
    return endpoint


@pytest.fixture
def files(kept: Kept) -> dict[str, str]:
    return {"examples": str(kept("e.jsonl", EXAMPLES)), "glossary": str(kept("g.yaml", TERMS))}


QUESTION = "How many big spenders live in Lyon?"


async def test_a_model_sees_examples_and_terms_before_the_question(
    writer: OpenAIServer, remote: OpenAIModel, ask: Run, files: dict[str, str]
) -> None:
    await ask(QUESTION, remote, strategy="few-shot-1/glossary/no-summary", **files)

    (request,) = writer.requests
    body = request.prompt
    places = [body.index(text) for text in ("Schema:", "big spender: customers.segment = 'A'", "Porto?", QUESTION)]
    assert places == sorted(places)


async def test_steps_see_them_too(writer: OpenAIServer, remote: OpenAIModel, ask: Run, files: dict[str, str]) -> None:
    await ask(QUESTION, remote, strategy="react/no-summary", **files)

    assert "big spender: customers.segment = 'A'" in writer.requests[0].prompt
    assert "Porto?" in writer.requests[0].prompt


async def test_what_is_confirmed(writer: OpenAIServer, remote: OpenAIModel, shop: Database, config: Settings) -> None:
    confirmed = [("How many customers live in Turku?", "SELECT COUNT(*) FROM customers WHERE city = 'Turku'")]
    settings = overridden(config, strategy="few-shot/no-summary")

    events = [e async for e in stream(QUESTION, database=shop, model=remote, settings=settings, confirmed=confirmed)]

    assert any(isinstance(e, AnswerEvent) for e in events)
    assert "city = 'Turku'" in writer.requests[0].prompt


async def test_the_offline_engine_takes_the_glossary(ask: Run, files: dict[str, str]) -> None:
    _, knowing = await ask("How many big spenders are there?", "offline", glossary=files["glossary"])
    _, unknowing = await ask("How many big spenders are there?", "offline")

    assert (knowing.status, knowing.rows) == ("success", [[2]])
    assert unknowing.rows != knowing.rows
    assert knowing.question == "How many big spenders are there?"
