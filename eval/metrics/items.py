"""Measure one answer against its gold query: VA, EM, EX, BIRD's comparison, TS over a test suite, and VES.

In: two SQL texts and a database, and optionally the databases of its test suite. Out: a `Comparison`. A gold query that
fails is reported as such; an answer that fails counts 0 on every metric.

EM (`exact_match`) is a diagnostic, never a verdict: case of keywords and names, whitespace, comments, quotes, aliases
and unnecessary qualifiers are normalized on the syntax tree. Two queries that mean the same but are written differently
stay different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.metrics.comparison import same_result, same_set
from eval.schema import Dialect
from eval.sql import ParsedQuery, check, orders_rows, parse, parse_normalized
from eval.sql.traversal import every
from eval.statement import ReadStatement

COMPARE_LIMITS = Limits(seconds=60.0, rows=1_000_000, bytes=512 * 1024 * 1024, cell_bytes=16 * 1024 * 1024)
"""Wide, so that results are compared whole; a result that is still cut equals no complete result."""

_TIMED_RUNS = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metrics of one answer; None when they cannot be computed."""

    va: bool
    """It is one allowed SELECT, and it runs."""
    em: bool
    ex: bool | None
    """None when gold itself fails: nothing can then be said about the answer."""
    bird_ex: bool | None
    ts: bool | None
    """None without a test suite, or when gold fails on one of its databases."""
    gold_error: str | None
    error: str | None
    ves: float | None = None
    """EX times gold's time divided by the answer's; None when not requested, or when gold fails."""


def compare_items(
    gold_sql: str,
    sql: str,
    database: Database,
    *,
    suite: Iterable[Database] = (),
    limits: Limits = COMPARE_LIMITS,
    timed: bool = False,
) -> Comparison:
    """Measure one answer. Runs both queries read-only on the database and, while they agree, on each database of the
    suite.

    Order counts when the outermost gold query has an ORDER BY. TS requires the answer to be right on the database
    itself and on every replica. `timed`: measure VES too, by running both queries several more times.
    """
    gold, other = parse(gold_sql, database.dialect), parse(sql, database.dialect)
    ordered = orders_rows(gold)
    expected, actual = executed(gold, database, limits), executed(other, database, limits)
    ex = same_result(expected, actual, ordered=ordered) if expected.ok else None
    return Comparison(
        va=actual.ok,
        em=exact_match(gold_sql, sql, database.dialect),
        ex=ex,
        bird_ex=same_set(expected, actual) if expected.ok else None,
        ts=_on_suite(gold, other, ex, suite, ordered, limits),
        gold_error=expected.error,
        error=actual.error,
        ves=ves(gold, other, ex, database, limits) if timed and ex is not None else None,
    )


def ves(gold: ParsedQuery, other: ParsedQuery, ex: bool, database: Database, limits: Limits) -> float:
    """EX times gold's time divided by the answer's; 0 where the answer is wrong or does not run.

    Based on BIRD's valid efficiency score (Li et al. 2023), which takes the square root of this ratio."""
    expected, actual = check(gold).statement, check(other).statement
    if not ex or expected is None or actual is None:
        return 0.0
    return _time_ratio(expected, actual, database, limits) or 0.0


def _time_ratio(gold: ReadStatement, other: ReadStatement, database: Database, limits: Limits) -> float | None:
    """Gold's time divided by the other's; None when either does not run. The two run alternately, so that other load on
    the machine affects both, and the fastest run of each counts, because it was disturbed least."""
    best = {gold: float("inf"), other: float("inf")}
    for _ in range(_TIMED_RUNS):
        for statement in (gold, other):
            done = database.execute(statement, limits=limits)
            if not done.ok:
                return None
            best[statement] = min(best[statement], done.execution_time_ms)
    return 1.0 if gold == other else best[gold] / max(best[other], 1e-6)


