"""Does a model fit a database, and does a query compute the metrics of its question as the model defines them?

In: a model and an open database. Out: findings, one sentence each, on names, types, joins that multiply rows, metrics
and verified questions that do not run; none when all is well.

In: a question, a query, a model and a schema. Out: a sentence for each metric that the question names and the query
computes otherwise. The definition may be written with other aliases, orders of operands, casts, roundings, in a CTE, or
with its condition in WHERE. A metric is taken as named only by its whole name or synonym.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.memory.glossary import words_in
from agent.knowledge.own_queries import run
from agent.knowledge.semantics.expansion import Meaning, ViewBuilder, model_view_of, query_of
from agent.knowledge.semantics.model import Metric, Relationship, SemanticModel
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Schema, Table
from eval.sql import parse, render, resolve
from eval.sql.binding import Binding
from eval.sql.scopes import bind
from eval.sql.sources import quoted_column, table_source
from eval.sql.traversal import conjuncts

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


_TRANSPARENT = (exp.Paren, exp.Cast, exp.Round, exp.Coalesce, exp.Alias)
_COMMUTATIVE = (exp.Add, exp.Mul, exp.And, exp.Or, exp.EQ, exp.NEQ)
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")
_OTHER = re.compile(r"\b(average|avg|mean|median|maximum|minimum|max|min|highest|lowest|largest|smallest)\b", re.I)


def departures(question: str, tree: exp.Expression, model: SemanticModel, schema: Schema) -> tuple[str, ...]:
    view = model_view_of(model, schema)
    sentences = []
    written: frozenset[str] = frozenset()
    for metric in _named(words_in(question), model):
        meaning = view.metric(metric.name)
        if meaning is None:
            continue
        written = written or _parts(tree, bind(tree, schema.dialect, schema))
        if not _computed(meaning, written, loose=bool(_OTHER.search(question))):
            defined = render(meaning.tree, schema.dialect)
            sentences.append(
                f"The question asks for {metric.name}, which is {defined}; the query computes something else."
            )
    return tuple(sentences)


def units_of(tree: exp.Expression, model: SemanticModel, schema: Schema) -> tuple[str, ...]:
    """The unit of each output column: that of the metric that it computes, or of whose rows it takes the mean or an
    extreme; empty where it computes none. No units at all: an empty tuple."""
    select = tree if isinstance(tree, exp.Select) else None
    units = {metric.name: metric.unit for metric in model.metrics if metric.unit}
    if select is None or not units or select.is_star:
        return ()
    view = model_view_of(model, schema)
    meanings = {name: meaning for name in units if (meaning := view.metric(name)) is not None}
    binding = bind(tree, schema.dialect, schema)
    by_column = tuple(
        next((units[name] for name, meaning in meanings.items() if _is(column, meaning, binding)), "")
        for column in select.expressions
    )
    return by_column if any(by_column) else ()


def _is(column: exp.Expr, meaning: Meaning, binding: Binding) -> bool:
    """Whether an output column is the metric, its running total, or a mean or extreme of its rows."""
    inner = column.unalias()
    if isinstance(inner, exp.Window):
        inner = inner.this.this if isinstance(inner.this, exp.Sum | exp.Avg | exp.Min | exp.Max) else inner.this
    if _canonical(inner, binding) == _canonical(meaning.tree, None):
        return True
    if not isinstance(inner, exp.Avg | exp.Min | exp.Max) or meaning.row is None:
        return False
    return _canonical(inner.this, binding) == _canonical(meaning.row, None)


def _named(words: str, model: SemanticModel) -> list[Metric]:
    """The metrics that the question names; a name inside a longer one (`profit` in `profit margin`) is not named."""
    words = f" {words} "
    names = sorted(((words_in(name), m) for m in model.metrics for name in m.names), key=lambda p: -len(p[0]))
    metrics: dict[str, Metric] = {}
    for phrase, metric in names:
        if phrase and f" {phrase} " in words:
            metrics.setdefault(metric.name, metric)
            words = words.replace(f" {phrase} ", "  ")
    return list(metrics.values())


def _computed(meaning: Meaning, written: frozenset[str], *, loose: bool) -> bool:
    """`loose`: the question asks for another aggregate of the metric's rows."""
    for aggregate in meaning.tree.find_all(exp.AggFunc):
        value, condition = aggregate.this, None
        branches = value.args.get("ifs") or [] if isinstance(value, exp.Case) and value.this is None else []
        if len(branches) == 1:  # `CASE WHEN condition THEN value END`, whose condition WHERE may hold as well
            value, condition = branches[0].args["true"], branches[0].this
        elif isinstance(value, exp.Distinct) and value.expressions:
            value = value.expressions[0]
        parts = (one for one in (value, *conjuncts(condition)) if one is not None and not isinstance(one, exp.Star))
        if not written.issuperset(_canonical(one, None) for one in parts):
            return False
        if not loose and f"a call of {aggregate.key}" not in written:
            return False
    divides = meaning.row is None and meaning.tree.find(exp.Div) is not None
    return not divides or "an operation div" in written


def _parts(tree: exp.Expression, binding: Binding) -> frozenset[str]:
    """Every expression of the query in canonical form, and the functions that it calls."""
    expressions = set()
    for node in tree.walk():
        if isinstance(node, exp.AggFunc):
            expressions.add(f"a call of {node.key}")
        elif isinstance(node, exp.Div):
            expressions.add("an operation div")
        if isinstance(node, exp.Column | exp.Binary | exp.Func | exp.Predicate | exp.Literal | exp.Neg):
            expressions.add(_canonical(node, binding))
    return frozenset(expressions)


def _canonical(node: exp.Expr, binding: Binding | None) -> str:
    """The expression as text that aliases, casts, roundings and the order of operands do not change."""
    if isinstance(node, _TRANSPARENT):
        return _canonical(node.this, binding)
    if isinstance(node, exp.Column):
        origin = binding.columns[id(node)].origin if binding and id(node) in binding.columns else None
        table, name = origin or (node.table, node.name)
        return f"{table}.{name}".casefold()
    if isinstance(node, exp.Literal):
        return repr(float(node.name)) if not node.is_string and _NUMBER.fullmatch(node.name) else repr(node.name)
    if isinstance(node, _COMMUTATIVE):
        parts = sorted(_canonical(part, binding) for part in node.flatten())
        return f"{node.key}({', '.join(parts)})"
    children = [_canonical(child, binding) for child in node.iter_expressions()]
    return f"{node.key}({', '.join(children)})"
