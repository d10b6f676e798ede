"""dbt's semantic manifest (`target/semantic_manifest.json`) as a `SemanticModel`.

Simple, ratio and derived metrics become expressions, their filters conditions inside the aggregates. Cumulative and
conversion metrics, and filters on metrics or time spans, are named as not handled.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from sqlglot import exp

from agent.knowledge.semantics.model import (
    Dataset,
    Expression,
    Field,
    Metric,
    Reader,
    Record,
    Relationship,
    SemanticModel,
    text,
)
from eval.sql.translation import foreign_expression

_AGGREGATES = {"sum": "SUM({})", "min": "MIN({})", "max": "MAX({})", "average": "AVG({})", "median": "MEDIAN({})",
               "count": "COUNT({})", "count_distinct": "COUNT(DISTINCT {})",
               "sum_boolean": "SUM(CASE WHEN {} THEN 1 ELSE 0 END)"}  # fmt: skip
_DIMENSION = re.compile(r"\{\{\s*(?:Time)?Dimension\(\s*'(?:(\w+)__)?(\w+)'\s*\)\s*\}\}")
_DEPTH = 8


def from_dbt(manifest: Record) -> SemanticModel:
    return _Manifest(manifest).model()


class _Manifest(Reader):
    def __init__(self, manifest: Record) -> None:
        super().__init__()
        self.others(manifest, "manifest", "semantic_models metrics project_configuration")
        self.models = self.records(manifest.get("semantic_models"), "semantic_models")
        self.metrics = self.records(manifest.get("metrics"), "metrics")
        self.measures: dict[str, tuple[Record, Record]] = {}
        for _, model in self.models:
            for measure in _list(model.get("measures")):
                self.measures[text(measure.get("name"))] = (model, measure)
        self.by_name = {text(m.get("name")): m for _, m in self.metrics}

    def model(self) -> SemanticModel:
        metrics = []
        for place, metric in self.metrics:
            try:
                written = self._metric(metric, "", 0)
            except ValueError:
                self.note(place, f"metrics of type {text(metric.get('type')) or 'none'} like this are not used")
                continue
            name, described = text(metric.get("name")), text(metric.get("description"))
            synonyms = tuple(label for label in _label(metric) if label.casefold() != name.replace("_", " "))
            metrics.append(Metric(name, Expression(written), synonyms, described))
        datasets = tuple(self._dataset(model, place) for place, model in self.models)
        relationships = tuple(self._relationships())
        return SemanticModel("dbt", datasets, relationships, tuple(metrics), not_handled=tuple(self.not_handled))

    def _dataset(self, model: Record, place: str) -> Dataset:
        known = "node_relation primary_entity entities measures dimensions defaults metadata config"
        self.others(model, place, f"name description label {known}")
        node = model.get("node_relation") or {}
        fields, keys = [], []
        for entity in _list(model.get("entities")):
            fields.append(_field(entity))
            if entity.get("type") in ("primary", "unique"):
                keys.append((_column(entity),))
            elif entity.get("type") == "natural":
                self.note(f"{place}.entities[{entity.get('name')}]", "natural keys are not used")
        for dimension in _list(model.get("dimensions")):
            timed = dimension.get("type") == "time"
            fields.append(replace(_field(dimension), synonyms=_label(dimension), is_time=timed))
        for measure in _list(model.get("measures")):
            if not _column(measure).replace("_", "a").isalnum():
                fields.append(_field(measure))
            if measure.get("non_additive_dimension"):
                self.note(f"{place}.measures[{measure.get('name')}]", "non-additive dimensions are not used")
        named = {f.name: f for f in fields}
        return Dataset(
            text(model.get("name")),
            text(node.get("alias")) or text(model.get("name")),
            text(node.get("schema_name")) or None,
            tuple(named.values()),
            keys[0] if keys else (),
            tuple(keys[1:]),
            _label(model),
            text(model.get("description")),
        )

    def _relationships(self) -> list[Relationship]:
        """A foreign entity refers to the model in which the entity of that name is primary or unique."""
        owners: dict[str, tuple[Record, Record]] = {}
        for _, model in self.models:
            for entity in _list(model.get("entities")):
                if entity.get("type") in ("primary", "unique"):
                    owners.setdefault(text(entity.get("name")), (model, entity))
        relationships = []
        for _, model in self.models:
            for entity in _list(model.get("entities")):
                owner = owners.get(text(entity.get("name")))
                if entity.get("type") == "foreign" and owner and owner[0] is not model:
                    columns = ((_column(entity), _column(owner[1])),)
                    source, target = text(model.get("name")), text(owner[0].get("name"))
                    relationships.append(Relationship(f"{source}_{target}", source, target, columns))
        return relationships

    def _metric(self, metric: Record | None, condition: str, depth: int) -> str:
        """The metric's expression with a condition from outside. Raises ValueError."""
        if metric is None or depth > _DEPTH:
            raise ValueError("the metric is missing, or metrics name each other in a circle")
        condition = _both(condition, self._condition(metric.get("filter")))
        params = metric.get("type_params") or {}
        kind = text(metric.get("type"))
        written = ""
        if kind == "simple":
            written = self._simple(metric, params, condition)
        elif kind == "ratio":
            above, below = (self._input(params.get(part), condition, depth) for part in ("numerator", "denominator"))
            written = f"({above}) / NULLIF(({below}), 0)"
        elif kind == "derived":
            written = text(params.get("expr"))
            for used in _list(params.get("metrics")):
                if used.get("offset_window") or used.get("offset_to_grain"):
                    raise ValueError("offsets are not used")
                part = self._input(used, condition, depth)
                name = re.escape(text(used.get("alias")) or text(used.get("name")))
                written = re.sub(rf"\b{name}\b", f"({part})".replace("\\", r"\\"), written)
        if not written:
            raise ValueError("there is no single expression for it")
        return written

    def _input(self, used: Any, condition: str, depth: int) -> str:
        if not isinstance(used, dict):
            raise ValueError("a metric is expected")
        both = _both(condition, self._condition(used.get("filter")))
        return self._metric(self.by_name.get(text(used.get("name"))), both, depth + 1)

    def _simple(self, metric: Record, params: Record, condition: str) -> str:
        direct = params.get("metric_aggregation_params")
        used = params.get("measure") or {}
        if isinstance(direct, dict):
            model, measure = {"name": direct.get("semantic_model")}, {**direct, "expr": params.get("expr")}
        elif text(used.get("name")) in self.measures:
            model, measure = self.measures[text(used.get("name"))]
        else:
            raise ValueError("there is no measure of this name")
        condition = _both(condition, self._condition(used.get("filter")))
        aggregate = _AGGREGATES.get(text(measure.get("agg")))
        if aggregate is None:
            raise ValueError("there is no such aggregate")
        dataset = text(model.get("name"))
        column = _qualified(_column(measure) or text(metric.get("name")), dataset)
        condition = _qualified(condition, dataset) if condition else ""
        return aggregate.format(f"CASE WHEN {condition} THEN {column} END" if condition else column)

    def _condition(self, given: Any) -> str:
        """A `filter` as one condition; empty for none. Raises ValueError."""
        parts = []
        for one in _list(given.get("where_filters") if isinstance(given, dict) else None):
            written = _DIMENSION.sub(lambda m: self._dimension(m[1], m[2]), text(one.get("where_sql_template")))
            if "{{" in written:
                raise ValueError("the filter is on more than dimensions")
            parts.append(f"({written})")
        return " AND ".join(parts)

    def _dimension(self, entity: str | None, name: str) -> str:
        for _, model in self.models:
            names = {
                text(e.get("name")) for e in _list(model.get("entities")) if e.get("type") in ("primary", "unique")
            }
            if entity is None or entity in names or text(model.get("primary_entity")) == entity:
                for dimension in _list(model.get("dimensions")):
                    if text(dimension.get("name")) == name:
                        return f"{text(model.get('name'))}.{name}"
        return name


def _list(value: Any) -> list[Record]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _qualified(expression: str, dataset: str) -> str:
    """The expression with its bare names written `dataset.field`."""
    tree = foreign_expression(expression, "")
    if tree is None:
        return expression
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(dataset))
    return tree.sql(dialect="")


def _field(record: Record) -> Field:
    return Field(text(record.get("name")), Expression(_column(record)), (), text(record.get("description")))


def _column(record: Record) -> str:
    return text(record.get("expr")) or text(record.get("name"))


def _label(record: Record) -> tuple[str, ...]:
    return (text(record.get("label")),) if text(record.get("label")) else ()


def _both(first: str, second: str) -> str:
    return " AND ".join(filter(None, (first, second)))
