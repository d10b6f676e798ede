"""A query in another dialect, with the same meaning, as far as the target can express it. sqlglot does most of this.

`translated`, for a query that was written for another engine: MySQL's date functions, which sqlglot leaves unchanged
for SQLite, are rewritten with SQLite's own functions. No SQL that an agent writes passes through it.

`transpiled`, for expressions of other tools' files, which may be in dialects that we do not run (`snowflake`,
`bigquery`, ANSI SQL): nothing of them runs before the result was parsed and checked again in the database's own
dialect.

`written_in`, for a query of the engine without a model, in a dialect that has no engine here. In: a tree with DuckDB's
functions, a dialect of `WRITTEN_DIALECTS` and the schema. Out: the tree as that dialect's parser reads it. What sqlglot
cannot know without types is written here: a date compared with a text becomes a date on both sides, days between two
dates are counted, an average of whole numbers keeps its fraction in SQL Server, truth values are numbers in Oracle, and
names in one case stay bare where bare names fold. A function that the target lacks is not written.
"""

from __future__ import annotations

import re

from sqlglot import ErrorLevel, exp, parse_one
from sqlglot import parse as parse_all
from sqlglot.errors import SqlglotError

from eval.language.lexicon import word_set
from eval.schema import FOLDS_UPPER, Dialect, Schema
from eval.sql.bounds import with_headroom
from eval.sql.dialects import render
from eval.sql.engine_forms import strictly_grouped
from eval.sql.functions import functions
from eval.sql.nodes import called_name
from eval.sql.parser import parse

_PARTS: dict[type[exp.Expr], str] = {exp.Year: "%Y", exp.Month: "%m", exp.Day: "%d", exp.DayOfMonth: "%d"}
_UNITS = {"YEAR": ("year", 1), "QUARTER": ("month", 3), "MONTH": ("month", 1), "WEEK": ("day", 7), "DAY": ("day", 1)}


@with_headroom
def translated(sql: str, read: Dialect, write: Dialect) -> str:
    """The query in the other dialect. An unparsable query is returned unchanged, so that its own error shows."""
    if read == write:
        return sql
    try:
        trees = [tree for tree in parse_all(sql, read=read) if tree is not None]
        if write == "sqlite":
            trees = [tree.transform(_for_sqlite) for tree in trees]
        return ";\n".join(tree.sql(dialect=write, unsupported_level=ErrorLevel.IGNORE) for tree in trees) or sql
    except (SqlglotError, RecursionError):
        return sql


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    pattern = _PARTS.get(type(node))
    if pattern is not None:
        date = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        return exp.cast(exp.func("STRFTIME", exp.Literal.string(pattern), date), "INTEGER", dialect="sqlite")
    if isinstance(node, exp.DateSub | exp.DateAdd):
        return _shifted(node) or node
    return node


def _shifted(node: exp.DateSub | exp.DateAdd) -> exp.Expr | None:
    """`DATE_SUB(d, INTERVAL 1 YEAR)` → `DATE(d, '-1 year')`; None when the amount is not a whole number."""
    unit, amount = _UNITS.get(str(node.args.get("unit") or "").upper()), node.expression
    if unit is None or not isinstance(amount, exp.Literal) or not amount.name.isdecimal():
        return None
    sign = "-" if isinstance(node, exp.DateSub) else "+"
    shift = exp.Literal.string(f"{sign}{int(amount.name) * unit[1]} {unit[0]}")
    return exp.Anonymous(this="DATE", expressions=[node.this, shift])


MAX_LENGTH = 10_000
"""Characters of one expression."""


