"""What people say of a database in terms: as a semantic model, and a model as terms again.

In: terms that somebody taught while asking: a kind, what it is said of, and what that means. Out: what is wrong with
one; what it says, in a sentence; all of them as one model, which the engine, prompts and files read. What does not fit
the schema says nothing.

In: a model and a schema. Out: its metrics, conditions and defaults as a `Glossary` in the schema's own columns, which
prompts and evidence read; of a model, what a database's reader may know.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Any

from sqlglot import exp

from agent.knowledge.memory.glossary import Entry, Glossary, Kind, as_query, stem_phrase, unfit
from agent.knowledge.memory.retrieval import readable
from agent.knowledge.semantics.expansion import ViewBuilder, model_view_of
from agent.knowledge.semantics.hidden_rows import plain_column
from agent.knowledge.semantics.model import Dataset, Expression, Field, Metric, SemanticModel
from agent.knowledge.vocabulary import Vocabulary
from agent.state import Term, TermKind
from eval.databases.base import Database
from eval.schema import Dialect, Schema, Table
from eval.sql import render
from eval.sql.in_words import expression_in_words
from eval.sql.translation import transpiled

OF_TABLE: frozenset[TermKind] = frozenset({"date", "amount", "hidden"})
"""Kinds that are said of a table; the others are of words."""
NOTHING = SemanticModel("taught")


def problem(term: Term, words: Vocabulary) -> str | None:
    """Why a term cannot be taught; None where it can."""
    schema, table = words.schema, words.schema.table(term.term)
    if not stem_phrase(term.term).strip():
        return "A term needs at least one word."
    if term.kind in OF_TABLE and table is None:
        return f"“{term.term}” is no table."
    if term.kind in ("date", "amount"):
        place = _place(term.means, schema)
        word = words.columns.get((place[0].name, place[1])) if place else None
        if word is None:
            return f"“{term.means}” is no column written table.column."
        if not (word.role in ("date", "year") if term.kind == "date" else word.is_figure or word.figures):
            return f"“{term.means}” holds no {'dates' if term.kind == 'date' else 'figures'}."
        if table is not None and word.table not in (table.name, *(key.ref_table for key in table.foreign_keys)):
            return f"The rows of {term.term} do not refer to {word.table}."
        return None
    if term.kind == "word" and (schema.table(term.means.strip()) or _place(term.means, schema)):
        return None
    wanted = {"measure": "no formula of aggregates", "hidden": f"no condition on {term.term}"}.get(
        term.kind, "no table, no column written table.column, and no condition"
    )
    if reason := unfit(Entry("term", term.term, term.means), schema):
        return f"“{term.means}” is {wanted}: {reason}."
    model = model_of([term], schema)
    wrong = [why for _, why in ViewBuilder(model, schema).view().problems]
    if wrong or model == NOTHING:
        return f"“{term.means}” is {wanted}{f': {wrong[0]}' if wrong else ''}."
    return None


def told(term: Term, dialect: Dialect) -> str:
    """What the term says, in one sentence."""
    parsed = as_query(term.means, dialect)
    tree = None if isinstance(parsed, str) or not isinstance(parsed.tree, exp.Select) else parsed.tree.expressions[0]
    if term.kind == "date":
        return f"A period without a date’s name is about {term.means}, for {term.term}."
    if term.kind == "amount":
        return f"An amount without a name is {term.means}, for {term.term}."
    if term.kind == "hidden" and tree is not None:
        stated = exp.EQ(this=tree.copy(), expression=exp.true()) if isinstance(tree, exp.Column) else tree
        marked = expression_in_words(stated, dialect)
        return f"Rows of {term.term} where {marked} count only where a question asks for them."
    if tree is None or isinstance(tree, exp.Column):
        return f"“{term.term}” means {term.means}."
    return f"“{term.term}” means {expression_in_words(tree, dialect, with_tables=True)}."


def model_of(taught: Iterable[Term], schema: Schema) -> SemanticModel:
    """The terms that may fit as a model, the latest first."""
    return reduce(SemanticModel.joined, (_model(term, schema) for term in taught), NOTHING)


def with_taught(model: SemanticModel | None, taught: Iterable[Term], schema: Schema) -> SemanticModel | None:
    """The model with what was taught, which wins; the same model where nothing of it fits."""
    said = model_of(taught, schema)
    if said == NOTHING:
        return model
    return said.joined(model) if model else said


def in_ansi(model: SemanticModel, dialect: Dialect) -> SemanticModel:
    """The model with its expressions as a file holds them."""

    def written(expression: Expression) -> Expression:
        ansi = transpiled(expression.text, dialect, "") if expression.sql == "database" else None
        again = transpiled(ansi, "", dialect) if ansi else None
        same = again == transpiled(expression.text, dialect, dialect)
        return Expression(ansi, own="" if same else expression.text) if ansi else expression

    return replace(
        model,
        datasets=tuple(
            replace(d, fields=tuple(replace(f, expression=written(f.expression)) for f in d.fields))
            for d in model.datasets
        ),
        metrics=tuple(replace(m, expression=written(m.expression)) for m in model.metrics),
    )


def _model(term: Term, schema: Schema) -> SemanticModel:
    """What one term says; an empty model where it cannot say anything."""
    if term.kind in OF_TABLE:
        table = schema.table(term.term)
        if table is None:
            return NOTHING
        if term.kind == "hidden":
            condition = _own_condition(term.means, schema, flags=True)
            if condition is None or condition[0].name != table.name:
                return NOTHING
            return _of_dataset(table, hidden=Expression(condition[1], "database"))
        return _of_dataset(table, **{term.kind: term.means.removeprefix(f"{term.term}.")})
    if term.kind == "measure":
        parsed = as_query(term.means, schema.dialect)
        named = () if isinstance(parsed, str) or parsed.tree is None else parsed.tree.find_all(exp.Column)
        tables = {table.name: table for c in named if (table := schema.table(c.table)) is not None}
        datasets = tuple(Dataset(table.name, table.name, table.namespace) for table in tables.values())
        return replace(NOTHING, datasets=datasets, metrics=(Metric(term.term, Expression(term.means, "database")),))
    if (table := schema.table(term.means.strip())) is not None:
        return _of_dataset(table, synonyms=(term.term,))
    if (place := _place(term.means, schema)) is not None:
        table, column = place
        written = column if column.isidentifier() else f'"{column}"'
        return _of_dataset(table, fields=(Field(column, Expression(written), (term.term,)),))
    if (condition := _own_condition(term.means, schema)) is not None:
        kind = Field(term.term, Expression(condition[1], "database"), datatype="Boolean")
        return _of_dataset(condition[0], fields=(kind,))
    if unfit(Entry("term", term.term, term.means), schema) is None:
        return replace(NOTHING, terms=((term.term, term.means),))
    return NOTHING


def _of_dataset(table: Table, **said: Any) -> SemanticModel:
    """A model that says something of one table alone."""
    return replace(NOTHING, datasets=(Dataset(table.name, table.name, table.namespace, **said),))


def _place(means: str, schema: Schema) -> tuple[Table, str] | None:
    """The table and column that are named as `table.column`."""
    name, _, column = means.strip().rpartition(".")
    owner = schema.table(name) if name else None
    found = owner.column(column) if owner else None
    return (owner, found.name) if owner and found else None


def _own_condition(means: str, schema: Schema, *, flags: bool = False) -> tuple[Table, str] | None:
    """The one table that a condition, or with `flags` a column alone, is about, and it in the table's own columns."""
    parsed = as_query(means, schema.dialect)
    if isinstance(parsed, str) or not isinstance(parsed.tree, exp.Select):
        return None
    said = parsed.tree.expressions[0]
    said = exp.EQ(this=said, expression=exp.true()) if flags and isinstance(said, exp.Column) else said
    of = {column.table for column in said.find_all(exp.Column)}
    table = schema.table(next(iter(of))) if len(of) == 1 else None
    if table is None or not isinstance(said.unnest(), exp.Predicate | exp.Connector | exp.Not):
        return None
    condition = said.copy()
    for column in condition.find_all(exp.Column):
        column.set("table", None)
    return table, render(condition, schema.dialect)


