"""Does a model fit a database: names, types, joins that multiply rows, metrics and verified questions that run.

In: a model and an open database. Out: findings, one sentence each; none when all is well.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.semantics.expansion import ViewBuilder, query_of
from agent.knowledge.semantics.model import Metric, Relationship, SemanticModel, Verified
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Schema, Table
from eval.sql import check, parse, parsed_from_tree, resolve
from eval.sql.quoted_names import quoted_column, table_source

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
    metrics = ((m.name, _metric(m, builder, database)) for m in model.metrics if m.name not in known)
    verified = ((v.question, _verified(v, schema)) for v in model.verified)
    for several in (relations, metrics, verified):
        findings += [Finding(place, problem) for place, problem in several if problem]
    return findings


def _metric(metric: Metric, builder: ViewBuilder, database: Database) -> str | None:
    meaning = builder.metric(metric)
    failure = _failure(query_of(meaning.tree, meaning.host, meaning.steps), database, builder.schema)
    return f"the metric does not run: {failure}" if failure else None


def _verified(one: Verified, schema: Schema) -> str | None:
    parsed = parse(one.sql, schema.dialect)
    if parsed.tree is None:
        return f"its SQL does not fit: {parsed.error}."
    phantoms = resolve(parsed, schema).phantoms
    return f"its SQL does not fit: the database has no {phantoms[0].text}." if phantoms else None


def _relation(relation: Relationship, model: SemanticModel, schema: Schema, database: Database) -> str | None:
    source, target = model.dataset(relation.source), model.dataset(relation.target)
    if source is None or target is None:
        return f"there is no dataset {relation.target if source else relation.source}."
    ours, theirs = source.table_in(schema), target.table_in(schema)
    if ours is None or theirs is None:
        return None  # the dataset's own finding says so
    for a, b in relation.columns:
        if ours.column(source.column_name(a)) is None:
            return f"{ours.name} has no column {a}."
        if theirs.column(target.column_name(b)) is None:
            return f"{theirs.name} has no column {b}."
    for a, b in relation.columns:
        left, right = ours.column(source.column_name(a)), theirs.column(target.column_name(b))
        if left and right and _family(left.type) and _family(right.type) and _family(left.type) != _family(right.type):
            return f"{ours.name}.{left.name} is {left.type}, but {theirs.name}.{right.name} is {right.type}."
    columns = tuple(target.column_name(b) for _, b in relation.columns)
    if not _unique(theirs, columns, database):
        return f"{theirs.name} has several rows of one {', '.join(columns)}: the join multiplies rows."
    return None


def _family(kind: str) -> str:
    lowered = kind.lower()
    families = {"number": ("int", "num", "dec", "real", "float", "doub", "serial"), "text": ("char", "text", "clob")}
    families |= {"time": ("date", "time")}
    return next((name for name, words in families.items() if any(w in lowered for w in words)), "")


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
    verdict = check(parsed_from_tree(query, database.dialect))
    if verdict.statement is None:
        return True
    done = database.execute(verdict.statement, limits=LIMITS)
    return not (done.ok and done.rows)


def _failure(query: exp.Select, database: Database, schema: Schema) -> str | None:
    verdict = check(parsed_from_tree(query, database.dialect), schema)
    if verdict.statement is None:
        return verdict.reason
    done = database.execute(verdict.statement, limits=LIMITS)
    return None if done.ok or done.status == "timeout" else done.error
