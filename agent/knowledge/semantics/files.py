"""Files of semantic models: which format is it, reading, writing; Apache Ossie (formerly Open Semantic Interchange).

In: a path. Out: a `SemanticModel`, or `BadMemory` for a file that cannot be read or has none of the known forms; of a
model, its Ossie document.

Ossie documents are of core-spec 0.2.0.dev0 or earlier. Of an expression in several dialects the first that we can read
is taken. Our own facts (verified questions, units, which date, amount and rows of a dataset are meant) are in
`custom_extensions` of the vendor `TEXT2SQL`; those of other vendors are named as not used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent.knowledge.memory.glossary import read_glossary
from agent.knowledge.memory.lines import BadMemory, Problem, kept_while_unchanged, text_of, yaml_node
from agent.knowledge.semantics.dbt import from_dbt
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

if TYPE_CHECKING:
    from agent.config import JudgingSettings


def semantic_model_of(settings: JudgingSettings) -> SemanticModel | None:
    """The model that the settings name. Raises BadMemory."""
    path = settings.semantic_model or settings.glossary
    return load_model(Path(path)) if path else None


def read_model(path: Path) -> SemanticModel:
    """Read a file of any known form. Raises BadMemory."""
    if path.suffix.lower() == ".json":
        content = text_of(path)
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BadMemory(path, [Problem(1, f"no JSON: {str(error)[:200]}")]) from None
    else:
        document = yaml_node(path).plain()
    if isinstance(document, dict):
        if "semantic_model" in document:
            return _Document().model(document)
        if "semantic_models" in document:
            return from_dbt(document)
        if document.keys() <= {"terms", "metrics", "filters"}:  # a glossary's metrics name real tables
            entries = [e for e in read_glossary(path).entries if e.kind == "metric"]
            metrics = (Metric(e.name, Expression(e.expression, "database"), e.synonyms, e.note) for e in entries)
            return SemanticModel("glossary", metrics=tuple(metrics))
    expected = "semantic_model (Ossie), semantic_models (dbt) or terms, metrics, filters (glossary)"
    raise BadMemory(path, [Problem(1, f"{expected} is expected")])


load_model = kept_while_unchanged(read_model)
"""The same, read again only when the file has changed."""


def written(model: SemanticModel) -> str:
    """The model as an Ossie document in YAML."""
    import yaml

    return str(yaml.safe_dump(to_ossie(model), sort_keys=False, allow_unicode=True, width=110))


_Read = TypeVar("_Read")
VERSION = "0.2.0.dev0"
VENDOR = "TEXT2SQL"
_DIALECTS = {"ANSI_SQL": "", "OSSIE_SQL_2026": "", "SNOWFLAKE": "snowflake", "DATABRICKS": "databricks",
             "BIGQUERY": "bigquery"}  # fmt: skip
_ORDER = ("name", "source", "primary_key", "unique_keys", "expression", "dimension", "description", "datatype",
          "ai_context", "fields", "datasets", "relationships", "metrics", "custom_extensions")  # fmt: skip
"""The keys of our documents' objects, in the order in which they are written."""


