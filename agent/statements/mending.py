"""A query that does not run, made one that does, without a model.

In: SQL as somebody or some model wrote it, and the database. Out: a query that ran, with every change told, or the
reason why there is none. A change is made only where the text, the names of the database or the engine's refusal give a
reason for it; whether the rows answer a question is for the judge to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.linking import shortest_way, ties
from agent.models.replies import UnusableReply, extract_sql
from agent.parser.sql_parts import identifier, table_named
from agent.statements.spelling import as_stored, without_escapes
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.schema import Dialect, Schema, Table
from eval.sql import ParsedQuery, check, parse, parsed_from_tree, resolve
from eval.sql.binding import Unknown
from eval.sql.bounds import with_headroom
from eval.sql.references import nearest
from eval.sql.scopes import bind
from eval.sql.sources import Source, same
from eval.sql.translation import translated
from eval.sql.traversal import conjuncts

_MOST_CHANGES = 12
_MOST_TEXT = 20_000
_ALIKE = 0.62
"""How alike a name has to be to stand for one that does not exist."""
_OTHER_DIALECTS: tuple[Dialect, ...] = ("postgres", "mysql", "duckdb", "snowflake", "bigquery", "tsql", "oracle")
_SPLIT_OPERATOR = re.compile(r"([<>!])\s{1,8}=")
_READS = re.compile(r"[\s(]{0,40}(?:select|with|values)\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")


@dataclass(frozen=True, slots=True)
class Mended:
    sql: str
    """The query that ran; the nearest one reached where none did."""
    changes: tuple[str, ...]
    """What was changed, in order, as sentences; empty for a query that ran as it was."""
    result: ExecutionResult | None
    """Its rows; None where nothing could be run."""
    problem: str = ""
    """Why there is no query that runs."""


@with_headroom
def mended(text: str, database: Database, *, limits: Limits | None = None, run: bool = True) -> Mended:
    """Blocking: runs the query; without `run` it is only compiled. Never raises for what the text holds; raises
    DatabaseError."""
    schema = database.schema()
    changes: list[str] = []
    parsed = _readable(text, database.dialect, changes)
    if parsed.tree is None:
        return Mended(text, tuple(changes), None, parsed.error or "cannot be read")
    if (stored := as_stored(parsed.text, schema, database.name)) != parsed.text:
        changes.append("Names are written as the database has them.")
        parsed = parse(stored, database.dialect)
    parsed = _in_own_words(parsed, schema, changes)
    parsed = _with_real_names(parsed, schema, changes)
    verdict = check(parsed, schema)
    if verdict.statement is None:
        return Mended(parsed.text, tuple(changes), None, verdict.reason or "refused")
    if not run:
        missing = "".join(f"there is no {one.text}" for one in resolve(parsed, schema).phantoms[:1])
        return Mended(parsed.text, tuple(changes), None, missing or database.refusal(verdict.statement) or "")
    result = database.execute(verdict.statement, limits=limits)
    if result.status == "error" and (other := _without_misuse(parsed, result.error or "", changes)):
        parsed, verdict = other, check(other, schema)
        if verdict.statement is not None:
            result = database.execute(verdict.statement, limits=limits)
    problem = "" if result.status == "success" else result.error or result.status
    return Mended(parsed.text, tuple(changes), result, problem)


# The text


def _readable(text: str, dialect: Dialect, changes: list[str]) -> ParsedQuery:
    """The first form of the text that is one statement; the text's own error where none is."""
    first = parse(text, dialect)
    if first.tree is not None:
        return first
    for form, told in _forms(text):
        parsed = parse(form, dialect)
        if parsed.tree is not None:
            changes.append(told)
            return parsed
        if (other := _translated(form, dialect)) is not None:
            changes += [told, other.told] if told else [other.told]
            return other.parsed
    return first