@with_headroom
def foreign_expression(text: str, dialect: str) -> exp.Expr | None:
    """The tree; None where the text cannot be read. An empty dialect is ANSI SQL."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        return parse_one(text, dialect=dialect or None)
    except (SqlglotError, RecursionError):
        return None


def transpiled(text: str, dialect: str, target: str) -> str | None:
    """The expression in another dialect; None where it cannot be read."""
    tree = foreign_expression(text, dialect)
    return None if tree is None else tree.sql(dialect=target)


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2})?")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_INTERVALS: frozenset[Dialect] = frozenset({"bigquery", "databricks", "trino", "tsql"})
"""Where one date less another is an interval, or an error, and not a number of days."""
_INTEGER = re.compile(r"\b(tiny|small|big|medium)?int(eger|\d+)?\b", re.IGNORECASE)


@with_headroom
def written_in(tree: exp.Expr, dialect: Dialect, schema: Schema) -> exp.Expression | None:
    """The query in the dialect; None where it cannot say it. The given tree is not changed."""
    try:
        typed = parse_one(render(tree, "duckdb"), read="duckdb")
        types = {column.name.casefold(): column.type for table in schema.tables for column in table.columns}
        # Oracle, SQL Server and Trino group by no alias
        for select in typed.find_all(exp.Select):
            named = {item.alias.casefold(): item.unalias() for item in select.expressions if item.alias}
            for key in list(select.args["group"].expressions) if select.args.get("group") else ():
                if isinstance(key, exp.Column) and not key.table and key.name.casefold() in named:
                    key.replace(named[key.name.casefold()].copy())
        _mark_weeks(typed)
        if dialect != "bigquery":  # which reads a text beside a date as one, and tells DATETIME from TIMESTAMP
            _compare_dates(typed, types, dialect)
        _keep_fractions(typed, types, dialect)
        if dialect in _INTERVALS:
            _count_days(typed)
        if dialect in FOLDS_UPPER:
            _leave_bare(typed, frozenset(name for table in schema.tables for name in table.exact_names))
        if dialect == "oracle":
            for truth in list(typed.find_all(exp.Boolean)):
                truth.replace(exp.Literal.number(int(truth.this)))
        written = parse(typed.sql(dialect=dialect), dialect).tree
    except (SqlglotError, RecursionError):
        return None
    if written is None:
        return None
    for call in list(written.find_all(exp.Anonymous)):
        if call.name.lower() in _WEEKS:
            call.replace(_filled(_WEEK_FORMS[dialect][_WEEKS.index(call.name.lower())], dialect, call.expressions[0]))
    if dialect == "bigquery":
        _format_by_type(written, types)
    known = functions(dialect)
    if any(name not in known for node in written.walk() if (name := called_name(node))):
        return None
    return strictly_grouped(written, dialect)


def _format_by_type(tree: exp.Expr, types: dict[str, str]) -> None:
    """BigQuery's FORMAT_DATE takes a DATE alone."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.upper() != "FORMAT_DATE":
            continue
        column = call.expressions[-1]
        kind = types.get(column.name.casefold(), "").upper() if isinstance(column, exp.Column) else ""
        if kind.startswith(("TIMESTAMP", "DATETIME")):
            call.set("this", f"FORMAT_{re.match(r'[A-Z]+', kind)[0]}")  # type: ignore[index]


_WEEKS = ("written_week", "written_weekday")
_WEEK_FORMS: dict[Dialect, tuple[str, str]] = {
    "snowflake": ("YEAROFWEEKISO(x) || '-' || LPAD(WEEKISO(x), 2, '0')", "TO_VARCHAR(MOD(DAYOFWEEKISO(x), 7))"),
    "bigquery": ("FORMAT_DATE('%G-%V', x)", "CAST(EXTRACT(DAYOFWEEK FROM x) - 1 AS STRING)"),
    "redshift": ("TO_CHAR(x, 'IYYY-IW')", "CAST(DATE_PART(dow, x) AS VARCHAR(1))"),
    "databricks": (
        "CONCAT(EXTRACT(YEAROFWEEK FROM x), '-', LPAD(WEEKOFYEAR(x), 2, '0'))",
        "CAST(DAYOFWEEK(x) - 1 AS STRING)",
    ),
    "trino": ("DATE_FORMAT(x, '%x-%v')", "CAST(DAY_OF_WEEK(x) % 7 AS VARCHAR)"),
    "tsql": (
        "CONCAT(YEAR(DATEADD(DAY, 26 - DATEPART(ISO_WEEK, x), x)), '-', RIGHT(CONCAT('0', DATEPART(ISO_WEEK, x)), 2))",
        "CAST(DATEDIFF(DAY, '19000107', x) % 7 AS VARCHAR(1))",
    ),
    "oracle": ("TO_CHAR(x, 'IYYY-IW')", "TO_CHAR(MOD(TRUNC(x) - TO_DATE('1900-01-07', 'YYYY-MM-DD'), 7))"),
}
"""The ISO year and week of the date x (`2024-07`), and its day as text (0 is Sunday)."""


def _mark_weeks(tree: exp.Expr) -> None:
    """sqlglot translates no weeks; a call that stands for one is replaced in the written tree."""
    for shown in list(tree.find_all(exp.TimeToStr)):
        shape = shown.text("format")
        if "%W" in shape or "%w" in shape:
            name = _WEEKS[0] if "%W" in shape else _WEEKS[1]
            shown.replace(exp.Anonymous(this=name, expressions=[shown.this.copy()]))


