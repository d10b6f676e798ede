"""A model's view of a schema, and the way back from it to real columns.

In: a `SemanticModel` and a schema. Out: a `ModelView`: a schema in which metrics, computed fields and synonyms are
columns, so that whoever reads a question links them like any other; and `expand`, which replaces those columns on the
syntax tree by what the model says they are, with the joins that they need.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sqlglot import exp

from agent.knowledge.memory.glossary import stem_phrase
from agent.knowledge.semantics.hidden_rows import HiddenRows, denied_outside, without
from agent.knowledge.semantics.model import Dataset, Expression, Field, Metric, SemanticModel
from agent.knowledge.vocabulary import split_name, vocabulary
from eval.language.inflection import lemma, light_stem, plural, plural_phrase
from eval.schema import Column, Schema, Table
from eval.sql import check, parse, parsed_from_tree, resolve
from eval.sql.translation import transpiled

_TYPES = {"Integer": "INTEGER", "Decimal": "REAL", "Float": "REAL", "Boolean": "BOOLEAN", "Date": "DATE",
          "DateTime": "TIMESTAMP", "DateTimeTz": "TIMESTAMP", "String": "TEXT", "Time": "TEXT"}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
ANY_AMOUNT = ("amount", "value", "worth", "money")
"""Words for a figure that is not named."""
_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Paren)
_AGGREGATES = (
    "share of|percentage of|percent of|total|sum of|average|avg|mean|median|maximum|minimum|max|min|highest|lowest|"
    "largest|smallest|most|least"
)


def _total(match: re.Match[str]) -> str:
    return match[0] if match[1] else f"total {match[2]}"


@dataclass(frozen=True, slots=True)
class Step:
    """A join from a table to the one row that it refers to."""

    source: str
    target: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column of the view stands for; columns in the trees are qualified by real tables."""

    host: str
    tree: exp.Expr
    row: exp.Expr | None
    """The expression of one row: of a field, or inside a metric's only aggregate."""
    steps: tuple[Step, ...] = ()
    metric: str = ""
    is_amount: bool = False
    """The figure that is meant by any amount of the host's rows."""