def _forms(text: str) -> Iterator[tuple[str, str]]:
    """Each form with what was changed, each built on the one before."""
    told: list[str] = []
    yield text, ""
    try:
        inner = extract_sql(text)
    except UnusableReply:
        inner = text
    if inner.strip() != text.strip():
        text, told = inner, ["what stood around the query is left out"]
        yield text, _sentence(told)
    for change, why in (
        (without_escapes, "backslashes are left out"),
        (_without_rest, "what follows the query is left out"),
        (_with_whole_operators, "the parts of `>=`, `<=` or `!=` are put together"),
        (_with_one_where, "the second WHERE is a further condition"),
        (_balanced, "quotes and brackets are closed"),
    ):
        if (changed := change(text)) != text:
            text, told = changed, [*told, why]
            yield text, _sentence(told)


def _sentence(parts: list[str]) -> str:
    said = "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _without_rest(text: str) -> str:
    """Up to a sign that no query holds."""
    kept = re.split(r"[\\;]|```|\n\s*\n|\[/|<\|", _QUOTED.sub(lambda found: " " * len(found.group()), text))[0]
    return text[: len(kept)] if kept.strip() else text


def _with_whole_operators(text: str) -> str:
    kept, place = [], 0
    for quoted in _QUOTED.finditer(text):
        kept += [_SPLIT_OPERATOR.sub(r"\1=", text[place : quoted.start()]), quoted.group()]
        place = quoted.end()
    return "".join([*kept, _SPLIT_OPERATOR.sub(r"\1=", text[place:])])


def _with_one_where(text: str) -> str:
    """`… WHERE a WHERE b` on one level: `… WHERE a AND b`."""
    depth, seen = 0, set()
    parts = re.split(r"(\(|\)|\b(?:where|select)\b|'[^']*'|\"[^\"]*\")", text, flags=re.IGNORECASE)
    for place, part in enumerate(parts):
        depth += (part == "(") - (part == ")")
        word = part.lower()
        if word == "select":
            seen.discard(depth)
        elif word == "where" and depth in seen:
            parts[place] = "AND"
        elif word == "where":
            seen.add(depth)
    return "".join(parts)


def _balanced(text: str) -> str:
    rest = _QUOTED.sub("", text)
    for sign in "'\"`":
        if sign in rest and rest.count(sign) == 1:
            place = text.rindex(sign)
            text = text[:place] + text[place + 1 :] if text[place + 1 :].strip(" ;)") == "" else text + sign
            rest = _QUOTED.sub("", text)
    open_ones = rest.count("(") - rest.count(")")
    text = text.rstrip(" ;\n")
    while open_ones < 0 and text.endswith(")"):
        text, open_ones = text[:-1], open_ones + 1
    return text + ")" * max(open_ones, 0)


@dataclass(frozen=True, slots=True)
class _Translated:
    parsed: ParsedQuery
    told: str


def _translated(text: str, dialect: Dialect) -> _Translated | None:
    if not _READS.match(text):
        return None
    for other in _OTHER_DIALECTS:
        if other == dialect:
            continue
        parsed = parse(translated(text[:_MOST_TEXT], other, dialect), dialect)
        if parsed.tree is not None and check(parsed).allowed:
            return _Translated(parsed, f"It is written for {other}, and is translated.")
    return None


def _in_own_words(parsed: ParsedQuery, schema: Schema, changes: list[str]) -> ParsedQuery:
    """Translated where the guard or the functions show another dialect."""
    if check(parsed, schema).allowed and not resolve(parsed, schema).named("function"):
        return parsed
    other = _translated(parsed.text, parsed.dialect)
    if other is None or resolve(other.parsed, schema).named("function"):
        return parsed
    changes.append(other.told)
    return other.parsed


# The names


def _with_real_names(parsed: ParsedQuery, schema: Schema, changes: list[str]) -> ParsedQuery:
    for _ in range(_MOST_CHANGES):
        assert parsed.tree is not None
        tree = parsed.tree.copy()
        bound = bind(tree, parsed.dialect, schema)
        selects = {id(one.scope): one.select for one in bound.froms}
        told = None
        for unknown in bound.unknown:
            if told := _mend(unknown, selects.get(id(unknown.scope)), tree, schema):
                break
        if told is None or told in changes[-1:]:  # it changes nothing
            return parsed
        changes.append(told)
        parsed = parsed_from_tree(tree, parsed.dialect)
    return parsed