@lru_cache(maxsize=32)
def glossary_of(model: SemanticModel, schema: Schema) -> Glossary:
    view = model_view_of(model, schema)
    entries: list[Entry] = []
    for metric in model.metrics:
        meaning = view.metric(metric.name)
        if meaning is not None:
            note = " ".join(filter(None, (metric.description, f"in {metric.unit}" if metric.unit else "")))
            entries.append(Entry("metric", metric.name, render(meaning.tree, schema.dialect), metric.synonyms, note))
    for dataset in model.datasets:
        for field in dataset.fields:
            meaning = view.meanings.get((dataset.table.casefold(), field.name.casefold()))
            if meaning is not None and field.column is None:
                text = render(meaning.tree, schema.dialect)
                entries.append(Entry("term", field.name, text, field.synonyms, field.description))
    others = ((rows.table.name, rows.kept(rows.table.name)) for rows in view.hidden)
    entries += [Entry("filter", table, render(kept, schema.dialect)) for table, kept in others]
    entries += [Entry("term", term, means) for term, means in model.terms]
    for dataset in model.datasets:
        table = dataset.table_in(schema)
        defaults: tuple[tuple[Kind, str], ...] = (("date", dataset.date), ("amount", dataset.amount))
        for kind, name in defaults:
            if table is not None and name and (place := model.place(dataset, name, schema)):
                column = plain_column(place[1], place[0])
                entries.append(Entry(kind, table.name, render(column, schema.dialect)))
    return Glossary(tuple(entries))


def readable_model(model: SemanticModel, database: Database) -> SemanticModel:
    """The model itself for those who see all; for others without what may say anything (descriptions, instructions) and
    without metrics and fields that name what is hidden. Raises DatabaseError."""
    if database.sees_all:
        return model
    seen = readable(glossary_of(model, database.schema()).entries, database)
    kept = {(entry.kind, entry.name) for entry in seen}

    def plain(dataset: Dataset) -> Dataset:
        fields = (f for f in dataset.fields if f.column or ("term", f.name) in kept)
        return replace(
            dataset,
            description="",
            fields=tuple(replace(f, description="") for f in fields),
            hidden=dataset.hidden if ("filter", dataset.table) in kept else None,
        )

    return replace(
        model,
        datasets=tuple(map(plain, model.datasets)),
        metrics=tuple(replace(m, description="") for m in model.metrics if ("metric", m.name) in kept),
        instructions="",
        terms=tuple((term, means) for term, means in model.terms if ("term", term) in kept),
    )
