"""A model steers parser, prompt and judge: a metric is what the model says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.config import Settings
from agent.knowledge.semantics.check import checked
from agent.knowledge.semantics.conformity import departures
from agent.knowledge.semantics.draft import drafted
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.files import read_model
from agent.knowledge.semantics.model import SemanticModel
from agent.runner import run
from eval.databases import Database, open_database
from eval.sql import check, parse, render
from eval.tasks import demo_path
from tests.agent.knowledge.semantics.shop import SHOP_MODEL
from tests.pairs import rows
from tests.writing import sqlite_file

FIXTURE = Path(__file__).parents[3] / "fixtures" / "semantics" / "departures.txt"
CASES = [
    tuple(part.strip() for part in line.split("|", 2))
    for line in FIXTURE.read_text().splitlines()
    if line and not line.startswith("#")
]


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with open_database(demo_path("shop")) as database:
        yield database


@pytest.fixture(scope="module")
def model() -> SemanticModel:
    return read_model(SHOP_MODEL)


@pytest.mark.parametrize(("kind", "question", "sql"), CASES)
def test_a_metric_written_otherwise_is_a_contradiction(
    kind: str, question: str, sql: str, shop: Database, model: SemanticModel
) -> None:
    tree = parse(sql, "sqlite").tree
    assert tree is not None
    assert bool(departures(question, tree, model, shop.schema())) == (kind == "wrong")


@pytest.mark.parametrize(("written", "expanded"), rows("semantics/expanded.jsonl"))
def test_columns_of_the_model_are_expanded_on_the_tree(
    written: str, expanded: str, shop: Database, model: SemanticModel
) -> None:
    tree = parse(written, "sqlite").tree
    assert tree is not None
    assert render(model_view_of(model, shop.schema()).expand(tree), "sqlite") == expanded


async def test_a_question_is_answered_by_the_metrics_definition(tmp_path: Path) -> None:
    values = {"TEXT2SQL_SEMANTIC_MODEL": str(SHOP_MODEL), "TEXT2SQL_CACHE_DIR": str(tmp_path)}
    settings = Settings(_env_file=None, **values)
    answer = await run("stock value by category", database=str(demo_path("shop")), model="offline", settings=settings)
    with sqlite3.connect(demo_path("shop")) as connection:
        gold = "SELECT c.name, SUM(price * stock_quantity) FROM products JOIN categories AS c USING (category_id)"
        wanted = {name: round(value, 2) for name, value in connection.execute(f"{gold} GROUP BY 1")}
    connection.close()
    assert {name: round(value, 2) for name, value in answer.rows} == wanted


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_a_draft_fits_its_database(name: str) -> None:
    with open_database(demo_path(name)) as database:
        draft = drafted(database.schema(), name)
        assert checked(draft, database) == []
        assert len(draft.datasets) == len(database.schema().tables)


def test_the_check_names_what_does_not_fit() -> None:
    with open_database(demo_path("shop")) as database:
        text = "\n".join(map(str, checked(read_model(FIXTURE.with_name("broken.yaml")), database)))
    for part in (
        "orders.totl: orders has no column totl",
        "bad: orders has no column nothing",
        "ghosts: there is no table ghosts",
        "many: customers has several rows of one country: the join multiplies rows",
        "types: orders.customer_id is INTEGER, but customers.email is TEXT",
        "Who?: its SQL does not fit: the database has no column nobody",
    ):
        assert part in text, text


FIXTURES = Path(__file__).parents[3] / "fixtures" / "semantics"
DBT = ("dbt_semantic_manifest.json", "dbt_osi_document.json", "ossie_from_dbt.yaml")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = sqlite_file(
        tmp_path_factory.mktemp("dbt") / "warehouse.sqlite",
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, country TEXT, signed_up DATE);"
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, order_date DATE, channel TEXT,"
        " amount REAL, is_food BOOLEAN);"
        "INSERT INTO customers VALUES (1, 'DE', '2023-01-01');"
        "INSERT INTO orders VALUES (1, 1, '2024-01-01', 'web', 10, 1), (2, 1, '2024-01-02', 'shop', 5, 0);",
    )
    with open_database(path) as database:
        yield database


def computed(database: Database, sql: str) -> object:
    parsed = parse(f"SELECT {sql} FROM orders", "sqlite")
    verdict = check(parsed, database.schema())
    assert verdict.statement is not None
    return database.execute(verdict.statement).rows[0][0]


@pytest.mark.parametrize("name", DBT)
def test_the_metrics_of_a_dbt_project_mean_the_same_in_each_of_its_files(name: str, warehouse: Database) -> None:
    model = read_model(FIXTURES / name)
    view = model_view_of(model, warehouse.schema())
    meanings = {m.metric: render(m.tree, "sqlite") for m in view.meanings.values() if m.metric}
    rows = {
        metric: computed(warehouse, sql)
        for metric, sql in meanings.items()
        if metric in ("revenue", "web_revenue", "orders", "average_order", "twice", "food")
    }
    assert rows == {"revenue": 15, "web_revenue": 10, "orders": 2, "average_order": 7.5, "twice": 30, "food": 1}
    assert [(r.source, r.target) for r in model.relationships] == [("orders", "customers")]


@pytest.mark.parametrize("name", DBT)
def test_a_metric_that_the_engine_cannot_compute_is_found_by_the_check(name: str, warehouse: Database) -> None:
    places = {finding.place for finding in checked(read_model(FIXTURES / name), warehouse)}
    assert "revenue" not in places
    assert "median_order" in places  # SQLite has no median
