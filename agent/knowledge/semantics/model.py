"""The semantic model as plain frozen values, whatever file it came from.

Expressions are SQL texts in the dialect that `sql` names (by sqlglot's name; empty: ANSI SQL). In a field they name
columns of its dataset; in a metric they name `dataset.field`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from eval.schema import Schema, Table


@dataclass(frozen=True, slots=True)
class Expression:
    text: str
    sql: str = ""
    """sqlglot's name of the dialect; empty: ANSI SQL."""
    own: str = ""
    """The same in the database's dialect, where this does not read as that there."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    expression: Expression
    synonyms: tuple[str, ...] = ()
    description: str = ""
    datatype: str = ""
    """Ossie's logical type (`Decimal`, `Date`, ...), or empty."""
    is_time: bool = False

    @property
    def column(self) -> str | None:
        """The column that the field is, where its expression is a plain name."""
        written = self.expression.text.strip()
        text = written.strip('"`')
        spaces = "a" if text != written else " "  # `returned_at IS NULL` is no name
        return text if text.replace("_", "a").replace("$", "a").replace(" ", spaces).isalnum() else None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    table: str
    """The table or view that it stands for."""
    namespace: str | None = None
    fields: tuple[Field, ...] = ()
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    synonyms: tuple[str, ...] = ()
    description: str = ""
    date: str = ""
    """The field, or `dataset.field`, that is meant where a question gives a period and no date of these rows."""
    amount: str = ""
    """The field that is meant where a question asks for an amount of these rows and names no figure."""
    hidden: Expression | None = None
    """The condition of the rows that no answer counts unless its question asks for them."""

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name.casefold() == name.casefold()), None)

    def joined(self, other: Dataset) -> Dataset:
        """Both; where both say something, this one counts."""
        fields = {f.name.casefold(): f for f in other.fields}
        for one in self.fields:
            known = fields.get(one.name.casefold())
            same = known is not None and known.column is not None and known.column == one.column
            both = replace(known, synonyms=(*known.synonyms, *one.synonyms)) if known and same else one
            fields[one.name.casefold()] = both
        return replace(
            other,
            fields=tuple(fields.values()),
            synonyms=tuple(dict.fromkeys((*other.synonyms, *self.synonyms))),
            date=self.date or other.date,
            amount=self.amount or other.amount,
            hidden=self.hidden or other.hidden,
        )

    def column_name(self, name: str) -> str:
        """The column that a field of this name is; the name itself where no field has it."""
        field = self.field(name)
        return (field.column if field else None) or name

    def table_in(self, schema: Schema) -> Table | None:
        return schema.table(self.table, self.namespace) or schema.table(self.table)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Each row of `source` has at most one partner in `target`."""

    name: str
    source: str
    target: str
    columns: tuple[tuple[str, str], ...]
    """(column of the source, column of the target)."""


class Join(NamedTuple):
    """A relationship with the tables and columns of a schema."""

    source: Table
    target: Table
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    expression: Expression
    synonyms: tuple[str, ...] = ()
    description: str = ""
    unit: str = ""
    """What its values are counted in (`EUR`, `percent`, `days`)."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Verified:
    """A question with SQL that somebody confirmed."""

    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class SemanticModel:
    name: str
    datasets: tuple[Dataset, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    metrics: tuple[Metric, ...] = ()
    verified: tuple[Verified, ...] = ()
    instructions: str = ""
    terms: tuple[tuple[str, str], ...] = ()
    """(term, condition on several tables) pairs, with columns written `table.column` in the database's dialect."""
    not_handled: tuple[str, ...] = ()
    """What the file holds and this model does not: the place and the reason."""

    def dataset(self, name: str) -> Dataset | None:
        return next((d for d in self.datasets if d.name.casefold() == name.casefold()), None)

    def joined(self, other: SemanticModel) -> SemanticModel:
        """Both; where both say something, this model counts."""
        datasets = {d.table.casefold(): d for d in other.datasets}
        for mine in self.datasets:
            known = datasets.get(mine.table.casefold())
            datasets[mine.table.casefold()] = mine.joined(known) if known else mine
        said = {name.casefold() for metric in self.metrics for name in metric.names}
        metrics = (m for m in other.metrics if not said & {name.casefold() for name in m.names})
        return replace(
            other,
            datasets=tuple(datasets.values()),
            metrics=(*self.metrics, *metrics),
            terms=(*self.terms, *other.terms),
        )

    def place(self, dataset: Dataset, name: str, schema: Schema) -> tuple[str, str] | None:
        """The table and column that a field of the dataset, or `dataset.field`, is."""
        of, _, field = name.rpartition(".")
        home = self.dataset(of) if of else dataset
        table = home.table_in(schema) if home else schema.table(of)
        found = table.column(home.column_name(field) if home else field) if table else None
        return (table.name, found.name) if table and found else None

    def joins(self, schema: Schema) -> Iterator[Join]:
        """The relationships whose tables and columns the schema has."""
        for relation in self.relationships:
            source, target = self.dataset(relation.source), self.dataset(relation.target)
            ours, theirs = (source.table_in(schema) if source else None), (target.table_in(schema) if target else None)
            if not (source and target and ours and theirs and relation.columns):
                continue
            pairs = [
                (
                    ours.column(source.column_name(a)) or ours.column(a),
                    theirs.column(target.column_name(b)) or theirs.column(b),
                )
                for a, b in relation.columns
            ]
            columns = tuple((a.name, b.name) for a, b in pairs if a and b)
            if len(columns) == len(pairs):
                yield Join(ours, theirs, columns)


Record = dict[str, Any]


class Reader:
    """Takes records apart and notes what was not taken."""

    def __init__(self) -> None:
        self.not_handled: list[str] = []

    def note(self, place: str, reason: str) -> None:
        self.not_handled.append(f"{place}: {reason}")

    def records(self, value: Any, place: str) -> list[tuple[str, Record]]:
        """The objects of a list, each with its place; anything else is noted."""
        if value is None or value == "":
            return []
        if not isinstance(value, list):
            self.note(place, "a list is expected")
            return []
        records = []
        for number, one in enumerate(value):
            if isinstance(one, dict):
                records.append((f"{place}[{one.get('name') or number}]", one))
            else:
                self.note(f"{place}[{number}]", "an object is expected")
        return records

    def others(self, record: Record, place: str, known: str) -> None:
        """Note the keys of a record that are not among the known ones."""
        for key, value in record.items():
            if key not in known.split() and value not in (None, "", [], {}):
                self.note(f"{place}.{key}", "not used")


def text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    return tuple(v.strip() for v in value if isinstance(v, str) and v.strip()) if isinstance(value, list) else ()


def truth(value: Any) -> bool:
    return value is True or text(value).casefold() in ("true", "yes", "on")
