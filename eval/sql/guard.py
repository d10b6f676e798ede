"""The guard: the only place that decides whether a statement may run.

In: a `ParsedQuery`. Out: a `Verdict` with either the SQL to send, generated back from the tree, or the reason why
nothing is sent. Every rule is an allow-list: of root nodes, of node types, of the arguments that a table or a SELECT
may carry, and of functions. Anything that is not listed is refused.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from eval.language.lexicon import word_set
from eval.schema import WRITTEN_DIALECTS, Dialect, Schema
from eval.sql.bounds import with_headroom
from eval.sql.dialects import faithful, render
from eval.sql.engine_forms import strictly_grouped, written_for_clickhouse, written_for_spark
from eval.sql.functions import functions
from eval.sql.implicit_calls import call_by_name, function_argument, implicit_call, state_type, table_behind_in
from eval.sql.nodes import KEYWORD_CALLS, NODES, called_name
from eval.sql.sources import outside_the_data
from eval.sql.traversal import every, unchanging
from eval.sql.types import ParsedQuery, Verdict
from eval.sql.value_sizes import oversized
from eval.statement import ReadStatement

_ROOTS = (exp.Select, exp.SetOperation, exp.Values, exp.Subquery)

_SELECT_PARTS = word_set(
    """
    prewhere with_ expressions distinct from_ joins laterals where group having qualify windows order limit offset
    sample
    """
)
_TABLE_PARTS = word_set("this alias db catalog joins laterals ordinality indexed sample hints")

_PLAIN_NAME = re.compile(r"[^\W][\w$]*")

_PATH_LIKE = re.compile(r"[/\\:*?\[\]~]|\.[A-Za-z0-9]+$")

_FILE_ENDINGS = word_set(
    """
    csv tsv txt json jsonl ndjson geojson parquet avro arrow xlsx gz zst bz2 db ddb duckdb sqlite sqlite3 shp gpkg
    fgb vortex orc
    """
)
"""DuckDB reads the table `sales.csv` from the file of that name where there is no schema `sales`."""

_WORDS = {
    exp.Command: "is a command, not a query",
    exp.Into: "writes its result (SELECT ... INTO)",
    exp.Lock: "locks rows (FOR UPDATE, FOR SHARE)",
    exp.Hint: "carries an optimizer hint",
    exp.Placeholder: "has a parameter placeholder",
    exp.Parameter: "reads or sets a variable or parameter",
    exp.SessionParameter: "reads a server variable (@@...)",
    exp.Insert: "writes (INSERT)",
    exp.Update: "writes (UPDATE)",
    exp.Delete: "writes (DELETE)",
    exp.Merge: "writes (MERGE)",
    exp.Create: "creates objects (CREATE)",
    exp.Drop: "drops objects (DROP)",
    exp.Alter: "alters objects (ALTER)",
    exp.TruncateTable: "empties tables (TRUNCATE)",
    exp.Set: "changes settings (SET)",
    exp.Pragma: "is a PRAGMA",
    exp.Attach: "attaches a database (ATTACH)",
    exp.Detach: "detaches a database (DETACH)",
    exp.Copy: "copies to or from files (COPY)",
    exp.Columns: "uses COLUMNS(...), which cannot be checked",
    exp.Pivot: "uses PIVOT or UNPIVOT, which cannot be checked; write sum(CASE WHEN ... END) for each column",
}


@with_headroom
def check(parsed: ParsedQuery, schema: Schema | None = None) -> Verdict:
    """Decide whether a parsed query may run. Never raises.

    Given the database's schema, the guard refuses PostgreSQL's `alias.name` when no such column exists, because
    PostgreSQL would call a function of that name. Pass the schema wherever it is known."""
    if parsed.tree is None:
        return _refused(parsed.error or "cannot be read")
    try:
        with unchanging(parsed.tree):
            reason = _reason(parsed.tree, parsed.dialect) or oversized(parsed.tree, parsed.dialect)
        if reason is None and parsed.dialect == "postgres":
            reason = implicit_call(parsed.tree, schema)
        if reason:
            return _refused(reason)
        tree = _written(parsed.tree, parsed.dialect, schema)
        sql = parsed.text if parsed.generated and tree is parsed.tree else render(tree, parsed.dialect)
        if parsed.dialect == "spark" and "${" in sql:  # also where it was written with an escape
            return _refused("holds ${, where Spark puts in settings and the server's environment")
        return Verdict(True, None, ReadStatement(sql, parsed.dialect, tree))
    except RecursionError:
        return _refused("nested too deeply")


def _written(tree: exp.Expression, dialect: Dialect, schema: Schema | None) -> exp.Expression:
    """The tree in forms that its engine takes."""
    if dialect == "spark":
        return written_for_spark(tree, schema)
    if dialect in WRITTEN_DIALECTS:
        return strictly_grouped(tree, dialect)
    return written_for_clickhouse(tree, schema) if dialect == "clickhouse" else tree


def _refused(reason: str) -> Verdict:
    return Verdict(False, reason, None)


def _reason(tree: exp.Expression, dialect: Dialect) -> str | None:
    if not isinstance(tree, _ROOTS):
        return f"{_described(tree)}; only SELECT, WITH, VALUES and set operations may run"
    allowed = NODES[dialect]
    for node in every(tree, exp.Expr):
        reason = _node_reason(node, dialect) if type(node) in allowed else _built_call_reason(node, dialect)
        if reason:
            return reason
    return None


def _node_reason(node: exp.Expr, dialect: Dialect) -> str | None:
    if isinstance(node, exp.Identifier):
        if not node.args.get("quoted") and not _PLAIN_NAME.fullmatch(node.name):
            return f"holds the name {node.name!r}, which is no plain name and must be quoted"
        return None
    if isinstance(node, exp.Table):
        return _table_reason(node, dialect)
    if isinstance(node, exp.Select):
        return _select_reason(node)
    if isinstance(node, exp.Query) and (node.args.get("settings") or node.args.get("format")):
        return "changes settings or the output format (SETTINGS, FORMAT)"
    if isinstance(node, exp.Func):
        return _call_reason(node, dialect)
    if isinstance(node, exp.In):
        return _membership_reason(node, dialect)
    if isinstance(node, exp.From | exp.Join):
        return _source_reason(node)
    if isinstance(node, exp.DataType):
        return _type_reason(node, dialect)
    if isinstance(node, exp.Column):
        return _column_reason(node, dialect)
    if isinstance(node, exp.Interval) and dialect == "mysql" and node.args.get("unit") is None:
        return "uses INTERVAL without a unit"
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func):
        return _qualified_call_reason(node, dialect)
    if isinstance(node, exp.CTE) and node.args.get("scalar") and _names_columns(node.this):
        return "gives a name to an expression over columns in WITH; write the expression where it is used"
    if isinstance(node, exp.With) and node.args.get("search"):
        return "uses SEARCH or CYCLE in WITH, which cannot be checked"
    return None


def _membership_reason(node: exp.In, dialect: Dialect) -> str | None:
    """SQLite reads `x IN name` from a table, ClickHouse also `x IN (name)`."""
    named = node.args.get("field")
    if dialect == "clickhouse":
        if table := table_behind_in(node):
            return f"reads {table} behind IN without SELECT; write IN (SELECT ... FROM {table})"
    elif isinstance(named, exp.Literal | exp.Dot):
        return f"reads {named.name} behind IN without SELECT; write IN (SELECT ... FROM {named.name})"
    elif isinstance(named, exp.Column):
        return _table_reason(exp.Table(this=named.this.copy(), db=named.args.get("table")), dialect)
    return None


_SOURCES = (exp.Table, exp.Final, exp.Subquery, exp.Values, exp.Unnest, exp.Lateral)


def _source_reason(clause: exp.From | exp.Join) -> str | None:
    """What stands behind FROM and JOIN has to be seen as a table. Behind ARRAY JOIN stands an expression, in whose
    subqueries sqlglot takes tables for columns."""
    if isinstance(clause.this, _SOURCES) and clause.args.get("kind") != "ARRAY":
        return None
    if clause.args.get("kind") == "ARRAY" and clause.this.find(exp.Query) is None:
        return None
    return f"reads something other than a table behind {clause.args.get('kind') or clause.key.upper()}"


def _names_columns(expression: exp.Expr) -> bool:
    """Whether an expression holds columns outside subqueries."""
    return any(isinstance(node, exp.Column) for node in expression.walk(prune=lambda n: isinstance(n, exp.Query)))


def _described(node: exp.Expr) -> str:
    for kind, words in _WORDS.items():
        if isinstance(node, kind):
            return words
    return f"uses {node.key.upper()}, which is not on the list of what a query may hold"


def _table_reason(table: exp.Table, dialect: Dialect) -> str | None:
    for part, value in table.args.items():
        if value and part not in _TABLE_PARTS:
            return f"puts {part.rstrip('_').upper()} on a table, which is not on the list of what a query may hold"
    this = table.this
    if isinstance(this, exp.Func):
        return _table_function_reason(this) if dialect == "clickhouse" else None
    if not isinstance(this, exp.Identifier):
        return "names a table by something other than an identifier"
    reason = outside_the_data(table, dialect)
    if reason:
        return reason
    if dialect == "clickhouse" and isinstance(table.args.get("alias"), exp.TableAlias) and table.args["alias"].columns:
        return f"renames the columns of {table.name}, which cannot be checked"
    if dialect in ("duckdb", "clickhouse", "spark"):
        for identifier in table.parts:
            if _PATH_LIKE.search(identifier.name):
                return f"reads {identifier.name!r}, which the engine may open as a file"
    if dialect == "duckdb" and len(table.parts) > 1 and table.name.lower() in _FILE_ENDINGS:
        return f"reads {'.'.join(part.name for part in table.parts)}, which the engine may open as a file"
    return None


def _table_function_reason(call: exp.Func) -> str | None:
    """In ClickHouse some names are both: `format` writes a text, and as a table it parses one."""
    function = functions("clickhouse").get(called_name(call) or "")
    if function is not None and function.kind == "table":
        return None
    return f"calls {call.name or call.key} as a table, which is not on the list of table functions"


_CATALOGUE_TYPE = re.compile(
    r"\b_?reg(class|collation|config|dictionary|namespace|oper|operator|proc|procedure|role|type)\b", re.IGNORECASE
)
_ROLE_NAMES: dict[Dialect, frozenset[str]] = {
    "postgres": frozenset({"user", "current_role", "current_user", "session_user", "system_user"}),
    "mysql": frozenset({"current_role", "current_user"}),
    "spark": frozenset({"user", "current_user", "session_user"}),
    **dict.fromkeys(
        WRITTEN_DIALECTS, frozenset({"user", "uid", "current_user", "current_role", "session_user", "system_user"})
    ),
}


def _type_reason(kind: exp.DataType, dialect: Dialect) -> str | None:
    """PostgreSQL's catalogue types turn numbers into the names of roles, tables and functions."""
    if dialect == "duckdb" and "variant" in render(kind, dialect).lower():
        return "casts to VARIANT, which ends the process for deeply nested JSON"
    if dialect == "clickhouse" and "aggregatefunction" in render(kind, dialect).lower():
        return "casts to a state of an aggregate, which the engine reads without checks"
    if dialect != "postgres":
        return None
    written = render(kind, dialect).replace('"', "")
    match = _CATALOGUE_TYPE.search(written)
    return f"casts to {match[0].lower()}, which reads the engine's catalogue" if match else None


