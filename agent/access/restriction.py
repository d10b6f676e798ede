"""What a grant leaves of a schema and of a query.

In: a grant, the whole schema, and trees that the guard allowed. Out: the visible schema; and trees in which each table
is a subquery over its visible columns and rows. A table that the person may not see is refused by name. CTEs get new
names, so that no reference that was taken for a CTE can reach a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from agent.access.policies import BadPolicies, Grant, Mask, TableRule
from eval.databases.types import DatabaseError
from eval.language.inflection import light_stem
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql import check, parse, parsed_from_tree, resolve
from eval.sql.sources import quoted_column, quoted_name, table_source
from eval.sql.table_places import means_cte

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

ALL_ROWS = 9_223_372_036_854_775_807
"""LIMIT of a table with a condition on rows. No engine moves a condition of the query into a subquery with a LIMIT, so
no error of such a condition can tell of a hidden row."""
_SPARKS_MOST = 2_147_483_647
"""Spark's LIMIT is a 32-bit number: of a table with a condition on rows, no more visible rows are read."""


class NotVisible(DatabaseError):
    """A statement names something that the person may not see, or that does not exist; the message is the same."""

    END = "that is visible to you."

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"There is no {kind} {name} {self.END}")


@dataclass(frozen=True)
class TableView:
    """A table as the person sees it."""

    source: Table
    columns: tuple[tuple[Column, exp.Expr | None], ...]
    """The visible columns with the expression of those that are masked."""
    rows: exp.Expr | None
    limit: int = ALL_ROWS

    @property
    def open_columns(self) -> frozenset[str]:
        return frozenset(column.name for column, mask in self.columns if mask is None)

    @cached_property
    def query(self) -> exp.Select:
        """The visible columns and rows; copy it to use it."""
        query = exp.Select(
            expressions=[
                quoted_column(c.name) if mask is None else exp.alias_(mask.copy(), c.name, quoted=True)
                for c, mask in self.columns
            ],
            from_=exp.From(this=table_source(self.source)),
        )
        if self.rows is not None:
            query.set("where", exp.Where(this=self.rows.copy()))
            query.set("limit", exp.Limit(expression=exp.Literal.number(self.limit)))
        return query


@dataclass(frozen=True)
class Restriction:
    """A grant applied to one schema."""

    schema: Schema
    """What is visible of it."""
    views: Mapping[tuple[str | None, str], TableView]
    """By namespace and name."""
    hidden: Mapping[str, tuple[str, ...]]
    """Names of hidden tables and columns that nothing visible shares, with the stems of their words."""

    def view(self, name: str, namespace: str | None) -> TableView | None:
        table = self.schema.table(name, namespace)
        return None if table is None else self.views[table.namespace, table.name]


def restriction(grant: Grant, schema: Schema) -> Restriction:
    """Raises BadPolicies where a rule does not fit the schema."""
    _check_names(grant, schema)
    views: dict[tuple[str | None, str], TableView] = {}
    for table in schema.tables:
        rule = grant.table(table.name, table.namespace)
        view = _view(table, rule, grant, schema) if rule else None
        if view is not None and view.columns:
            views[table.namespace, table.name] = view
    tables = tuple(_visible(view, schema, views) for view in views.values())
    visible = Schema(schema.dialect, tables)
    seen = {stems(name) for name in _names(visible)}
    hidden = {name: words for name in _names(schema) if (words := stems(name)) and words not in seen}
    return Restriction(visible, views, hidden)


def _names(schema: Schema) -> Iterator[str]:
    for table in schema.tables:
        yield table.name
        yield from (column.name for column in table.columns)


def stems(text: str) -> tuple[str, ...]:
    """The words of a name or a question, without their endings."""
    return tuple(light_stem(word) for word in _WORD.findall(_HUMP.sub(" ", text).casefold()))


def _check_names(grant: Grant, schema: Schema) -> None:
    """Every table and column that the rule names has to exist: a mistyped name would leave the real one visible."""
    if grant.rule is None or grant.rule.tables == "visible":
        return
    for name, rule in grant.rule.tables.items():
        if name == "*":
            continue
        namespace, _, bare = name.rpartition(".")
        table = schema.table(name) or (schema.table(bare, namespace) if namespace else None)
        if table is None:
            raise BadPolicies(f"The policies name the table {name}, which {grant.rule.database} does not have.")
        for column in rule.columns if isinstance(rule, TableRule) else ():
            if column != "*" and table.column(column) is None:
                raise BadPolicies(f"The policies name the column {name}.{column}, which does not exist.")


def _view(table: Table, rule: TableRule, grant: Grant, schema: Schema) -> TableView | None:
    """None where the condition uses an attribute that the person does not have; a mask that does hides its column."""
    visibility = {name.casefold(): value for name, value in rule.columns.items()}
    columns: list[tuple[Column, exp.Expr | None]] = []
    for column in table.columns:
        shown = visibility.get(column.name.casefold(), visibility.get("*", "visible"))
        if isinstance(shown, Mask):
            mask = _expression(shown.mask, table, grant, schema)
            columns += [(column, mask)] if mask is not None else []
        elif shown == "visible":
            columns.append((column, None))
    if not rule.rows:
        return TableView(table, tuple(columns), None)
    rows = _expression(rule.rows, table, grant, schema)
    limit = _SPARKS_MOST if schema.dialect == "spark" else ALL_ROWS
    return None if rows is None else TableView(table, tuple(columns), rows, limit)


