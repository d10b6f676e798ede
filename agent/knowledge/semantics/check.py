"""Does a model fit a database: names, types, joins that multiply rows, metrics and verified questions that run.

In: a model and an open database. Out: findings, one sentence each; none when all is well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.own_queries import run
from agent.knowledge.semantics.expansion import ViewBuilder, query_of
from agent.knowledge.semantics.model import Relationship, SemanticModel
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Schema, Table
from eval.sql import parse, resolve
from eval.sql.sources import quoted_column, table_source

LIMITS = Limits(seconds=5.0, rows=1)


@dataclass(frozen=True, slots=True)
class Finding:
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def checked(model: SemanticModel, database: Database) -> list[Finding]:
    """What does not fit. The database is asked for the uniqueness of keys that it does not declare, for metrics and for
    verified questions."""
    schema = database.schema()
    builder = ViewBuilder(model, schema)
    findings = [Finding(what, f"{why}.") for what, why in builder.view().problems]
    known = {place for place, _ in builder.problems}
    relations = ((r.name, _relation(r, model, schema, database)) for r in model.relationships)
    findings += [Finding(name, problem) for name, problem in relations if problem]
    for metric in model.metrics:
        if metric.name not in known:
            meaning = builder.metric(metric)
            done = run(database, query_of(meaning.tree, meaning.host, meaning.steps), LIMITS, schema)
            if not done.ok and done.status != "timeout":
                findings.append(Finding(metric.name, f"the metric does not run: {done.error}"))
    for verified in model.verified:
        parsed = parse(verified.sql, schema.dialect)
        phantoms = resolve(parsed, schema).phantoms if parsed.tree is not None else ()
        if parsed.tree is None or phantoms:
            why = f"the database has no {phantoms[0].text}" if phantoms else parsed.error
            findings.append(Finding(verified.question, f"its SQL does not fit: {why}."))
    return findings


def _relation(relation: Relationship, model: SemanticModel, schema: Schema, database: Database) -> str | None:
    source, target = model.dataset(relation.source), model.dataset(relation.target)
    if source is None or target is None:
        return f"there is no dataset {relation.target if source else relation.source}."
    ours, theirs = source.table_in(schema), target.table_in(schema)
    if ours is None or theirs is None:
        return None  # the dataset's own finding says so
    pairs = []
    for a, b in relation.columns:
        left, right = ours.column(source.column_name(a)), theirs.column(target.column_name(b))
        if left is None or right is None:
            return f"{theirs.name} has no column {b}." if left else f"{ours.name} has no column {a}."
        pairs.append((left, right))
    for left, right in pairs:
        if len({_family(left.type), _family(right.type), ""}) == 3:
            return f"{ours.name}.{left.name} is {left.type}, but {theirs.name}.{right.name} is {right.type}."
    columns = tuple(target.column_name(b) for _, b in relation.columns)
    if not _unique(theirs, columns, database):
        return f"{theirs.name} has several rows of one {', '.join(columns)}: the join multiplies rows."
    return None


def _family(kind: str) -> str:
    families = {"number": "int|num|dec|real|float|doub|serial", "text": "char|text|clob", "time": "date|time"}
    return next((name for name, words in families.items() if re.search(words, kind, re.I)), "")


def _unique(table: Table, columns: tuple[str, ...], database: Database) -> bool:
    """By a declared key, else by counting; where it is not counted, it is taken for unique."""
    wanted = {c.casefold() for c in columns}
    keys = [table.primary_key, *(i.columns for i in table.indexes if i.unique)]
    if any(key and {c.casefold() for c in key} <= wanted for key in keys):
        return True
    named = [quoted_column(c) for c in columns]
    query = (
        exp.select(*named)
        .from_(table_source(table))
        .where(*(column.copy().is_(exp.null()).not_() for column in named))
        .group_by(*named)
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1)))
        .limit(1)
    )
    done = run(database, query, LIMITS)
    return not (done.ok and done.rows)
