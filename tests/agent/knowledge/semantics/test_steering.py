"""A model steers parser, prompt and judge: a metric is what the model says, whichever tool wrote the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.config import Settings
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.semantics.check import checked, departures
from agent.knowledge.semantics.described import described, drafted
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.files import load_model, read_model
from agent.knowledge.semantics.model import SemanticModel
from agent.runner import run
from eval.databases import Database, open_database
from eval.sql import parse, render
from eval.tasks import demo_path
from tests import pairs
from tests.writing import rows_of, sqlite_file
from text2sql.testing import ScriptedModel

SHOP_MODEL = Path(__file__).parents[4] / "docs" / "examples" / "shop-model.yaml"
FIXTURES = pairs.FIXTURES / "semantics"
CASES = [
    tuple(part.strip() for part in line.split("|", 2))
    for line in (FIXTURES / "departures.txt").read_text().splitlines()
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
def test_another_metric_contradicts(kind: str, question: str, sql: str, shop: Database, model: SemanticModel) -> None:
    tree = parse(sql, "sqlite").tree
    assert tree is not None
    assert bool(departures(question, tree, model, shop.schema())) == (kind == "wrong")


@pytest.mark.parametrize(("written", "expanded"), pairs.rows("semantics/expanded.jsonl"))
def test_columns_of_the_model_are_expanded(written: str, expanded: str, shop: Database, model: SemanticModel) -> None:
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
        text = "\n".join(map(str, checked(read_model(FIXTURES / "broken.yaml"), database)))
    for part in (FIXTURES / "broken_told.txt").read_text().splitlines():
        assert part in text, text


DBT = ("dbt_semantic_manifest.json", "dbt_osi_document.json", "ossie_from_dbt.yaml")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    script = (FIXTURES / "warehouse.sql").read_text(encoding="utf-8")
    with open_database(sqlite_file(tmp_path_factory.mktemp("dbt") / "warehouse.sqlite", script)) as database:
        yield database


@pytest.mark.parametrize("name", DBT)
def test_the_metrics_of_a_dbt_project_mean_the_same_in_each_of_its_files(name: str, warehouse: Database) -> None:
    model = read_model(FIXTURES / name)
    view = model_view_of(model, warehouse.schema())
    meanings = {m.metric: render(m.tree, "sqlite") for m in view.meanings.values() if m.metric}
    wanted = {"revenue": 15, "web_revenue": 10, "orders": 2, "average_order": 7.5, "twice": 30, "food": 1}
    assert {metric: rows_of(warehouse, f"SELECT {meanings[metric]} FROM orders")[0][0] for metric in wanted} == wanted
    assert [(r.source, r.target) for r in model.relationships] == [("orders", "customers")]


@pytest.mark.parametrize("name", DBT)
def test_a_metric_that_the_engine_cannot_compute_is_found_by_the_check(name: str, warehouse: Database) -> None:
    places = {finding.place for finding in checked(read_model(FIXTURES / name), warehouse)}
    assert "revenue" not in places
    assert "median_order" in places  # SQLite has no median


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "clinic.sqlite", (FIXTURES / "clinic.sql").read_text(encoding="utf-8"))


@pytest.fixture
def settings() -> Settings:
    return Settings(TEXT2SQL_SEMANTIC_MODEL=str(FIXTURES / "clinic.yaml"))


def test_descriptions_other_names_and_joins_are_part_of_the_schema(clinic: Path, settings: Settings) -> None:
    model = read_model(Path(settings.judging.semantic_model or ""))
    with open_database(clinic, infer_keys=False) as database:
        schema = described(database.schema(), model)
    visits = schema.table("vst")
    assert visits.comment == "One row per visit; also called visits, appointments"
    column = visits.column("fee_amt")
    assert column.comment == "What the patient pays; also called fee, charge"
    assert [(k.columns, k.ref_table, k.ref_columns) for k in visits.foreign_keys] == [(("by_whom",), "doc", ("code",))]


async def test_the_engine_knows_a_table_by_its_other_name(clinic: Path, settings: Settings) -> None:
    answer = await run("how many appointments are there", database=str(clinic), settings=settings)
    assert answer.rows == [[3]]
    answer = await run("how many physicians", database=str(clinic), settings=settings)
    assert answer.rows == [[2]]


async def test_figures_carry_the_unit_of_their_metric(clinic: Path, settings: Settings) -> None:
    answer = await run("income by doctor name", database=str(clinic), settings=settings)
    assert answer.columns[0] == "name"
    assert answer.units == ["", "EUR"]
    assert "60.5 EUR" in answer.answer
    total = await run("what is the total income", database=str(clinic), settings=settings)
    assert "**70.5 EUR**" in total.answer
    count = await run("how many appointments are there", database=str(clinic), settings=settings)
    assert count.units == []


async def test_a_model_reads_the_instructions_the_joins_and_the_units(clinic: Path, settings: Settings) -> None:
    sql = "SELECT d.name, SUM(v.fee_amt) AS income FROM vst AS v JOIN doc AS d ON d.code = v.by_whom GROUP BY d.name"
    model = ScriptedModel(sql)
    answer = await run("income by doctor", database=str(clinic), settings=settings, model=model)
    assert answer.units == ["", "EUR"]
    written = model.sql_requests[0]
    assert "never happened" in written.instructions
    assert "appointments" in written.schema_context


def test_an_ossie_document_is_read_and_names_what_is_not_used() -> None:
    model = read_model(FIXTURES / "sales.yaml")
    assert [(d.name, d.namespace, d.table) for d in model.datasets] == [("orders", "public", "orders_v2")]
    assert [f.name for f in model.datasets[0].fields] == ["big"]
    assert [(m.name, m.synonyms, m.unit) for m in model.metrics] == [("revenue", ("turnover",), "EUR")]
    assert model.instructions == "Amounts are in euros."
    notes = "\n".join(model.not_handled)
    for part in ("SALESFORCE", "MAQL", "a dataset over a query", "relationships[broken]"):
        assert part in notes


def test_a_glossary_is_a_model_too(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yaml"
    path.write_text("metrics:\n  - {metric: revenue, synonyms: [turnover], sql: SUM(order_items.line_total)}\n")
    assert [(m.name, m.synonyms) for m in read_model(path).metrics] == [("revenue", ("turnover",))]


def test_a_file_of_no_known_form_says_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text("models: []\n")
    with pytest.raises(BadMemory, match="semantic_model"):
        load_model(tmp_path / "model.yaml")
    with pytest.raises(BadMemory, match="cannot be read"):
        load_model(tmp_path / "nothing.yaml")
