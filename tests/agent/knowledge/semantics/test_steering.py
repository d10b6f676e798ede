"""A model steers parser, prompt and judge, whichever tool wrote the file; what is said while asking does the same."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.config import Settings
from agent.inspection.memory import check_model
from agent.inspection.terms import exported, tried
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.memory.retrieval import Memory, remembered
from agent.knowledge.semantics.check import checked, departures
from agent.knowledge.semantics.described import described, drafted
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.files import load_model, read_model
from agent.knowledge.semantics.model import Dataset, SemanticModel
from agent.knowledge.semantics.terms import glossary_of, model_of, problem, with_taught
from agent.knowledge.vocabulary import vocabulary
from agent.runner import Answer, run
from agent.state import Term, TermKind
from eval.databases import Database, open_database
from eval.schema import Column, Dialect, Schema, Table
from eval.sql import parse, render
from eval.tasks import demo_path
from tests import pairs
from tests.pairs import rows
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


async def test_the_engine_knows_a_table_by_its_other_name_and_a_figure_by_its_unit(
    clinic: Path, settings: Settings
) -> None:
    answer = await run("how many appointments are there", database=str(clinic), settings=settings)
    assert answer.rows == [[3]]
    answer = await run("how many physicians", database=str(clinic), settings=settings)
    assert answer.rows == [[2]]
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


def test_a_glossary_is_a_model_too_and_other_files_are_told_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yaml"
    path.write_text("metrics:\n  - {metric: revenue, synonyms: [turnover], sql: SUM(order_items.line_total)}\n")
    assert [(m.name, m.synonyms) for m in read_model(path).metrics] == [("revenue", ("turnover",))]
    (tmp_path / "model.yaml").write_text("models: []\n")
    with pytest.raises(BadMemory, match="semantic_model"):
        load_model(tmp_path / "model.yaml")
    with pytest.raises(BadMemory, match="cannot be read"):
        load_model(tmp_path / "nothing.yaml")


SAID = rows("semantics/terms.jsonl")
TAUGHT = [Term(kind=kind, term=term, means=means) for kind, term, means, *_ in SAID]


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    script = (FIXTURES / "auction.sql").read_text(encoding="utf-8")
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


def test_hidden_rows_are_said_and_choices_say_what_would_make_them_the_rule(auction: Database) -> None:
    answer = answered("lots by port", auction, TAUGHT)
    (part,) = [one for one in answer.attempts[-1].reading if one.text == "without deleted vessels"]
    assert part.others[0].label == "Include them"
    assert "deleted_at" not in part.others[0].sql
    assert not any("deleted_at" in one.text for one in answer.attempts[-1].reading)
    unbound = answered("how many vessels are there, including deleted ones", auction, TAUGHT).attempts[-1]
    assert [one.text for one in unbound.left_out] == ["1 row otherwise left out (deleted vessels) is included"]
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
def shop_schema() -> Schema:
    with open_database(demo_path("shop")) as database:
        return database.schema()


def test_names_are_added_to_a_model_and_conditions_win_over_a_glossary(shop_schema: Schema) -> None:
    known = SemanticModel("m", (Dataset("goods", "products", synonyms=("ware",)),))
    model = with_taught(known, [*WORDS, Term(term="gone", means="nothing.here")], shop_schema)
    assert [(d.table, d.synonyms) for d in model.datasets if d.synonyms] == [("products", ("ware", "tat"))]
    assert sorted((f.name, f.synonyms) for d in model.datasets for f in d.fields) == [
        ("stalwarts", ()),
        ("total_amount", ("moolah",)),
    ]
    assert with_taught(known, [Term(term="x", means="nothing.here")], shop_schema) is known
    assert [e.name for e in glossary_of(model_of(WORDS, shop_schema), shop_schema).entries] == ["stalwarts"]


@pytest.mark.parametrize(("kind", "term", "means", "why"), rows("semantics/not_taught.jsonl"))
def test_what_cannot_be_taught_says_why(shop_schema: Schema, kind: TermKind, term: str, means: str, why: str) -> None:
    """Nothing where it can be."""
    said = problem(Term(kind=kind, term=term, means=means), vocabulary(shop_schema))
    assert why in said if said and why else said is None and not why
