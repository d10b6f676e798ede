"""Models are read from Ossie, dbt and glossary files; what is not taken is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.semantics.files import load_model, read_model
from tests.pairs import FIXTURES


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