def _on_suite(
    gold: ParsedQuery, other: ParsedQuery, ex: bool | None, suite: Iterable[Database], ordered: bool, limits: Limits
) -> bool | None:
    replicas = 0
    for replica in suite:
        replicas += 1
        if not ex:
            return ex
        wanted = executed(gold, replica, limits)
        if not wanted.ok:
            return None
        if not same_result(wanted, executed(other, replica, limits), ordered=ordered, columns_count=True):
            return False
    return ex if replicas else None


def executed(parsed: ParsedQuery, database: Database, limits: Limits = COMPARE_LIMITS) -> ExecutionResult:
    """The result of a query that the guard lets run; otherwise an error with the guard's reason."""
    verdict = check(parsed, database.schema() if database.dialect in ("postgres", "clickhouse") else None)
    if verdict.statement is None:
        return ExecutionResult("error", error=verdict.reason or parsed.error or "not a single statement")
    return database.execute(verdict.statement, limits=limits)


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


def exact_match(gold_sql: str, sql: str, dialect: Dialect) -> bool:
    """True when both texts parse and are equal after normalization."""
    gold, other = canonical(gold_sql, dialect), canonical(sql, dialect)
    return gold is not None and gold == other


@lru_cache(maxsize=512)
def canonical(sql: str, dialect: Dialect) -> str | None:
    """The query in one spelling; None when it is not exactly one statement that parses."""
    tree = parse_normalized(sql, dialect)
    if tree is None:
        return None
    try:
        if dialect == "sqlite":
            # SQLite reads a double-quoted word that names no column as text; next to a comparison, that is the meaning
            for comparison in every(tree, *_COMPARISONS, exp.In, exp.Between):
                others = [comparison.args.get(part) for part in ("expression", "low", "high")]
                for column in [a for a in (*comparison.expressions, *others) if isinstance(a, exp.Column)]:
                    identifier = column.this
                    if not column.table and isinstance(identifier, exp.Identifier) and identifier.quoted:
                        column.replace(exp.Literal.string(identifier.name))
        for node in every(tree, exp.Identifier):
            node.set("this", node.name.lower())
            node.set("quoted", False)
        _plain_tables(tree)
        for select in every(tree, exp.Select):
            _without_output_aliases(select)
        return tree.sql(dialect, copy=False, comments=False, normalize_functions="upper")
    except (SqlglotError, RecursionError):
        return None


def _plain_tables(tree: exp.Expr) -> None:
    """Replace table aliases with the table's own name (numbered when it is used more than once). In a SELECT with only
    one source, columns need no qualifier."""
    sources = every(tree, exp.Table)
    uses = Counter(table.name for table in sources)
    seen: Counter[str] = Counter()
    renamed: dict[tuple[int, str], str] = {}
    for table in sources:
        seen[table.name] += 1
        name = table.name if uses[table.name] == 1 else f"{table.name}_{seen[table.name]}"
        owner = table.find_ancestor(exp.Select)
        renamed[id(owner), table.alias_or_name] = name
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name)) if uses[table.name] > 1 else None)
    for column in every(tree, exp.Column):
        if column.table:
            _requalify(column, renamed)


def _requalify(column: exp.Column, renamed: dict[tuple[int, str], str]) -> None:
    scope = column.find_ancestor(exp.Select)
    while scope is not None:
        name = renamed.get((id(scope), column.table))
        if name is not None:
            single = not scope.args.get("joins") and scope is column.find_ancestor(exp.Select)
            column.set("table", None if single else exp.to_identifier(name))
            return
        scope = scope.find_ancestor(exp.Select)


def _without_output_aliases(select: exp.Select) -> None:
    """Drop the names of output columns, and replace their uses in ORDER BY, GROUP BY or HAVING with the expression."""
    named = {e.alias: e.this for e in select.expressions if isinstance(e, exp.Alias)}
    for clause in ("group", "having", "order"):
        part = select.args.get(clause)
        for column in every(part, exp.Column) if part is not None else []:
            if not column.table and column.name in named:
                column.replace(named[column.name].copy())
    if select.find_ancestor(exp.Subquery, exp.CTE) is None:
        select.set("expressions", [e.this if isinstance(e, exp.Alias) else e for e in select.expressions])