def _column_reason(column: exp.Column, dialect: Dialect) -> str | None:
    """PostgreSQL and MySQL resolve some reserved words to the user who is logged in; MariaDB moves the sequence `s` for
    `s.nextval` in its Oracle mode."""
    name = column.this
    if dialect == "spark" and "_metadata" in [part.name.lower() for part in column.parts]:
        return "reads _metadata, which tells of files"
    sequences = dialect in ("mysql", "snowflake", "oracle")
    if sequences and column.table and name.name.lower() in ("nextval", "currval"):
        return f"reads {name.name} of {column.table}, which may be a sequence"
    plain = isinstance(name, exp.Identifier) and not name.args.get("quoted") and not column.table
    if plain and name.name.lower() in _ROLE_NAMES.get(dialect, ()):
        return f"reads {name.name.upper()}, which tells of the engine's users"
    return None


def _select_reason(select: exp.Select) -> str | None:
    for part, value in select.args.items():
        if value and part not in _SELECT_PARTS:
            first = value[0] if isinstance(value, list) else value
            if isinstance(first, exp.Expr):
                return _described(first)
            return f"uses SELECT ... {part.upper()}, which is not on the list of what a query may hold"
    return None


def _call_reason(node: exp.Expr, dialect: Dialect) -> str | None:
    known = functions(dialect)
    if isinstance(node, exp.Anonymous) and isinstance(node.this, exp.Identifier) and node.this.args.get("quoted"):
        return f"calls {node.name} in quotes, which may be a user's function; write the engine's own without quotes"
    for name in names_called(node, dialect):
        if name not in known:
            return f"calls {name}, which is not on the list of {dialect} functions that only compute"
    if dialect == "clickhouse":
        return function_argument(node) or state_type(node) or call_by_name(node)
    return call_by_name(node) if dialect == "duckdb" else None


