"""The real tables and columns behind the names of a query, and the words for them."""

from __future__ import annotations

from sqlglot import exp

from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import Vocabulary, vocabulary
from eval.databases.base import Database
from eval.schema import Schema, Table
from eval.sql import ParsedQuery
from eval.sql.scopes import bind
from eval.sql.sources import quoted_name


def words_of(database: Database, schema: Schema) -> Vocabulary:
    """The vocabulary of a schema with the forms in which the database stores dates and figures."""
    return vocabulary(schema, value_index(database, schema).stored_forms)


class Resolved:
    """The real columns behind the names of a query."""

    def __init__(self, parsed: ParsedQuery, schema: Schema) -> None:
        assert parsed.tree is not None
        self.dialect = parsed.dialect
        self._found = bind(parsed.tree, parsed.dialect, schema).columns

    def column(self, node: exp.Expr) -> tuple[str, str] | None:
        found = self._found.get(id(node))
        return found.origin if found else None

    def is_text(self, node: exp.Expr) -> bool:
        """Whether what stands in double quotes is no name."""
        found = self._found.get(id(node))
        return found is not None and found.is_string

    def source(self, node: exp.Expr) -> str:
        """The name of its source in FROM."""
        found = self._found.get(id(node))
        return found.source.name.casefold() if found and found.source else ""

    def qualifier(self, node: exp.Expr) -> exp.Identifier | None:
        """That name, as it stands in front of a column."""
        found = self._found.get(id(node))
        return quoted_name(found.source.name) if found and found.source else None

    def qualified(self, query: exp.Select) -> exp.Select:
        """A copy of the query, with the name of its source in front of each column."""
        changed = query.copy()
        for before, node in zip(query.find_all(exp.Column), changed.find_all(exp.Column), strict=True):
            if not node.table and (own := self.qualifier(before)) is not None:
                node.set("table", own)
        return changed


def tables_of(select: exp.Select, schema: Schema) -> dict[str, Table]:
    """The tables of a SELECT by their names in it; empty where it reads from anything else."""
    joins = select.args.get("joins") or []
    start = select.args.get("from_")
    if start is None or select.args.get("laterals") or any(join.method for join in joins):
        return {}
    made = {one.alias.casefold() for one in (select.args["with_"].expressions if select.args.get("with_") else ())}
    sources: dict[str, Table] = {}
    for node in (start.this, *(join.this for join in joins)):
        table = schema.table(node.name, node.db or None) if isinstance(node, exp.Table) else None
        if table is None or node.name.casefold() in made:
            return {}
        sources[node.alias_or_name.casefold()] = table
    return sources
