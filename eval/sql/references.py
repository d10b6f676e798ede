"""The names that a query refers to, and those that the database does not have.

In: a parsed query and a schema. Out: `References`, with the nearest real names for each phantom.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.binding import Unknown
from eval.sql.functions import functions
from eval.sql.guard import names_called
from eval.sql.nearest import nearest, similarity
from eval.sql.scopes import bind
from eval.sql.stack import with_headroom
from eval.sql.traversal import every
from eval.sql.types import ParsedQuery, Phantom, References

_NEAREST = 12
"""Phantoms of each kind that get their nearest names: finding them takes time, and nobody reads more."""


@with_headroom
def resolve(parsed: ParsedQuery, schema: Schema | None) -> References:
    """Resolve all names of a query against a schema, scope by scope; empty when there is no tree. Never raises.

    Without a schema, tables and columns are assumed to exist, and only functions are checked."""
    tree = parsed.tree
    if tree is None:
        return References()
    try:
        binding = bind(tree, parsed.dialect, schema)
    except RecursionError:
        return References()
    calls = list(_calls(tree, parsed.dialect))
    named = [
        _phantom(unknown, schema or Schema(parsed.dialect), number < _NEAREST)
        for number, unknown in enumerate(binding.unknown)
    ]
    return References(
        tables=tuple(binding.tables),
        columns=tuple(binding.used),
        functions=tuple(dict.fromkeys(name for name, _ in calls)),
        phantoms=tuple(dict.fromkeys([*named, *(phantom for _, phantom in calls if phantom is not None)])),
    )


def _calls(tree: exp.Expression, dialect: Dialect) -> Iterator[tuple[str, Phantom | None]]:
    known = functions(dialect)
    near: dict[str, tuple[str, ...]] = {}
    for node in every(tree, exp.Func):
        for name in names_called(node, dialect):
            function = known.get(name)
            if function is None:
                if name not in near:
                    near[name] = nearest(name, known) if len(near) < _NEAREST else ()
                yield name, Phantom("function", name, near[name])
            elif isinstance(node, exp.Anonymous) and not function.accepts(_argument_count(node)):
                yield name, Phantom("function", name, (function.form,))
            else:
                yield name, None


def _argument_count(call: exp.Anonymous) -> int:
    return sum(len(a.expressions) if isinstance(a, exp.Distinct) else 1 for a in call.expressions)


def _phantom(unknown: Unknown, schema: Schema, with_nearest: bool) -> Phantom:
    if unknown.kind == "table":
        if not with_nearest:
            return Phantom("table", unknown.name)
        return Phantom("table", unknown.name, nearest(unknown.name.rsplit(".", 1)[-1], (t.name for t in schema.tables)))
    written = f"{unknown.qualifier}.{unknown.name}" if unknown.qualifier else unknown.name
    if unknown.kind == "ambiguous":
        return Phantom("ambiguous", written, unknown.holders)
    return Phantom("column", written, _nearest_columns(unknown, schema) if with_nearest else ())


def _nearest_columns(unknown: Unknown, schema: Schema) -> tuple[str, ...]:
    """Columns of the sources in scope, then the tables that do have exactly that column, best first."""
    sources = [source for scope in unknown.scope.outwards() for source in scope.sources]
    ranked: list[tuple[float, str]] = []
    for source in sources:
        mine = unknown.qualifier is not None and source.name.casefold() == unknown.qualifier.casefold()
        for output in source.relation.outputs:
            if output.name is None:
                continue
            score = similarity(unknown.name[:100], output.name[:100]) + (0.04 if mine else 0.0)
            if score >= 0.5:
                ranked.append((score, f"{source.name}.{output.name}" if len(sources) > 1 else output.name))
    elsewhere = [
        f"{table.name}.{column.name}" for table in schema.tables if (column := table.column(unknown.name)) is not None
    ]
    ranked.sort(key=lambda r: -r[0])
    strong = [name for score, name in ranked if score >= 0.8]
    return tuple(dict.fromkeys([*strong, *elsewhere, *(name for _, name in ranked)]))[:3]
