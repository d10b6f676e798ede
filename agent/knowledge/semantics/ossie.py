"""Apache Ossie (formerly Open Semantic Interchange): documents to models and back.

In: a parsed document of core-spec 0.2.0.dev0 or earlier. Out: a `SemanticModel`. Of an expression in several dialects
the first that we can read is taken. Our own facts (verified questions, units, which date, amount and rows of a dataset
are meant) are in `custom_extensions` of the vendor `TEXT2SQL`; those of other vendors are named as not used.
"""

from __future__ import annotations

import json
from typing import Any

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
    truth,
)

VERSION = "0.2.0.dev0"
VENDOR = "TEXT2SQL"
_DIALECTS = {"ANSI_SQL": "", "OSSIE_SQL_2026": "", "SNOWFLAKE": "snowflake", "DATABRICKS": "databricks",
             "BIGQUERY": "bigquery"}  # fmt: skip


def from_ossie(document: Record) -> SemanticModel:
    reader = Reader()
    reader.others(document, "document", "version semantic_model dialects")
    models = reader.records(document.get("semantic_model"), "semantic_model")
    for place, _ in models[1:]:
        reader.note(place, "only the first model of a file is used")
    if not models:
        return SemanticModel("", not_handled=tuple(reader.not_handled))
    place, model = models[0]
    reader.others(model, place, "name description ai_context datasets relationships metrics custom_extensions")
    own = _own(reader, model, place)
    datasets = [_dataset(reader, d, at) for at, d in reader.records(model.get("datasets"), f"{place}.datasets")]
    relationships = [
        _relationship(reader, r, at) for at, r in reader.records(model.get("relationships"), f"{place}.relationships")
    ]
    metrics = [_metric(reader, m, at) for at, m in reader.records(model.get("metrics"), f"{place}.metrics")]
    verified = tuple(
        Verified(text(v["question"]), text(v["sql"]))
        for _, v in reader.records(own.get("verified"), f"{place}.verified")
        if text(v.get("question")) and text(v.get("sql"))
    )
    return SemanticModel(
        text(model.get("name")),
        tuple(d for d in datasets if d),
        tuple(r for r in relationships if r),
        tuple(m for m in metrics if m),
        verified,
        _described(model),
        tuple(
            (text(t["term"]), text(t["means"]))
            for _, t in reader.records(own.get("terms"), f"{place}.terms")
            if text(t.get("term")) and text(t.get("means"))
        ),
        tuple(reader.not_handled),
    )


def _synonyms(record: Record) -> tuple[str, ...]:
    context = record.get("ai_context")
    return texts(context.get("synonyms")) if isinstance(context, dict) else ()


def _described(record: Record) -> str:
    """The description and the instructions of `ai_context`, which is a text or an object."""
    context = record.get("ai_context")
    instructions = context.get("instructions") if isinstance(context, dict) else context
    return " ".join(filter(None, (text(record.get("description")), text(instructions))))


def _own(reader: Reader, record: Record, place: str) -> Record:
    """Our own extension of a record."""
    extension_data: Record = {}
    for at, extension in reader.records(record.get("custom_extensions"), f"{place}.custom_extensions"):
        if extension.get("vendor_name") != VENDOR:
            reader.note(at, f"extension of {text(extension.get('vendor_name')) or 'no vendor'} not used")
            continue
        try:
            loaded = json.loads(text(extension.get("data")))
        except ValueError:
            loaded = None
        if isinstance(loaded, dict):
            extension_data |= loaded
        else:
            reader.note(at, "data is no JSON object")
    return extension_data


def _expression(reader: Reader, record: Record, place: str, own: Record) -> Expression | None:
    written = record.get("expression")
    dialects = written.get("dialects") if isinstance(written, dict) else None
    known = {}
    for at, one in reader.records(dialects, f"{place}.expression"):
        name = text(one.get("dialect")) or "ANSI_SQL"
        if name.upper() in _DIALECTS and text(one.get("expression")):
            known[name.upper()] = text(one.get("expression"))
        else:
            reader.note(at, f"expressions in {name} are not used")
    for name, sql in _DIALECTS.items():
        if name in known:
            return Expression(known[name], sql, text(own.get("expression")))
    reader.note(place, "no expression in a dialect that can be read")
    return None


def _dataset(reader: Reader, record: Record, place: str) -> Dataset | None:
    reader.others(record, place, "name source primary_key unique_keys description ai_context fields custom_extensions")
    own = _own(reader, record, place)
    source = text(record.get("source"))
    if not source or any(sign in source for sign in " ()\n"):
        reader.note(place, "a dataset over a query is not used" if source else "no source")
        return None
    parts = [part.strip('"`') for part in source.split(".")]
    fields = [_field(reader, f, at) for at, f in reader.records(record.get("fields"), f"{place}.fields")]
    keys = record.get("unique_keys")
    return Dataset(
        text(record.get("name")) or parts[-1],
        parts[-1],
        parts[-2] if len(parts) > 1 else None,
        tuple(f for f in fields if f),
        texts(record.get("primary_key")),
        tuple(texts(key) for key in keys if texts(key)) if isinstance(keys, list) else (),
        _synonyms(record),
        _described(record),
        text(own.get("date")),
        text(own.get("amount")),
        Expression(text(own.get("hidden")), "database") if text(own.get("hidden")) else None,
    )


