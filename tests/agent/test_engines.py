"""The same question on the same demo data in four engines: the same rows, by the whole agent, offline."""

from __future__ import annotations

import pytest

from agent.config import Settings
from agent.runner import run
from eval.databases import open_database
from eval.metrics.comparison import same_result
from eval.tasks import demo_named, demo_path
from text2sql.testing import ScriptedModel

QUESTIONS = [
    "How many customers are there?",
    "How many orders were placed in 2024?",
    "What is the average price of the products in each category?",
    "Which customers have never placed an order?",
    "What are the 5 heaviest products?",
]


@pytest.fixture(scope="module", params=["duckdb_url", "postgres_url", "mysql_url"])
def shop_url(request: pytest.FixtureRequest) -> str:
    """The demo shop in an engine's scratch database."""
    url: str = request.getfixturevalue(request.param)
    demo_named("shop").build(url)
    return url


async def test_the_offline_engine_answers_alike_everywhere(shop_url: str, config: Settings) -> None:
    with open_database(shop_url) as server, open_database(demo_path("shop")) as sqlite:
        for question in QUESTIONS:
            here = await run(question, database=server, model="offline", settings=config)
            there = await run(question, database=sqlite, model="offline", settings=config)
            assert there.rows, question
            rows, expected = ([tuple(map(_plain, row)) for row in a.rows] for a in (here, there))
            assert same_result(expected, rows, ordered=False), (question, here.sql, here.reason)


def _plain(value: object) -> object:
    """A number that an exact decimal was written as."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


async def test_a_model_is_corrected_by_the_engines_own_words(shop_url: str, config: Settings) -> None:
    with open_database(shop_url) as database:
        model = ScriptedModel("SELECT COUNT(*) FROM custommers", "SELECT COUNT(*) FROM customers", relevance=0.9)
        answer = await run("How many customers are there?", database=database, model=model, settings=config)
        assert [a.retry_category for a in answer.attempts] == ["hallucination", None]
        assert answer.rows == [[480]]
        assert answer.status == "success"


@pytest.mark.parametrize("shop_url", ["mysql_url"], indirect=True)
async def test_a_model_may_name_the_opened_mysql_database(shop_url: str, config: Settings) -> None:
    with open_database(shop_url) as database:
        model = ScriptedModel(f"SELECT COUNT(*) FROM {database.name}.customers", relevance=0.9)
        answer = await run("How many customers are there?", database=database, model=model, settings=config)
        assert answer.rows == [[480]]
        assert answer.sql == "SELECT COUNT(*) FROM customers"