@dataclass(frozen=True)
class ModelView:
    schema: Schema
    meanings: dict[tuple[str, str], Meaning] = field(default_factory=dict)
    """By table and column of the view, folded."""
    problems: tuple[tuple[str, str], ...] = ()
    """(what, why) of metrics and fields that do not fit the schema."""
    called: dict[str, str] = field(default_factory=dict)
    """Another name of a table → the table's name in words."""
    hidden: tuple[HiddenRows, ...] = ()
    """The rows that no query counts."""
    asked: tuple[HiddenRows, ...] = ()
    """Rows that are hidden, but asked for."""

    def metric(self, name: str) -> Meaning | None:
        """What a metric means in this schema; None where it does not fit."""
        return next((meaning for meaning in self.meanings.values() if meaning.metric == name), None)

    def named_in(self, question: str) -> ModelView:
        """The view with only those columns whose whole name the question says: a part of a metric's name (`stock` of
        `stock value`) does not name it."""
        words = stem_phrase(question)
        asked = tuple(rows for rows in self.hidden if rows.named_in(question))
        unasked = tuple(rows for rows in self.hidden if rows not in asked)
        said = question.casefold()
        once: dict[tuple[str, str], tuple[str, str]] = {}
        for table, name in sorted(self.meanings, key=lambda key: key[1] not in said):
            if (stem := stem_phrase(name)) in words:
                once.setdefault((table, stem), (table, name))  # `spend` as it is said, not `spending` too
        named = {key: self.meanings[key] for key in once.values()}
        if len(named) == len(self.meanings):
            return replace(self, hidden=unasked, asked=asked)
        hidden = self.meanings.keys() - named.keys()
        tables = tuple(
            replace(t, columns=tuple(c for c in t.columns if (t.name.casefold(), c.name.casefold()) not in hidden))
            for t in self.schema.tables
        )
        return ModelView(Schema(self.schema.dialect, tables), named, called=self.called, hidden=unasked, asked=asked)

    def worded(self, question: str) -> str:
        """The question with tables by their own names, with `total` before each metric that no aggregate is named for,
        so that it is read as a figure and not as a column to list, and with kinds of rows as what they are: for
        `dinghies`, a condition on vessels, `vessels that are dinghies`."""
        for one in self.asked:
            question = one.unsaid(question)
        if self.called:
            names = "|".join(map(re.escape, sorted(self.called, key=len, reverse=True)))
            question = re.sub(
                rf"\b({names})\b", lambda match: self.called[match[1].casefold()], question, flags=re.IGNORECASE
            )
        for (table, name), meaning in self.meanings.items():
            rows = plural_phrase(split_name(table))
            if isinstance(meaning.tree, _CONDITIONS) and stem_phrase(rows) not in stem_phrase(question):
                kind = "|".join(re.escape(form) for form in {plural(name), name, lemma(name)})
                question = re.sub(rf"\b(?:{kind})\b", rf"{rows} that are \g<0>", question, count=1, flags=re.IGNORECASE)
            elif meaning.is_amount:  # `the value of lots` is asked for as one figure
                of_rows = rf"(?=\s+of\s+(?:(?:the|all|our)\s+)*(?:{re.escape(rows)}|{re.escape(lemma(rows))})\b)"
                amount = rf"\b(?:({_AGGREGATES})\s+)?({name}){of_rows}"
                question = re.sub(amount, _total, question, count=1, flags=re.IGNORECASE)
        spoken = sorted({name.replace("_", " ") for (_, name), m in self.meanings.items() if m.metric}, key=len)
        if not spoken:
            return question
        phrases = "|".join(map(re.escape, reversed(spoken)))
        return re.sub(rf"\b(?:({_AGGREGATES})\s+)?({phrases})\b", _total, question, flags=re.IGNORECASE)

    def expand(self, tree: exp.Expression) -> exp.Expression:
        """A copy of the query over real columns, without the rows that are hidden."""
        tree = tree.copy()
        for column in list(tree.find_all(exp.Column)):
            place = self._meaning(column)
            if place is not None:
                _replace(column, *place)
        for select in tree.find_all(exp.Select) if self.meanings else ():
            _grouped(select, self.schema)
        for test in list(tree.find_all(exp.EQ)):  # `(returned_at IS NULL) = TRUE`
            if isinstance(test.this.unnest(), _CONDITIONS) and isinstance(test.expression, exp.Boolean):
                said = test.this.unnest()
                test.replace(exp.paren(said) if test.expression.this else exp.Not(this=exp.paren(said)))
        return without(tree, self.hidden, self.schema) if self.hidden else tree

    def stands_for(self, column: exp.Column) -> bool:
        """Whether a column of a query is one that the model defines."""
        return self._meaning(column) is not None

    def _meaning(self, column: exp.Column) -> tuple[Meaning, exp.Select, str] | None:
        """The column's meaning, the SELECT whose source it belongs to, and that source's name."""
        select = column.find_ancestor(exp.Select)
        while select is not None:
            for table in _sources(select):
                if column.table and column.table.casefold() != table.alias_or_name.casefold():
                    continue
                meaning = self.meanings.get((table.name.casefold(), column.name.casefold()))
                if meaning is not None:
                    return meaning, select, table.alias_or_name
            select = select.find_ancestor(exp.Select)
        return None


def _sources(select: exp.Select) -> Iterator[exp.Table]:
    for clause in (select.args.get("from_"), *(select.args.get("joins") or [])):
        if clause is not None and isinstance(clause.this, exp.Table):
            yield clause.this


def _replace(column: exp.Column, meaning: Meaning, select: exp.Select, alias: str) -> None:
    within = column.find_ancestor(exp.AggFunc, exp.Select)
    if not meaning.metric or (isinstance(within, exp.AggFunc) and meaning.row is not None):
        _put(column, meaning.row or meaning.tree, meaning, select, alias)
    elif isinstance(within, exp.AggFunc):
        _put(within, meaning.tree, meaning, select, alias)
    elif column.find_ancestor(exp.Group) and column.find_ancestor(exp.Select) is select:
        column.pop()
        if not select.args["group"].expressions:
            select.set("group", None)
    elif meaning.row is not None and (column.find_ancestor(exp.Where, exp.Join) or _ranks_rows(column, select, alias)):
        _put(column, meaning.row, meaning, select, alias)
    else:
        _put(column, meaning.tree, meaning, select, alias)


def _ranks_rows(column: exp.Column, select: exp.Select, alias: str) -> bool:
    """`the lots with the highest dues`: each row is shown and ranked by its own."""
    plain = [one for part in select.expressions if isinstance(one := part.unalias(), exp.Column) and one is not column]
    ranked = select.args.get("order") is not None and not select.args.get("group")
    return ranked and bool(plain) and all(one.table in ("", alias) for one in plain)


