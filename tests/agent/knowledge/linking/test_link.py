"""Linking: the part of a structure that a question needs, within a budget, by names and stored values."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.knowledge.linking import SHARE, graded_text, link
from agent.knowledge.schema_context import estimate_tokens
from agent.knowledge.values import ValueIndex
from agent.sources.ddl import read_ddl
from eval.schema import Column, ForeignKey, Schema, Table
from eval.tasks import demo_path
from tests import commands
from tests.pairs import FIXTURES, rows

HOSPITAL = Schema("sqlite", read_ddl((FIXTURES / "linking/hospital.sql").read_text(), "sqlite"))
VALUES = ValueIndex([("drug", "substance", ["Ibuprofen", "Morphine"]), ("physician", "specialty", ["Cardiology"])])


@pytest.mark.parametrize(("question", "columns"), rows("linking/named.jsonl"))
def test_what_the_question_names_is_there_within_two_fifths_of_the_tokens(question: str, columns: list[str]) -> None:
    linked_part = link(question, HOSPITAL, VALUES)

    assert set(columns) <= set(linked_part.columns)
    assert linked_part.tokens <= SHARE * linked_part.tokens_full
    assert linked_part.tokens == estimate_tokens(linked_part.text)


def test_what_is_likely_is_told_in_detail_and_the_rest_by_name() -> None:
    linked_part = link("How many beds are on each floor?", HOSPITAL, VALUES, budget=400)

    assert ("ward", "beds") in linked_part.detailed
    assert "\n  beds TEXT nullable" in linked_part.text
    assert linked_part.text.index("Table: ward") < linked_part.text.index("by names alone")
    assert "\ninvoice(invoice_id, stay_id, " in linked_part.text


def test_tables_that_join_the_needed_ones_come_with_their_keys() -> None:
    linked_part = link("Substances that the physician called Meyer prescribed", HOSPITAL, VALUES, budget=260)

    assert {"drug", "prescription", "physician"} <= set(linked_part.tables)
    assert {"prescription.drug_id", "drug.drug_id", "prescription.physician_id", "physician.physician_id"} <= set(
        linked_part.columns
    )
    assert {k.ref_table for t in linked_part.schema.tables if t.name == "prescription" for k in t.foreign_keys} >= {
        "drug",
        "physician",
    }


@pytest.mark.parametrize("budget", [0, 1, 40, 100, 250, 400])
def test_the_budget_holds_and_one_table_is_always_there(budget: int) -> None:
    linked_part = link("Which drugs cost more than 5?", HOSPITAL, VALUES, budget)

    assert linked_part.tables
    assert linked_part.tokens <= max(budget, 30)


def test_any_text_may_be_asked() -> None:
    for question in ("", "?", "'" * 500, "Ünïcödé 漢字 ‘quoted’", "x" * 5_000, "\x00\n"):
        assert link(question, HOSPITAL, VALUES).tables
    assert link("anything", Schema("sqlite", ())).tables == ()


def test_names_are_quoted_as_sql_wants_them_and_begin_no_line_of_their_own() -> None:
    wide = Table(
        "order line",
        (Column("order", "INT"), Column("no", "INT"), Column("note", "TEXT")),
        foreign_keys=(ForeignKey(("order", "no"), "order", ("id", "no")),),
    )
    ref = Table("order", (Column("id", "INT", primary_key=True), Column("no", "INT")), primary_key=("id",))
    schema = Schema("postgres", (ref, wide))

    text = graded_text(schema, {"order": {"id": False}, "order line": {"order": True, "no": False, "note": False}})

    assert text.splitlines() == (FIXTURES / "linking/told.txt").read_text().splitlines()
    evil = replace(HOSPITAL.tables[0], name="x\nTable: y", columns=(Column("a\n## b", "TEXT"),))
    text = graded_text(Schema("sqlite", (evil,)), {evil.name: {"a\n## b": False}})

    assert len(text.splitlines()) == 1


def linked(folder: Path, lines: list[str], *options: str) -> list[dict[str, Any]]:
    words = ("-m", "agent.batch", "link", "--databases", folder, "--quiet", *options)
    done = commands.run(*words, input="\n".join(lines) + "\n", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_gets_its_tables_columns_values_and_tokens_or_an_error(tmp_path: Path) -> None:
    for name in ("shop", "enterprise"):
        shutil.copy(demo_path(name), tmp_path / f"{name}.sqlite")
    asked = [
        '{"id": 1, "db": "shop", "question": "How many shipped orders are there?"}',
        '{"id": 2, "db": "enterprise", "question": "Which stores have the largest floor area?"}',
        "no json",
        '{"id": 3, "db": "gone", "question": "x"}',
        '{"id": 4, "db": "shop"}',
    ]
    small, large, *bad = linked(tmp_path, asked)

    assert list(small) == ["id", "tables", "columns", "values", "tokens", "tokens_full"]
    assert small["tokens"] == small["tokens_full"]
    assert len(small["tables"]) == 8
    assert {"text": "shipped", "table": "orders", "column": "status", "value": "shipped"} in small["values"]
    assert "dim_store.floor_area_sqm" in large["columns"]
    assert large["tokens"] <= 0.4 * large["tokens_full"]
    assert ["error" in line for line in bad] == [True, True, True]
    assert [line["id"] for line in bad if "id" in line][-2:] == [3, 4]
    (short,) = linked(tmp_path, asked[:1], "--budget", "80")
    assert short["tokens"] <= 80