def _expression(text: str, table: Table, grant: Grant, schema: Schema) -> exp.Expr | None:
    """An expression of the policies with the person's attributes in it; None if one of them is missing. Raises
    BadPolicies."""
    parsed = parse(f"SELECT {text}", schema.dialect)
    tree = parsed.tree
    parts = [part for part, value in tree.args.items() if value] if tree else []
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or parts != ["expressions"]:
        raise BadPolicies(f"The policies on {table.name} hold {text!r}, which is not one SQL expression.")
    for placeholder in list(tree.find_all(exp.Placeholder)):
        value = grant.person.attribute(placeholder.name)
        if value is None:
            return None
        if isinstance(value, tuple) and not isinstance(placeholder.parent, exp.In):
            raise BadPolicies(f"The policies on {table.name} use the list :{placeholder.name} outside of IN (...).")
        values = value if isinstance(value, tuple) else (value,)
        literals = [exp.convert(one) for one in values] or [exp.null()]
        placeholder.replace(literals if isinstance(placeholder.parent, exp.In) else literals[0])
    query = tree.copy()
    query.set("from_", exp.From(this=table_source(table)))
    verdict = check(parsed_from_tree(query, schema.dialect), schema)
    phantoms = resolve(parsed_from_tree(query, schema.dialect), schema).phantoms
    if not verdict.allowed or phantoms:
        why = verdict.reason or f"names the unknown {phantoms[0].text}"
        raise BadPolicies(f"The policies on {table.name} hold {text!r}, which {why}.")
    return exp.paren(tree.expressions[0].pop(), copy=False)


def _visible(view: TableView, schema: Schema, views: dict[tuple[str | None, str], TableView]) -> Table:
    """The table's structure without what is hidden. A masked column is no key, because its values are not."""
    seen = view.open_columns
    table = view.source
    key = table.primary_key if set(table.primary_key) <= seen else ()

    def reaches(foreign: ForeignKey) -> bool:
        target = schema.table(foreign.ref_table)
        view = views.get((target.namespace, target.name)) if target else None
        return view is not None and set(foreign.ref_columns) <= view.open_columns

    return replace(
        table,
        columns=tuple(
            replace(c, primary_key=c.primary_key and c.name in key, default=c.default if c.name in seen else None)
            for c, _ in view.columns
        ),
        primary_key=key,
        foreign_keys=tuple(k for k in table.foreign_keys if set(k.columns) <= seen and reaches(k)),
        indexes=tuple(i for i in table.indexes if set(i.columns) <= seen),
        row_count=table.row_count if view.rows is None else None,
    )


def restrict(tree: exp.Expr, allowed: Restriction) -> list[TableView]:
    """Turn the query, in place, into one over what is visible, and return the tables that it reads. Raises
    NotVisible."""
    references = [(table, means_cte(table, allowed.schema.dialect)) for table in tree.find_all(exp.Table)]
    for node in tree.find_all(exp.In) if allowed.schema.dialect == "sqlite" else ():
        if node.args.get("field") is not None:  # SQLite reads `x IN name` from a table
            raise NotVisible("table", "behind IN without SELECT")
    for select in tree.find_all(exp.Select) if allowed.schema.dialect == "clickhouse" else ():
        if select.args.get("prewhere") is not None:  # which only a table itself may have
            select.where(select.args["prewhere"].pop().this, copy=False)
    for cte in [cte for cte in tree.find_all(exp.CTE) if not cte.args.get("scalar")]:
        cte.args["alias"].set("this", _renamed(cte.args["alias"].this))
    read = []
    for table, is_cte in references:
        if not isinstance(table.this, exp.Identifier):
            continue  # a function that gives rows
        if is_cte:
            alias = table.args.get("alias") or exp.TableAlias()
            if alias.args.get("this") is None:
                alias.set("this", table.this.copy())
            table.set("alias", alias)
            table.set("this", _renamed(table.this))
        else:
            read.append(_replace(table, allowed))
    for column in tree.find_all(exp.Column):
        column.set("db", None)
        column.set("catalog", None)
    return read


def _renamed(name: exp.Identifier) -> exp.Identifier:
    return quoted_name(f"{name.name.casefold()} of the query")


def _replace(table: exp.Table, allowed: Restriction) -> TableView:
    view = allowed.view(table.name, table.args["db"].name if table.args.get("db") else None)
    if view is None:
        raise NotVisible("table", table.name)
    source = view.query.copy()
    if table.args.get("sample"):
        if view.rows is not None:  # it would be drawn from the hidden rows, too
            raise NotVisible("sample of", table.name)
        source.args["from_"].this.set("sample", table.args["sample"].pop())
    alias = table.args.get("alias") or exp.TableAlias()
    if alias.args.get("this") is None:
        alias.set("this", table.this.copy())
    subquery = exp.Subquery(this=source, alias=alias.pop() if alias.parent else alias)
    for part in ("joins", "laterals"):
        subquery.set(part, table.args.get(part))
    table.replace(subquery)
    return view
