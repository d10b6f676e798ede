"""Models are read from Ossie, dbt and glossary files; what is not taken is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.semantics.files import load_model, read_model


def saved(folder: Path, document: Any, name: str = "model.yaml") -> Path:
    path = folder / name
    path.write_text(json.dumps(document) if name.endswith(".json") else yaml.safe_dump(document))
    return path


OSSIE = """
version: 0.2.0.dev0
semantic_model:
- name: sales
  ai_context: {instructions: Amounts are in euros.}
  datasets:
  - name: orders
    source: db.public.orders_v2
    primary_key: [id]
    fields:
    - {name: big, datatype: Boolean, expression: {dialects: [{dialect: ANSI_SQL, expression: total > 100}]}}
    - {name: odd, expression: {dialects: [{dialect: MAQL, expression: SELECT 1}]}}
    custom_extensions: [{vendor_name: SALESFORCE, data: '{}'}]
  - {name: view, source: SELECT * FROM orders}
  metrics:
  - name: revenue
    expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(orders.total)}]}
    ai_context: {synonyms: [turnover]}
    custom_extensions: [{vendor_name: TEXT2SQL, data: '{"unit": "EUR"}'}]
  relationships: [{name: broken, from: orders, to: view}]
"""


def test_an_ossie_document_is_read_and_names_what_is_not_used(tmp_path: Path) -> None:
    model = read_model(saved(tmp_path, yaml.safe_load(OSSIE)))
    assert [(d.name, d.namespace, d.table) for d in model.datasets] == [("orders", "public", "orders_v2")]
    assert [f.name for f in model.datasets[0].fields] == ["big"]
    assert [(m.name, m.synonyms, m.unit) for m in model.metrics] == [("revenue", ("turnover",), "EUR")]
    assert model.instructions == "Amounts are in euros."
    notes = "\n".join(model.not_handled)
    for part in ("SALESFORCE", "MAQL", "a dataset over a query", "relationships[broken]"):
        assert part in notes


def test_a_dbt_manifest_becomes_metrics_with_their_filters(tmp_path: Path) -> None:
    orders = {
        "name": "orders",
        "node_relation": {"alias": "fct_orders", "schema_name": "dbt"},
        "entities": [{"name": "order", "type": "primary", "expr": "id"}, {"name": "customer", "type": "foreign",
                                                                          "expr": "customer_id"}],
        "measures": [{"name": "total", "agg": "sum", "expr": "amount"}, {"name": "n", "agg": "count", "expr": "id"}],
        "dimensions": [{"name": "status", "type": "categorical"}, {"name": "day", "type": "time", "expr": "ordered"}],
    }  # fmt: skip
    customers = {
        "name": "customers",
        "node_relation": {"alias": "customers"},
        "entities": [{"name": "customer", "type": "primary", "expr": "id"}],
    }
    done = {"where_filters": [{"where_sql_template": "{{ Dimension('order__status') }} = 'done'"}]}
    metrics = [
        {"name": "revenue", "type": "simple", "type_params": {"measure": {"name": "total"}}, "filter": done},
        {"name": "orders", "type": "simple", "type_params": {"measure": {"name": "n"}}},
        {"name": "value", "type": "ratio",
         "type_params": {"numerator": {"name": "revenue"}, "denominator": {"name": "orders"}}},
        {"name": "growing", "type": "cumulative", "type_params": {"measure": {"name": "total"}}},
    ]  # fmt: skip
    model = read_model(saved(tmp_path, {"semantic_models": [orders, customers], "metrics": metrics}, "manifest.json"))
    assert {m.name: m.expression.text for m in model.metrics} == {
        "revenue": "SUM(CASE WHEN (orders.status = 'done') THEN orders.amount END)",
        "orders": "COUNT(orders.id)",
        "value": "(SUM(CASE WHEN (orders.status = 'done') THEN orders.amount END)) / NULLIF((COUNT(orders.id)), 0)",
    }
    assert [(r.source, r.target, r.columns) for r in model.relationships] == [
        ("orders", "customers", (("customer_id", "id"),))
    ]
    assert any("metrics[growing]" in note for note in model.not_handled)


def test_a_glossary_is_a_model_too(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yaml"
    path.write_text("metrics:\n  - {metric: revenue, synonyms: [turnover], sql: SUM(order_items.line_total)}\n")
    assert [(m.name, m.synonyms) for m in read_model(path).metrics] == [("revenue", ("turnover",))]


def test_a_file_of_no_known_form_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(BadMemory, match="semantic_model"):
        load_model(saved(tmp_path, {"models": []}))
    with pytest.raises(BadMemory, match="cannot be read"):
        load_model(tmp_path / "nothing.yaml")
