"""Snowflake's semantic model YAML (Cortex Analyst) as a `SemanticModel`."""

from __future__ import annotations

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
    Verified,
    text,
    texts,
)
from eval.sql.expressions import foreign_expression

_FIELD_KEYS = "name expr description synonyms data_type sample_values unique is_enum"


def from_snowflake(document: Record) -> SemanticModel:
    reader = Reader()
    reader.others(
        document, "document", "name description tables relationships metrics verified_queries custom_instructions"
    )
    datasets, metrics = [], []
    for place, table in reader.records(document.get("tables"), "tables"):
        dataset = _dataset(reader, table, place)
        if dataset is None:
            continue
        datasets.append(dataset)
        metrics += [
            _metric(reader, m, at, dataset) for at, m in reader.records(table.get("metrics"), f"{place}.metrics")
        ]
    metrics += [_metric(reader, m, at, None) for at, m in reader.records(document.get("metrics"), "metrics")]
    relationships = [
        _relationship(reader, r, at) for at, r in reader.records(document.get("relationships"), "relationships")
    ]
    verified = [
        Verified(text(v.get("question")), text(v.get("sql")))
        for _, v in reader.records(document.get("verified_queries"), "verified_queries")
    ]
    return SemanticModel(
        text(document.get("name")),
        tuple(datasets),
        tuple(r for r in relationships if r),
        tuple(metrics),
        tuple(v for v in verified if v.question and v.sql),
        " ".join(filter(None, (text(document.get("description")), text(document.get("custom_instructions"))))),
        tuple(reader.not_handled),
    )


def _dataset(reader: Reader, record: Record, place: str) -> Dataset | None:
    known = (
        "name description synonyms base_table primary_key unique_keys dimensions time_dimensions facts measures metrics"
    )
    reader.others(record, place, known)
    base = record.get("base_table")
    if not isinstance(base, dict) or not text(base.get("table")):
        reader.note(place, "no base_table with a table")
        return None
    fields = []
    for part in ("dimensions", "time_dimensions", "facts", "measures"):
        for at, field in reader.records(record.get(part), f"{place}.{part}"):
            reader.others(field, at, _FIELD_KEYS)
            fields.append(
                Field(
                    text(field.get("name")),
                    Expression(text(field.get("expr")) or text(field.get("name")), "snowflake"),
                    texts(field.get("synonyms")),
                    text(field.get("description")),
                    "",
                    part == "time_dimensions",
                )
            )
    return Dataset(
        text(record.get("name")),
        text(base.get("table")),
        text(base.get("schema")) or None,
        tuple(fields),
        _key(record.get("primary_key")),
        tuple(_key(k) for _, k in reader.records(record.get("unique_keys"), f"{place}.unique_keys")),
        texts(record.get("synonyms")),
        text(record.get("description")),
    )


def _key(value: object) -> tuple[str, ...]:
    return texts(value.get("columns")) if isinstance(value, dict) else ()


def _metric(reader: Reader, record: Record, place: str, dataset: Dataset | None) -> Metric:
    reader.others(record, place, "name expr description synonyms")
    return Metric(
        text(record.get("name")),
        Expression(qualified(text(record.get("expr")), dataset), "snowflake"),
        texts(record.get("synonyms")),
        text(record.get("description")),
    )


def qualified(expression: str, dataset: Dataset | None, sql: str = "snowflake") -> str:
    """A metric of one dataset with its bare names written `dataset.field`."""
    if dataset is None:
        return expression
    tree = foreign_expression(expression, sql)
    if tree is None:
        return expression
    for column in tree.find_all(exp.Column):
        if not column.table:
            column.set("table", exp.to_identifier(dataset.name))
    return tree.sql(dialect=sql)


def _relationship(reader: Reader, record: Record, place: str) -> Relationship | None:
    reader.others(record, place, "name left_table right_table relationship_columns relationship_type join_type")
    pairs = [
        (text(pair.get("left_column")), text(pair.get("right_column")))
        for _, pair in reader.records(record.get("relationship_columns"), f"{place}.relationship_columns")
    ]
    if not pairs or not all(a and b for a, b in pairs):
        reader.note(place, "no relationship_columns")
        return None
    if text(record.get("relationship_type")) == "many_to_many":
        reader.note(place, "many-to-many relationships are not used")
        return None
    return Relationship(
        text(record.get("name")), text(record.get("left_table")), text(record.get("right_table")), tuple(pairs)
    )