def _mend(unknown: Unknown, select: exp.Select | None, tree: exp.Expression, schema: Schema) -> str | None:
    """Change one name in the tree, and say so. `select`: where the name cannot be found."""
    if unknown.kind == "table":
        bare = unknown.name.rpartition(".")[2]
        found = nearest(bare, (table.name for table in schema.tables), most=1, least=_ALIKE)
        if not found:
            return None
        for table in tree.find_all(exp.Table):
            if same(table.name, bare):
                table.set("this", identifier(found[0]))
        for column in tree.find_all(exp.Column):
            if same(column.table, bare):
                column.set("table", identifier(found[0]))
        return f"There is no table `{unknown.name}`; `{found[0]}` is taken."
    nodes = [
        node
        for node in (select or tree).find_all(exp.Column)
        if same(node.name, unknown.name)
        and same(node.table, unknown.qualifier or "")
        and (select is None or node.find_ancestor(exp.Select) is select)
    ]
    if not nodes:
        return None
    if unknown.kind == "ambiguous":
        _qualify(nodes, _visible(unknown, unknown.holders[0]))
        return f"`{unknown.name}` is that of {unknown.holders[0]}, where several have one."
    return (
        _from_a_key(unknown, nodes)
        or _from_another(unknown, nodes)
        or (select is not None and _from_a_neighbour(unknown, nodes, select, schema))
        or (select is not None and _from_afar(unknown, nodes, select, schema))
        or _from_a_like_name(unknown, nodes)
    )


def _sources(unknown: Unknown) -> list[Source]:
    own = list(unknown.scope.sources)
    return own + list(unknown.scope.outer.sources) if unknown.scope.outer else own


def _from_a_key(unknown: Unknown, nodes: list[exp.Column]) -> str | None:
    """The column is held against one that a key links to another column of the same table."""
    sources = {s.name.casefold(): s.relation.table for s in _sources(unknown)}
    for node in nodes:
        pair = node.parent
        other = (pair.right if pair.left is node else pair.left) if isinstance(pair, exp.EQ) else None
        own, far = sources.get(node.table.casefold()), None
        if isinstance(other, exp.Column):
            far = sources.get(other.table.casefold())
        if own is None or far is None or not isinstance(other, exp.Column):
            continue
        link = _link(own, far, node.table)
        if isinstance(link, exp.EQ) and same(link.right.name, other.name):
            node.set("this", identifier(link.left.name))
            return f"There is no column `{unknown.name}` there; the key is `{link.left.name}`."
    return None


def _from_another(unknown: Unknown, nodes: list[exp.Column]) -> str | None:
    """The column is that of another source of the same query."""
    holders = [
        s.name for s in _sources(unknown) if any(same(o.name, unknown.name) for o in s.relation.outputs if o.name)
    ]
    if not holders or not unknown.qualifier:
        return None
    _qualify(nodes, _visible(unknown, holders[0]))
    return f"`{unknown.name}` is that of {holders[0]}, not of {unknown.qualifier}."


def _from_a_neighbour(unknown: Unknown, nodes: list[exp.Column], select: exp.Select, schema: Schema) -> str | None:
    """The column is that of a table which one key links to one of the query's: first to the one that it was said to be
    of."""
    own = [(s.name, s.relation.table) for s in unknown.scope.sources if s.relation.table]
    named = [(name, table) for name, table in own if same(name, unknown.qualifier or "")]
    for sources in (named, own) if named else (own,):
        found: dict[str, exp.Join] = {}
        for source, its_table in sources:
            for table in schema.tables:
                if table.column(unknown.name) is None or any(same(s.name, table.name) for s in unknown.scope.sources):
                    continue
                if (link := _link(its_table, table, _visible(unknown, source))) is not None:
                    found.setdefault(table.name, exp.Join(this=table_named(table), on=link))
        if len(found) == 1:
            [(name, join)] = found.items()
            select.append("joins", join)
            _qualify(nodes, identifier(name))
            return f"`{unknown.name}` is that of {name}, which is joined."
    return None


