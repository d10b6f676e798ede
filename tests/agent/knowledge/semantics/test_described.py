"""What a semantic model adds beside metrics: other names, descriptions, joins, instructions and units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.config import Settings
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.semantics.described import described
from agent.knowledge.semantics.files import load_model, read_model
from agent.runner import run
from eval.databases import open_database
from tests.pairs import FIXTURES
from tests.writing import sqlite_file
from text2sql.testing import ScriptedModel

MODEL = (FIXTURES / "semantics/clinic.yaml").read_text(encoding="utf-8")


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    return sqlite_file(
        tmp_path / "clinic.sqlite",
        "CREATE TABLE doc (code TEXT PRIMARY KEY, name TEXT);"
        "CREATE TABLE vst (id INTEGER PRIMARY KEY, by_whom TEXT, fee_amt REAL, seen_on DATE);"
        "INSERT INTO doc VALUES ('a', 'Ada'), ('b', 'Ben');"
        "INSERT INTO vst VALUES (1, 'a', 40.5, '2024-01-03'), (2, 'a', 20, '2024-02-03'), (3, 'b', 10, '2024-02-09');",
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "model.yaml"
    path.write_text(MODEL)
    return Settings(TEXT2SQL_SEMANTIC_MODEL=str(path))


def test_descriptions_other_names_and_joins_are_part_of_the_schema(clinic: Path, settings: Settings) -> None:
    model = read_model(Path(settings.judging.semantic_model or ""))
    with open_database(clinic, infer_keys=False) as database:
        schema = described(database.schema(), model)
    visits = schema.table("vst")
    assert visits is not None
    assert visits.comment == "One row per visit; also called visits, appointments"
    column = visits.column("fee_amt")
    assert column is not None
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


def saved(folder: Path, document: Any, name: str = "model.yaml") -> Path:
    path = folder / name
    path.write_text(json.dumps(document) if name.endswith(".json") else yaml.safe_dump(document))
    return path


OSSIE = (FIXTURES / "semantics/sales.yaml").read_text(encoding="utf-8")


def test_an_ossie_document_is_read_and_names_what_is_not_used(tmp_path: Path) -> None:
    model = read_model(saved(tmp_path, yaml.safe_load(OSSIE)))
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
    with pytest.raises(BadMemory, match="semantic_model"):
        load_model(saved(tmp_path, {"models": []}))
    with pytest.raises(BadMemory, match="cannot be read"):
        load_model(tmp_path / "nothing.yaml")