def _field(reader: Reader, record: Record, place: str) -> Field | None:
    reader.others(record, place, "name expression dimension description ai_context datatype custom_extensions")
    expression = _expression(reader, record, place, _own(reader, record, place))
    if expression is None:
        return None
    dimension = record.get("dimension")
    datatype = text(record.get("datatype"))
    timed = dimension.get("is_time") if isinstance(dimension, dict) else None
    return Field(
        text(record.get("name")),
        expression,
        _synonyms(record),
        _described(record),
        datatype,
        truth(timed) if timed is not None else datatype in ("Date", "Time", "DateTime", "DateTimeTz"),
    )


def _relationship(reader: Reader, record: Record, place: str) -> Relationship | None:
    reader.others(record, place, "name from to from_columns to_columns custom_extensions")
    _own(reader, record, place)
    ours, theirs = texts(record.get("from_columns")), texts(record.get("to_columns"))
    if not ours or len(ours) != len(theirs) or not text(record.get("from")) or not text(record.get("to")):
        reader.note(place, "from, to and as many from_columns as to_columns are expected")
        return None
    return Relationship(
        text(record.get("name")),
        text(record.get("from")),
        text(record.get("to")),
        tuple(zip(ours, theirs, strict=True)),
    )


def _metric(reader: Reader, record: Record, place: str) -> Metric | None:
    reader.others(record, place, "name expression description ai_context datatype custom_extensions")
    own = _own(reader, record, place)
    expression = _expression(reader, record, place, own)
    if expression is None:
        return None
    name, unit = text(record.get("name")), text(own.get("unit"))
    return Metric(name, expression, _synonyms(record), _described(record), unit)


def to_ossie(model: SemanticModel) -> Record:
    """The model as a document that the JSON Schema of the core-spec accepts."""
    extension: Record = {}
    if model.verified:
        extension["verified"] = [{"question": v.question, "sql": v.sql} for v in model.verified]
    if model.terms:
        extension["terms"] = [{"term": term, "means": means} for term, means in model.terms]
    body = {
        "name": model.name,
        "description": model.instructions,
        "datasets": [_written_dataset(d) for d in model.datasets],
        "relationships": [
            {
                "name": r.name,
                "from": r.source,
                "to": r.target,
                "from_columns": [a for a, _ in r.columns],
                "to_columns": [b for _, b in r.columns],
            }
            for r in model.relationships
        ],
        "metrics": [
            _filled(
                {
                    "name": m.name,
                    "expression": _written_expression(m.expression),
                    "description": m.description,
                    "ai_context": {"synonyms": list(m.synonyms)} if m.synonyms else None,
                    "custom_extensions": _extension(_filled({"unit": m.unit, "expression": m.expression.own})),
                }
            )
            for m in model.metrics
        ],
        "custom_extensions": _extension(extension),
    }
    return {"version": VERSION, "semantic_model": [_filled(body)]}


def _filled(record: Record) -> Record:
    return {key: value for key, value in record.items() if value not in (None, "", [], {})}


def _extension(own: Record) -> list[Record]:
    return [{"vendor_name": VENDOR, "data": json.dumps(own, ensure_ascii=False)}] if own else []


def _written_expression(expression: Expression) -> Record:
    name = next((name for name, sql in _DIALECTS.items() if sql == expression.sql), "ANSI_SQL")
    return {"dialects": [{"dialect": name, "expression": expression.text}]}


def _written_dataset(dataset: Dataset) -> Record:
    fields: list[Any] = [
        _filled(
            {
                "name": f.name,
                "expression": _written_expression(f.expression),
                "dimension": {"is_time": True} if f.is_time else None,
                "description": f.description,
                "datatype": f.datatype,
                "ai_context": {"synonyms": list(f.synonyms)} if f.synonyms else None,
                "custom_extensions": _extension(_filled({"expression": f.expression.own})),
            }
        )
        for f in dataset.fields
    ]
    return _filled(
        {
            "name": dataset.name,
            "source": ".".join(filter(None, (dataset.namespace, dataset.table))),
            "primary_key": list(dataset.primary_key),
            "unique_keys": [list(key) for key in dataset.unique_keys],
            "description": dataset.description,
            "ai_context": {"synonyms": list(dataset.synonyms)} if dataset.synonyms else None,
            "fields": fields,
            "custom_extensions": _extension(
                _filled(
                    {
                        "date": dataset.date,
                        "amount": dataset.amount,
                        "hidden": dataset.hidden.text if dataset.hidden else "",
                    }
                )
            ),
        }
    )