class _Document(Reader):
    def model(self, document: Record) -> SemanticModel:
        self.others(document, "document", "version semantic_model dialects")
        models = self.records(document.get("semantic_model"), "semantic_model")
        for place, _ in models[1:]:
            self.note(place, "only the first model of a file is used")
        if not models:
            return SemanticModel("", not_handled=tuple(self.not_handled))
        place, model = models[0]
        own = self._own(model, place, "name description ai_context datasets relationships metrics")
        return SemanticModel(
            text(model.get("name")),
            self._each(model, place, "datasets", self._dataset),
            self._each(model, place, "relationships", self._relationship),
            self._each(model, place, "metrics", self._metric),
            tuple(Verified(*pair) for pair in self._pairs(own, place, "verified", "question", "sql")),
            _described(model),
            self._pairs(own, place, "terms", "term", "means"),
            tuple(self.not_handled),
        )

    def _own(self, record: Record, place: str, known: str) -> Record:
        """Our own extension of an object; keys beside `known` ones and other extensions are noted."""
        self.others(record, place, f"{known} custom_extensions")
        own: Record = {}
        for at, extension in self.records(record.get("custom_extensions"), f"{place}.custom_extensions"):
            if extension.get("vendor_name") != VENDOR:
                self.note(at, f"extension of {text(extension.get('vendor_name')) or 'no vendor'} not used")
                continue
            try:
                loaded = json.loads(text(extension.get("data")))
            except ValueError:
                loaded = None
            if isinstance(loaded, dict):
                own |= loaded
            else:
                self.note(at, "data is no JSON object")
        return own

    def _each(
        self, record: Record, place: str, key: str, read: Callable[[Record, str], _Read | None]
    ) -> tuple[_Read, ...]:
        """The objects of a list that can be read."""
        return tuple(filter(None, [read(one, at) for at, one in self.records(record.get(key), f"{place}.{key}")]))

    def _pairs(self, own: Record, place: str, key: str, first: str, second: str) -> tuple[tuple[str, str], ...]:
        records = self.records(own.get(key), f"{place}.{key}")
        pairs = ((text(one.get(first)), text(one.get(second))) for _, one in records)
        return tuple(pair for pair in pairs if all(pair))

    def _dataset(self, record: Record, place: str) -> Dataset | None:
        own = self._own(record, place, "name source primary_key unique_keys description ai_context fields")
        source = text(record.get("source"))
        if not source or any(sign in source for sign in " ()\n"):
            self.note(place, "a dataset over a query is not used" if source else "no source")
            return None
        parts = [part.strip('"`') for part in source.split(".")]
        fields = self._each(record, place, "fields", self._field)
        keys = record.get("unique_keys")
        return Dataset(
            text(record.get("name")) or parts[-1],
            parts[-1],
            parts[-2] if len(parts) > 1 else None,
            fields,
            texts(record.get("primary_key")),
            tuple(filter(None, map(texts, keys))) if isinstance(keys, list) else (),
            _synonyms(record),
            _described(record),
            text(own.get("date")),
            text(own.get("amount")),
            Expression(text(own.get("hidden")), "database") if text(own.get("hidden")) else None,
        )

    def _field(self, record: Record, place: str) -> Field | None:
        own = self._own(record, place, "name expression dimension description ai_context datatype")
        expression = self._expression(record, place, own)
        if expression is None:
            return None
        datatype, dimension = text(record.get("datatype")), record.get("dimension")
        timed = dimension.get("is_time") if isinstance(dimension, dict) else None
        is_time = truth(timed) if timed is not None else datatype in ("Date", "Time", "DateTime", "DateTimeTz")
        return Field(text(record.get("name")), expression, _synonyms(record), _described(record), datatype, is_time)

    def _metric(self, record: Record, place: str) -> Metric | None:
        own = self._own(record, place, "name expression description ai_context datatype")
        expression = self._expression(record, place, own)
        if expression is None:
            return None
        unit = text(own.get("unit"))
        return Metric(text(record.get("name")), expression, _synonyms(record), _described(record), unit)

    def _expression(self, record: Record, place: str, own: Record) -> Expression | None:
        written = record.get("expression")
        dialects = written.get("dialects") if isinstance(written, dict) else None
        known = {}
        for at, one in self.records(dialects, f"{place}.expression"):
            name = text(one.get("dialect")) or "ANSI_SQL"
            if name.upper() in _DIALECTS and text(one.get("expression")):
                known[name.upper()] = text(one.get("expression"))
            else:
                self.note(at, f"expressions in {name} are not used")
        for name, sql in _DIALECTS.items():
            if name in known:
                return Expression(known[name], sql, text(own.get("expression")))
        self.note(place, "no expression in a dialect that can be read")
        return None

    def _relationship(self, record: Record, place: str) -> Relationship | None:
        self._own(record, place, "name from to from_columns to_columns")
        name, source, target = (text(record.get(key)) for key in ("name", "from", "to"))
        ours, theirs = texts(record.get("from_columns")), texts(record.get("to_columns"))
        if not ours or len(ours) != len(theirs) or not source or not target:
            self.note(place, "from, to and as many from_columns as to_columns are expected")
            return None
        return Relationship(name, source, target, tuple(zip(ours, theirs, strict=True)))


def _synonyms(record: Record) -> tuple[str, ...]:
    context = record.get("ai_context")
    return texts(context.get("synonyms")) if isinstance(context, dict) else ()


def _described(record: Record) -> str:
    """The description and the instructions of `ai_context`, which is a text or an object."""
    context = record.get("ai_context")
    instructions = context.get("instructions") if isinstance(context, dict) else context
    return " ".join(filter(None, (text(record.get("description")), text(instructions))))


def to_ossie(model: SemanticModel) -> Record:
    """The model as a document that the JSON Schema of the core-spec accepts."""
    own: Record = {
        "verified": [{"question": v.question, "sql": v.sql} for v in model.verified],
        "terms": [{"term": term, "means": means} for term, means in model.terms],
    }
    relationships = [
        {
            "name": r.name,
            "from": r.source,
            "to": r.target,
            "from_columns": [a for a, _ in r.columns],
            "to_columns": [b for _, b in r.columns],
        }
        for r in model.relationships
    ]
    body = _written(
        own,
        name=model.name,
        description=model.instructions,
        datasets=[_written_dataset(d) for d in model.datasets],
        relationships=relationships,
        metrics=[_written_formula(m, {"unit": m.unit}) for m in model.metrics],
    )
    return {"version": VERSION, "semantic_model": [body]}


def _written(own: Record, synonyms: tuple[str, ...] = (), **keys: Any) -> Record:
    """An object without what is empty; `own`: our extension of it."""
    own = {key: value for key, value in own.items() if value}
    keys["ai_context"] = {"synonyms": list(synonyms)} if synonyms else None
    data = json.dumps(own, ensure_ascii=False)
    keys["custom_extensions"] = [{"vendor_name": VENDOR, "data": data}] if own else None
    return {key: keys[key] for key in _ORDER if keys.get(key)}


def _written_formula(part: Field | Metric, own: Record, **keys: Any) -> Record:
    """A field or metric."""
    dialect = next((name for name, sql in _DIALECTS.items() if sql == part.expression.sql), "ANSI_SQL")
    return _written(
        {**own, "expression": part.expression.own},
        part.synonyms,
        name=part.name,
        expression={"dialects": [{"dialect": dialect, "expression": part.expression.text}]},
        description=part.description,
        **keys,
    )


def _written_dataset(dataset: Dataset) -> Record:
    hidden = dataset.hidden.text if dataset.hidden else ""
    return _written(
        {"date": dataset.date, "amount": dataset.amount, "hidden": hidden},
        dataset.synonyms,
        name=dataset.name,
        source=".".join(filter(None, (dataset.namespace, dataset.table))),
        primary_key=list(dataset.primary_key),
        unique_keys=[list(key) for key in dataset.unique_keys],
        description=dataset.description,
        fields=[
            _written_formula(f, {}, dimension={"is_time": True} if f.is_time else None, datatype=f.datatype)
            for f in dataset.fields
        ],
    )