def _grouped(select: exp.Select, schema: Schema) -> None:
    """`which vessel has the highest dues`: what is shown is ranked by the figures of all its rows."""
    order = select.args.get("order")
    if order is None or not order.find(exp.AggFunc) or select.args.get("group") or select.find(exp.Star):
        return
    shown = [one.unalias() for one in select.expressions]
    if any(one.find(exp.AggFunc) for one in shown):
        return
    tables = {one.alias_or_name: schema.table(one.name) for one in _sources(select)}
    keys = []
    for column in (one for one in shown if isinstance(one, exp.Column)):  # a row's name tells it only with its key
        table = tables.get(column.table)
        if table is not None and column.name in (c.name for c in vocabulary(schema).name_columns(table.name)):
            keys += [_column(column.table, key) for key in table.primary_key]
    select.group_by(*dict.fromkeys((*keys, *(one.copy() for one in shown))), copy=False)


def _put(node: exp.Expr, tree: exp.Expr, meaning: Meaning, select: exp.Select, alias: str) -> None:
    names = {meaning.host.casefold(): alias}
    present = {table.name.casefold(): table.alias_or_name for table in _sources(select)}
    for step in meaning.steps:
        target = step.target.casefold()
        if target not in present:
            present[target] = step.target
            near = names.get(step.source.casefold(), present.get(step.source.casefold(), step.source))
            select.append("joins", _join(step, near))
        names.setdefault(target, present[target])
    made = tree.copy()
    for column in list(made.find_all(exp.Column)):
        column.set("table", _name(names.get(column.table.casefold(), column.table)))
    simple = isinstance(made, exp.Column | exp.AggFunc | exp.Paren)
    node.replace(made if simple else exp.paren(made, copy=False))


def _join(step: Step, source: str) -> exp.Join:
    """The join of a step; `source`: what its source is called in the query."""
    pairs = (exp.EQ(this=_column(step.target, b), expression=_column(source, a)) for a, b in step.columns)
    return exp.Join(this=exp.Table(this=_name(step.target)), on=exp.and_(*pairs), side="LEFT")


def _column(table: str, name: str) -> exp.Column:
    return exp.Column(this=_name(name), table=_name(table))


def _name(name: str) -> exp.Identifier:
    """Quoted where it has to be."""
    return exp.to_identifier(name, quoted=not (name.isidentifier() and name.islower()))


@lru_cache(maxsize=32)
def model_view_of(model: SemanticModel, schema: Schema) -> ModelView:
    return ViewBuilder(model, schema).view()


