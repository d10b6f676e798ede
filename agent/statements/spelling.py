"""A model's query with signs and names as the engine has them.

In: SQL as a model wrote it, the schema, and the name of the opened database. Out: the same query, or the same with only
those changes that leave one reading: the escapes of Markdown and JSON, typographic quotes, the case of names that the
engine compares exactly, the opened database in front of its own tables, PostgreSQL's money as the number that it is.
What is not in the schema stays as it is. `in_any_case`: texts compared whatever their case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

from sqlglot import exp

from eval.examination.stored_values import holds_text
from eval.schema import WRITTEN_DIALECTS, Schema
from eval.sql import parse
from eval.sql.bounds import with_headroom
from eval.sql.dialects import render
from eval.sql.scopes import bind
from eval.sql.sources import Scope, folded, quoted_name, real_table, same
from eval.sql.table_places import means_cte
from eval.sql.traversal import every

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")
_ESCAPE = re.compile(r"\\([nrt]|[_*<>=()\[\]\"'`.#+-])")
_CURLY: dict[str, str | int | None] = {"‘": "'", "’": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "\u00a0": " "}
_CURLY_TEXT = re.compile(r"[‘’‚]([^‘’‚'\n]*)[‘’‚]")


@with_headroom
def as_stored(text: str, schema: Schema, opened: str) -> str:
    """`opened`: the name of the database that the query is run on. Never raises for what the text holds."""
    if schema.dialect in WRITTEN_DIALECTS:
        return text
    parsed = parse(text, schema.dialect)
    if parsed.tree is None or _has_curly_names(parsed.tree, schema):
        plain = parse(without_escapes(text), schema.dialect)
        if plain.tree is None:
            return text
        text, parsed = plain.text, plain
    assert parsed.tree is not None
    tree = parsed.tree.copy()
    changed = _without_opened(tree, schema, opened)
    if schema.dialect == "postgres":
        changed = _with_exact_names(tree, schema) or changed
        changed = _with_money_as_numbers(tree, schema) or changed
    return render(tree, schema.dialect) if changed else text


def in_any_case(text: str, schema: Schema) -> str:
    """Text columns compared with words, such as `status = 'Cancelled'`, as `LOWER(status) = 'cancelled'`: for a
    database of which no row is known, so nobody can tell how it spells them. MySQL compares so by itself."""
    parsed = parse(text, schema.dialect)
    if parsed.tree is None or schema.dialect == "mysql":
        return text
    tree = parsed.tree.copy()
    binding = bind(tree, schema.dialect, schema)
    changed = False
    for node in every(tree, exp.EQ, exp.NEQ, exp.In):
        place = binding.stored(id(node.this), schema)
        values = node.expressions if isinstance(node, exp.In) else [node.expression]
        words = [v for v in values if isinstance(v, exp.Literal) and v.is_string and v.name.lower() != v.name.upper()]
        free = place is not None and holds_text(place[1]) and "enum" not in place[1].type.lower()
        if free and words and len(words) == len(values):
            for word in words:
                word.replace(exp.Literal.string(word.name.lower()))
            node.set("this", exp.Lower(this=node.this))
            changed = True
    return render(tree, schema.dialect) if changed else text


def _has_curly_names(tree: exp.Expression, schema: Schema) -> bool:
    """Whether `’saw’` was read as a name, though no name of the schema holds such a sign."""
    if not any(sign in name.name for name in every(tree, exp.Identifier) for sign in _CURLY):
        return False
    stored = (name for table in schema.tables for name in (table.name, *(c.name for c in table.columns)))
    return not any(sign in name for name in stored for sign in _CURLY)


def without_escapes(text: str) -> str:
    r"""Outside quotes: `customer\_id` is customer_id, `\n` a blank, `&lt;` is <, and a text in ’…’ is one in '…'."""
    kept, place = [], 0
    for quoted in [*_QUOTED.finditer(text), None]:
        bare = text[place : quoted.start() if quoted else len(text)]
        bare = unescape(bare)
        bare = _CURLY_TEXT.sub(lambda found: f"'{found[1]}'", bare)
        bare = _ESCAPE.sub(lambda found: " " if found[1] in "nrt" else found[1], bare)
        kept.append(bare.translate(str.maketrans(_CURLY)))
        if quoted:
            kept.append(quoted.group())
            place = quoted.end()
    return "".join(kept)


def _without_opened(tree: exp.Expression, schema: Schema, opened: str) -> bool:
    """Take the opened database away from in front of its own tables and their columns."""
    namespaces = {(table.namespace or "").casefold() for table in schema.tables}
    if not opened or opened.casefold() in namespaces:
        return False
    changed = False
    for node in every(tree, exp.Table, exp.Column):
        for part in ("catalog", "db"):
            if isinstance(node.args.get(part), exp.Identifier) and same(node.args[part].name, opened):
                bare = exp.Table(this=node.args["table" if isinstance(node, exp.Column) else "this"].copy())
                if part == "db" and real_table(bare, schema.dialect, schema) is None:
                    continue
                node.set(part, None)
                changed = True
    return changed


def _with_exact_names(tree: exp.Expression, schema: Schema) -> bool:
    """Quote names that exist in another case than the engine reads them in, where only one is meant."""
    changed = False
    for table in every(tree, exp.Table):
        if not isinstance(table.this, exp.Identifier) or means_cte(table, schema.dialect):
            continue
        if real_table(table, schema.dialect, schema) is None:
            stored = [
                t
                for t in schema.tables
                if same(t.name, table.name) and (not table.db or same(t.namespace or "public", table.db))
            ]
            if len(stored) != 1:
                continue
            for column in every(tree, exp.Column):
                if not table.alias and same(column.table, table.name):
                    column.set("table", quoted_name(stored[0].name))
            table.set("this", quoted_name(stored[0].name))
            if table.db and stored[0].namespace:
                table.set("db", quoted_name(stored[0].namespace))
            changed = True
    for unknown in bind(tree, schema.dialect, schema).unknown:
        if unknown.kind != "column":
            continue
        stored_as = _spellings(unknown.name, unknown.qualifier, unknown.scope)
        if len(stored_as) != 1:
            continue
        for column in every(tree, exp.Column):
            named = column.name == unknown.name and same(column.table, unknown.qualifier or "")
            if named and folded(column.this, schema.dialect) not in stored_as:
                column.set("this", quoted_name(next(iter(stored_as))))
                changed = True
    return changed


def _with_money_as_numbers(tree: exp.Expression, schema: Schema) -> bool:
    """PostgreSQL's `money` has no average and is compared with no number; what is computed with it is cast."""
    if not any(column.type.lower() == "money" for table in schema.tables for column in table.columns):
        return False
    binding = bind(tree, schema.dialect, schema)
    changed = False
    for node in every(tree, exp.Column):
        place = binding.stored(id(node), schema)
        computed = isinstance(node.parent, exp.Func | exp.Binary | exp.Between | exp.In) and not isinstance(
            node.parent, exp.Cast | exp.Count
        )
        if place is not None and place[1].type.lower() == "money" and computed:
            node.replace(exp.cast(node.copy(), "numeric", dialect="postgres"))
            changed = True
    return changed


def _spellings(name: str, qualifier: str | None, scope: Scope | None) -> set[str]:
    """How the sources in sight spell a column of this name, the nearest that have one."""
    while scope is not None:
        sources: Iterable[str | None] = (
            output.name
            for source in scope.sources
            if qualifier is None or same(source.name, qualifier)
            for output in source.relation.outputs
        )
        if found := {stored for stored in sources if stored and same(stored, name)}:
            return found
        scope = scope.outer
    return set()
