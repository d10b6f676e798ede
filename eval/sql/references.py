"""The names that a query refers to, and those that the database does not have.

In: a parsed query and a schema. Out: `References`, with the nearest real names for each phantom. Names are compared as
people misremember them (`similarity`): case and separators are ignored, plural equals singular, the same words in
another order are near, and so is a name that contains the other. After that, edit distance decides, in which two
swapped neighbours are one edit (optimal string alignment).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rapidfuzz.distance import OSA
from sqlglot import exp

from eval.language.words import singular_words
from eval.schema import Dialect, Schema
from eval.sql.binding import Unknown
from eval.sql.bounds import with_headroom
from eval.sql.functions import functions
from eval.sql.guard import names_called
from eval.sql.scopes import bind
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
            elif isinstance(node, exp.Anonymous) and not function.accepts(
                sum(len(a.expressions) if isinstance(a, exp.Distinct) else 1 for a in node.expressions)
            ):
                yield name, Phantom("function", name, (function.form,))
            else:
                yield name, None


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


def similarity(wanted: str, name: str) -> float:
    """0..1, where 1 means equal except for case."""
    a, b = wanted.casefold(), name.casefold()
    if a == b:
        return 1.0
    left, right = singular_words(wanted), singular_words(name)
    if left and sorted(left) == sorted(right):
        return 0.98 if left == right else 0.95
    flat_a, flat_b = "".join(left) or a, "".join(right) or b
    if flat_a == flat_b:
        return 0.97
    letters = 1.0 - OSA.distance(flat_a, flat_b) / max(len(flat_a), len(flat_b))
    common = len(set(left) & set(right))
    shared = common / max(len(set(left) | set(right)), 1)
    score = max(letters, 0.55 * letters + 0.4 * shared)
    shorter, longer = sorted((flat_a, flat_b), key=len)
    if len(shorter) >= 2 and longer.startswith(shorter):
        score = max(score, 0.6 + 0.3 * len(shorter) / len(longer))
    elif len(shorter) >= 3 and (longer.endswith(shorter) or (common and set(left) <= set(right))):
        score = max(score, 0.55 + 0.3 * len(shorter) / len(longer))
    return min(score, 0.94)


def nearest(wanted: str, names: Iterable[str], most: int = 3, least: float = 0.5) -> tuple[str, ...]:
    """Up to `most` names with a similarity of at least `least`, best first; ties keep the given order."""
    scored = [(similarity(wanted[:100], name[:100]), name) for name in dict.fromkeys(names)]
    kept = sorted((s for s in scored if s[0] >= least), key=lambda s: -s[0])
    return tuple(name for _, name in kept[:most])