class ViewBuilder:
    def __init__(self, model: SemanticModel, schema: Schema) -> None:
        self.model = model
        self.schema = schema
        self.meanings: dict[tuple[str, str], Meaning] = {}
        self.added: dict[str, list[Column]] = {}
        self.problems: list[tuple[str, str]] = []
        self.hidden: list[HiddenRows] = []
        self.steps = [Step(join.source.name, join.target.name, join.columns) for join in model.joins(schema)]
        for table in schema.tables:
            for key in table.foreign_keys:
                pairs = zip(key.columns, key.ref_columns, strict=False)
                self.steps.append(Step(table.name, key.ref_table, tuple(pairs)))

    def view(self) -> ModelView:
        for metric in self.model.metrics:
            with self._problem_noted(metric.name):
                meaning = self.metric(metric)
                for name in metric.names:
                    self._add(meaning.host, name, "REAL", meaning, metric.description)
        for dataset in self.model.datasets:
            table = dataset.table_in(self.schema)
            if table is None:
                self.problems.append((dataset.name, f"there is no table {dataset.table}"))
                continue
            for one in dataset.fields:
                with self._problem_noted(f"{dataset.name}.{one.name}"):
                    self._field(dataset, table, one)
            for what, name in (("date", dataset.date), ("amount", dataset.amount)):
                place = self.model.place(dataset, name, self.schema) if name else None
                if name and place is None:
                    self.problems.append((f"{dataset.name}.{what}", f"there is no field {name}"))
                own = table.column(place[1]) if place is not None and place[0] == table.name else None
                if what == "amount" and own is not None:  # it is also called by the words for any amount
                    tree = _column(table.name, own.name)
                    for word in ANY_AMOUNT:
                        self._add(table.name, word, own.type, Meaning(table.name, tree, tree, is_amount=True), "")
            if dataset.hidden is not None:
                with self._problem_noted(f"{dataset.name}.hidden"):
                    self._hidden(dataset, table, dataset.hidden)
        tables = tuple(replace(t, columns=(*t.columns, *self.added.get(t.name, ()))) for t in self.schema.tables)
        schema, called = Schema(self.schema.dialect, tables), dict(self._other_names())
        return ModelView(schema, self.meanings, tuple(self.problems), called, tuple(self.hidden))

    @contextmanager
    def _problem_noted(self, place: str) -> Iterator[None]:
        """Turn the reason why a part of the model does not fit into one of its problems."""
        try:
            yield
        except ValueError as problem:
            self.problems.append((place, str(problem)))

    def _other_names(self) -> Iterator[tuple[str, str]]:
        """The names and synonyms of datasets, in singular and plural, that nothing else in the schema is called."""
        words = {_spoken(name) for t in self.schema.tables for name in (t.name, *(c.name for c in t.columns))}
        used_stems = {light_stem(word) for word in words} | {light_stem(_spoken(name)) for _, name in self.meanings}
        for dataset in self.model.datasets:
            table = dataset.table_in(self.schema)
            for synonym in (dataset.name, *dataset.synonyms) if table is not None else ():
                spoken = _spoken(synonym)
                if table is not None and spoken and light_stem(spoken) not in used_stems:
                    yield spoken, _spoken(table.name)
                    yield f"{spoken}s", _spoken(table.name)

    def metric(self, metric: Metric) -> Meaning:
        """Raises ValueError with the reason why the metric does not fit."""
        tree = self._tree(metric.expression, None, 0)
        if not tree.find(exp.AggFunc):
            raise ValueError("the expression has no aggregate")
        used = list(dict.fromkeys(c.table for c in tree.find_all(exp.Column) if c.table))
        if not used:
            raise ValueError("the expression names no column of a dataset")
        host, steps = self._joined(used)
        self._check(tree, host, steps)
        only = tree if isinstance(tree, exp.Sum | exp.Avg | exp.Min | exp.Max) else None
        row = only.this if only is not None and not isinstance(only.this, exp.Distinct) else None
        return Meaning(host, tree, row, steps, metric.name)

    def condition(self, text: str) -> tuple[str, exp.Expr, tuple[Step, ...]]:
        """A condition in columns written `table.column`, with the table whose rows it is about and the joins that it
        needs. Raises ValueError."""
        tree = self._tree(Expression(text, "database"), None, 0)
        host, steps = self._joined(list(dict.fromkeys(c.table for c in tree.find_all(exp.Column))))
        return host, tree, steps

    def _field(self, dataset: Dataset, table: Table, one: Field) -> None:
        tree = self._tree(one.expression, dataset, 0)
        self._check(tree, table.name, ())
        real, inner = table.column(one.column) if one.column else None, tree.unnest()
        if isinstance(inner, exp.Predicate | exp.Connector | exp.Not):
            form = "BOOLEAN"
        else:
            figure = isinstance(inner, exp.Binary | exp.Neg | exp.Round) and not isinstance(inner, exp.DPipe)
            form = "REAL" if figure else "TEXT"
        kind = _TYPES.get(one.datatype) or (real.type if real else form)
        for name in one.names:
            if table.column(_slug(name)) is None:
                self._add(table.name, name, kind, Meaning(table.name, tree, tree), one.description)

    def _hidden(self, dataset: Dataset, table: Table, condition: Expression) -> None:
        tree = self._tree(condition, dataset, 0)
        if any(column.table != table.name for column in tree.find_all(exp.Column)):
            raise ValueError(f"the condition is not on {table.name} alone")
        if tree.find(exp.AggFunc, exp.Query, exp.Window):
            raise ValueError("the condition is not on single rows")
        self._check(tree, table.name, ())
        self.hidden.append(HiddenRows(table, denied_outside(tree), self.schema.dialect))

    def _add(self, table: str, name: str, kind: str, meaning: Meaning, described: str) -> None:
        key = (table.casefold(), _slug(name).casefold())
        host = self.schema.table(table)
        if key not in self.meanings and _slug(name) and host is not None and host.column(_slug(name)) is None:
            self.meanings[key] = meaning
            self.added.setdefault(table, []).append(Column(_slug(name), kind, comment=described or None))

    def _tree(self, expression: Expression, dataset: Dataset | None, depth: int) -> exp.Expr:
        """The expression with real, qualified columns. Raises ValueError."""
        if depth > 8:
            raise ValueError("its fields name each other in a circle")
        text: str | None = expression.own or expression.text
        if expression.sql != "database" and not expression.own:
            text = transpiled(expression.text, expression.sql, self.schema.dialect)
        if text is None:
            raise ValueError("the expression cannot be read")
        parsed = parse(f"SELECT {text}", self.schema.dialect)
        if not isinstance(parsed.tree, exp.Select) or len(parsed.tree.expressions) != 1 or parsed.tree.find(exp.Table):
            raise ValueError(f"the expression cannot be read: {parsed.error or 'one expression is expected'}")
        box = exp.paren(parsed.tree.expressions[0].unalias().copy(), copy=False)
        for column in list(box.find_all(exp.Column)):
            owner = self.model.dataset(column.table) if column.table else dataset or self._owner(column)
            table = owner.table_in(self.schema) if owner else self.schema.table(column.table) if column.table else None
            if table is None:
                raise ValueError(f"there is no dataset {column.table or 'for ' + column.name}")
            known = owner.field(column.name) if owner else None
            if known is not None and known.column is None and not (owner is dataset and table.column(column.name)):
                column.replace(exp.paren(self._tree(known.expression, owner, depth + 1), copy=False))
                continue
            real = table.column(known.column if known and known.column else column.name) or table.column(column.name)
            if real is None:
                raise ValueError(f"{table.name} has no column {column.name}")
            column.replace(_column(table.name, real.name))
        tree: exp.Expr = box.this
        return tree

    def _owner(self, column: exp.Column) -> Dataset | None:
        """The only dataset with a column that a metric names bare, or as dbt does: `entity__dimension`, where the
        entity is a field of the dataset; the column loses that prefix."""
        prefix, _, rest = column.name.rpartition("__")
        for own, entity in ((column.name, ""), (rest, prefix)):
            owners = [d for d in self.model.datasets if self._has(d, own) and (not entity or self._has(d, entity))]
            if len(owners) == 1:
                column.set("this", _name(own))
                return owners[0]
        return None

    def _has(self, dataset: Dataset, name: str) -> bool:
        table = dataset.table_in(self.schema)
        return bool(dataset.field(name)) or (table is not None and table.column(name) is not None)

    def _joined(self, used: list[str]) -> tuple[str, tuple[Step, ...]]:
        """The table from which all others are reached without repeating its rows, and the way. Raises ValueError."""
        for host in [*used, *(t.name for t in self.schema.tables)]:
            ways = self._ways(host)
            if all(name in ways for name in used):
                steps = dict.fromkeys(step for name in used for step in ways[name])
                return host, tuple(steps)
        raise ValueError(f"no join of {', '.join(used)} leaves each row single")

    def _ways(self, host: str) -> dict[str, tuple[Step, ...]]:
        ways: dict[str, tuple[Step, ...]] = {host: ()}
        waiting = deque([host])
        while waiting:
            here = waiting.popleft()
            for step in self.steps:
                if step.source == here and step.target not in ways:
                    ways[step.target] = (*ways[here], step)
                    waiting.append(step.target)
        return ways

    def _check(self, tree: exp.Expr, host: str, steps: tuple[Step, ...]) -> None:
        """Raises ValueError for an expression that may not run or names what does not exist."""
        parsed = parsed_from_tree(query_of(tree, host, steps), self.schema.dialect)
        verdict = check(parsed, self.schema)
        if not verdict.allowed:
            raise ValueError(f"the guard refuses it: {verdict.reason}")
        if phantoms := resolve(parsed, self.schema).phantoms:
            raise ValueError(f"the database has no {phantoms[0].text}")


def query_of(tree: exp.Expr, host: str, steps: tuple[Step, ...]) -> exp.Select:
    """The expression as the only output over its host and joins."""
    query = exp.Select(expressions=[tree.copy()], from_=exp.From(this=exp.Table(this=_name(host))))
    for step in steps:
        query.append("joins", _join(step, step.source))
    return query


def _slug(name: str) -> str:
    return re.sub(r"\W+", "_", name.strip()).strip("_")


def _spoken(name: str) -> str:
    return " ".join(_WORD.findall(name)).casefold()