def _built_call_reason(node: exp.Expr, dialect: Dialect) -> str | None:
    """A typed call that our own code put into a tree (`exp.Round`) is checked by the names that it is written with."""
    if not isinstance(node, exp.Func) or not names_called(node, dialect):
        return _described(node)
    return _call_reason(node, dialect)


def names_called(node: exp.Expr, dialect: Dialect) -> tuple[str, ...]:
    """The functions that a node calls once it is written as SQL. sqlglot may write one typed node of a tree built by
    code as several calls, so for those nodes the written text is checked."""
    name = called_name(node)
    if name is not None:
        return (name,)
    if type(node) in KEYWORD_CALLS:
        return ()
    tokens = faithful(dialect).tokenize(render(node, dialect))
    names = []
    for token, following in pairwise(tokens):
        if following.token_type == TokenType.L_PAREN and token.text.upper() not in _NOT_CALLS:
            names.append(token.text.lower())
    return tuple(n for n in names if n.replace("_", "a").isalnum())


_NOT_CALLS = word_set(
    """
    AND OR NOT IN AS SELECT FROM WHERE ON USING THEN ELSE WHEN CASE CAST EXISTS ANY ALL SOME BY OVER FILTER GROUP
    DISTINCT VALUES JOIN IS LIKE ILIKE BETWEEN INTERVAL EXTRACT LIMIT OFFSET HAVING UNION INTERSECT EXCEPT ARRAY DECIMAL
    NUMERIC VARCHAR CHAR TIMESTAMP TIME FOR SET DIV WITHIN
    """
)
"""Words that may precede a parenthesis without being a call."""


def _qualified_call_reason(dot: exp.Dot, dialect: Dialect) -> str | None:
    qualifier = dot.this.name.lower() if isinstance(dot.this, exp.Identifier | exp.Column) else "?"
    if dialect == "postgres" and qualifier == "pg_catalog":
        return None
    return f"calls {dot.expression.name} of schema {qualifier}; only the engine's own functions may be called"
