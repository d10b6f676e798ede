"""Words that somebody taught while asking: what each means in a database.

In: pairs (term, what it means): a table, `table.column`, or a condition with its columns written so. Out: what is wrong
with one; names for tables and columns as a semantic model; conditions as entries of a glossary. What does not fit the
schema, any more, says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from agent.knowledge.memory.glossary import Entry, Glossary, as_query, stem_phrase, unfit
from agent.knowledge.semantics.model import Dataset, Expression, Field, SemanticModel
from eval.schema import Column, Schema, Table
from eval.sql import render

Taught = Sequence[tuple[str, str]]
"""(term, what it means) pairs."""


def problem(term: str, means: str, schema: Schema) -> str | None:
    """Why a term cannot be taught; None where it can."""
    if not stem_phrase(term).strip():
        return "A term needs at least one word."
    if _place(means, schema) is not None:
        return None
    reason = unfit(Entry("term", term, means), schema)
    return f"“{means}” is no table, no column written table.column, and no condition: {reason}." if reason else None


def with_names(model: SemanticModel | None, taught: Taught, schema: Schema) -> SemanticModel | None:
    """The model in which taught terms are further names of tables and columns, and conditions on one table fields that
    are true or false."""
    datasets = {d.table.casefold(): d for d in (model.datasets if model else ())}
    named = False
    for term, means in taught:
        table, column, condition = _place(means, schema) or _condition(means, schema) or (None, None, "")
        if table is None:
            continue
        dataset = datasets.get(table.name.casefold()) or Dataset(table.name, table.name, table.namespace)
        if condition:
            kind = Field(term, Expression(condition, "database"), datatype="Boolean")
            dataset = replace(dataset, fields=(*dataset.fields, kind))
        elif column is None:
            dataset = replace(dataset, synonyms=(*dataset.synonyms, term))
        else:
            known = next((f for f in dataset.fields if f.column == column.name), None)
            others = tuple(f for f in dataset.fields if f is not known)
            field = known or Field(column.name, Expression(column.name))
            dataset = replace(dataset, fields=(*others, replace(field, synonyms=(*field.synonyms, term))))
        datasets[table.name.casefold()] = dataset
        named = True
    if not named:
        return model
    return replace(model or SemanticModel("taught"), datasets=tuple(datasets.values()))


def with_conditions(glossary: Glossary, taught: Taught, schema: Schema) -> Glossary:
    """The glossary after the taught terms that are conditions, which win."""
    conditions = [Entry("term", term, means) for term, means in taught if _place(means, schema) is None]
    return Glossary(tuple(conditions)).joined(glossary)


def _place(means: str, schema: Schema) -> tuple[Table, Column | None, str] | None:
    """The table, or the column of a table, that is named."""
    if (table := schema.table(means.strip())) is not None:
        return table, None, ""
    name, _, column = means.strip().rpartition(".")
    owner = schema.table(name) if name else None
    found = owner.column(column) if owner else None
    return (owner, found, "") if owner and found else None


def _condition(means: str, schema: Schema) -> tuple[Table, None, str] | None:
    """The one table that a condition is about, with the condition in its own columns."""
    parsed = as_query(means, schema.dialect)
    if isinstance(parsed, str) or not isinstance(parsed.tree, exp.Select):
        return None
    (said,) = parsed.tree.expressions
    of = {column.table for column in said.find_all(exp.Column)}
    table = schema.table(next(iter(of))) if len(of) == 1 else None
    if table is None or not isinstance(said, exp.Predicate | exp.Connector | exp.Not):
        return None
    condition = said.copy()
    for column in condition.find_all(exp.Column):
        column.set("table", None)
    return table, None, render(condition, schema.dialect)