def _filled(form: str, dialect: Dialect, date: exp.Expr) -> exp.Expr:
    tree = parse(f"SELECT {form}", dialect).tree
    assert isinstance(tree, exp.Select)
    for column in list(tree.find_all(exp.Column)):
        if column.name == "x":
            column.replace(date.copy())
    filled: exp.Expr = tree.expressions[0].unalias()
    return exp.paren(filled, copy=False) if isinstance(filled, exp.Binary) else filled


def _compare_dates(tree: exp.Expr, types: dict[str, str], dialect: Dialect) -> None:
    for comparison in list(tree.find_all(*_COMPARISONS)):
        columns = [c for c in comparison.iter_expressions() if isinstance(c, exp.Column)]
        kinds = [types.get(column.name.casefold(), "").lower() for column in columns]
        if not any("date" in kind or "time" in kind for kind in kinds):
            continue
        moments = any("time" in kind for kind in kinds)
        for literal in list(comparison.iter_expressions()):
            text = literal if isinstance(literal, exp.Literal) and literal.is_string else None
            if text is not None and (moment := _moment(text, moments, dialect)):
                text.replace(moment)


def _moment(literal: exp.Literal, moments: bool, dialect: Dialect) -> exp.Expr | None:
    text = literal.name
    if _DAY.fullmatch(text):
        if dialect == "oracle":
            return exp.Anonymous(this="TO_DATE", expressions=[literal.copy(), exp.Literal.string("YYYY-MM-DD")])
        return exp.cast(literal.copy(), "TIMESTAMP" if moments else "DATE")
    if not _MOMENT.fullmatch(text):
        return None
    if dialect == "oracle":
        shape = "YYYY-MM-DD HH24:MI:SS"[: None if text.count(":") == 2 else -3]
        plain = exp.Literal.string(text.replace("T", " "))
        return exp.Anonymous(this="TO_TIMESTAMP", expressions=[plain, exp.Literal.string(shape)])
    return exp.cast(literal.copy(), "TIMESTAMP")


def _count_days(tree: exp.Expr) -> None:
    for difference in list(tree.find_all(exp.Sub)):
        end, start = difference.this, difference.expression
        if isinstance(end, exp.Cast) and isinstance(start, exp.Cast) and end.is_type("date") and start.is_type("date"):
            difference.replace(exp.DateDiff(this=end.copy(), expression=start.copy(), unit=exp.var("DAY")))


def _keep_fractions(tree: exp.Expr, types: dict[str, str], dialect: Dialect) -> None:
    """SQL Server's average of whole numbers is a whole number."""
    for average in list(tree.find_all(exp.Avg)) if dialect == "tsql" else ():
        column = average.this
        if isinstance(column, exp.Column) and not _INTEGER.search(types.get(column.name.casefold(), "int")):
            continue
        average.set("this", exp.cast(column.copy(), "DOUBLE"))


def _leave_bare(tree: exp.Expr, exact: frozenset[str]) -> None:
    """A name in capitals alone was most likely made without quotes; one that was made with them keeps them, and so does
    a word of the grammar."""
    for name in tree.find_all(exp.Identifier):
        if name.name in exact:
            name.set("quoted", True)
        elif name.args.get("quoted") and re.fullmatch(r"[A-Z][A-Z0-9_]*", name.name) and name.name not in _KEYWORDS:
            name.set("quoted", False)


_KEYWORDS = word_set(
    """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CASE CAST CHAR CHECK CLUSTER COLUMN COMMENT COMPRESS CONNECT
    CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE
    EXCLUSIVE EXISTS FALSE FILE FLOAT FOLLOWING FOR FROM FULL GRANT GROUP HAVING IDENTIFIED ILIKE IMMEDIATE IN INCREMENT
    INDEX INITIAL INNER INSERT INTEGER INTERSECT INTO IS JOIN LATERAL LEFT LEVEL LIKE LOCK LONG MAXEXTENTS MINUS MODE
    MODIFY NATURAL NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC
    QUALIFY RAW REGEXP RENAME RESOURCE REVOKE RIGHT RLIKE ROW ROWID ROWNUM ROWS SAMPLE SELECT SESSION SET SHARE SIZE
    SMALLINT SOME START SUCCESSFUL SYNONYM SYSDATE TABLE TABLESAMPLE THEN TO TRIGGER TRUE TRY_CAST UID UNION UNIQUE
    UPDATE USER USING VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHEN WHENEVER WHERE WITH
    """
)
"""Words that Snowflake or Oracle keeps for its grammar."""