def _from_afar(unknown: Unknown, nodes: list[exp.Column], select: exp.Select, schema: Schema) -> str | None:
    """The column is that of the only table that has one, to which several keys lead from one of the query's."""
    own = {s.relation.table.name: s.name for s in unknown.scope.sources if s.relation.table}
    tables = {t.name: t for t in schema.tables}
    holders = [name for name, table in tables.items() if table.column(unknown.name) is not None]
    way = shortest_way(holders[0], own, ties(schema)) if len(holders) == 1 else []

    def written(table: str) -> exp.Identifier:
        return _visible(unknown, own[table]) if table in own else identifier(table)

    for name, owner, key in way:
        link = _equal(written(owner), key.columns, written(key.ref_table), key.ref_columns)
        select.append("joins", exp.Join(this=table_named(tables[name]), on=link))
    if not way:
        return None
    _qualify(nodes, identifier(holders[0]))
    return f"`{unknown.name}` is that of {holders[0]}, which is joined by {len(way)} keys."


def _link(own: Table, other: Table, own_name: exp.Identifier | str) -> exp.Condition | None:
    pairs = [
        (key.columns, key.ref_columns, mine)
        for table, to, mine in ((own, other, True), (other, own, False))
        for key in table.foreign_keys
        if same(key.ref_table, to.name)
    ]
    if len(pairs) != 1:
        return None
    columns, to_columns, mine = pairs[0]
    own_columns, other_columns = (columns, to_columns) if mine else (to_columns, columns)
    return _equal(own_name, own_columns, identifier(other.name), other_columns)


def _equal(
    one: exp.Identifier | str, columns: Sequence[str], other: exp.Identifier, other_columns: Sequence[str]
) -> exp.Condition:
    """The condition that two tables' columns are equal in pairs, each qualified by the table's name in the query."""
    pairs = zip(columns, other_columns, strict=True)
    return exp.and_(*(exp.column(identifier(a), one).eq(exp.column(identifier(b), other)) for a, b in pairs))


def _from_a_like_name(unknown: Unknown, nodes: list[exp.Column]) -> str | None:
    sources = [s for s in _sources(unknown) if not unknown.qualifier or same(s.name, unknown.qualifier)]
    names = {o.name: s.name for s in sources for o in s.relation.outputs if o.name}
    found = nearest(unknown.name, names, most=1, least=_ALIKE)
    if not found:
        return None
    for node in nodes:
        node.set("this", identifier(found[0]))
    if not unknown.qualifier and len(sources) > 1:
        _qualify(nodes, _visible(unknown, names[found[0]]))
    return f"There is no column `{unknown.name}` there; `{found[0]}` is taken."


def _qualify(nodes: list[exp.Column], name: exp.Identifier) -> None:
    for node in nodes:
        node.set("table", name.copy())


def _visible(unknown: Unknown, name: str) -> exp.Identifier:
    """The name of a source as the query writes it: one that stands there bare may not be quoted elsewhere."""
    node = next((s.node for s in _sources(unknown) if s.name == name), None)
    alias = node.args.get("alias") if node is not None else None
    written = alias.this if alias is not None else node.this if isinstance(node, exp.Table) else None
    return written if isinstance(written, exp.Identifier) else identifier(name)


# The engine's refusal


def _without_misuse(parsed: ParsedQuery, error: str, changes: list[str]) -> ParsedQuery | None:
    """Aggregates where the engine takes none: a condition on one belongs behind the groups, and an order by one needs
    groups."""
    if parsed.tree is None or "aggregate" not in error.lower():
        return None
    tree = parsed.tree.copy()
    for select in tree.find_all(exp.Select):
        where, order = select.args.get("where"), select.args.get("order")
        if where is not None and select.args.get("group"):
            parts = conjuncts(where.this)
            of_groups = [part for part in parts if part.find(exp.AggFunc)]
            if of_groups:
                rows = [part for part in parts if part not in of_groups]
                select.set("where", exp.Where(this=exp.and_(*rows)) if rows else None)
                select.having(*of_groups, copy=False)
                changes.append("A condition on a figure of the groups stands behind them (HAVING).")
                return parsed_from_tree(tree, parsed.dialect)
        if (
            order is not None
            and not select.args.get("group")
            and not any(e.find(exp.AggFunc) for e in select.expressions)
        ):
            for call in [*order.find_all(exp.AggFunc)]:
                call.replace(call.this)
            changes.append("Without groups, rows are sorted by the column itself, not by a figure of it.")
            return parsed_from_tree(tree, parsed.dialect)
    return None
