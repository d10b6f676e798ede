"""Gold queries of SQLite on another engine: `python -m experiments.engines.golds --bench DIR --server sc://host:15002`.

In: a question set with SQLite files, and a place for copies (`sc://host:port`, `chdb:///folder`). Each file is copied,
each gold query translated by sqlglot and grouped strictly, checked by the guard, run by our engine and compared with
SQLite's rows. Out, printed: how many give the same rows, and every other one with its reason.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from eval.databases import Database, Limits
from eval.metrics.comparison import same_result
from eval.schema import Dialect, Schema
from eval.sql import check, parse, parsed_from_tree
from eval.sql.engine_forms import strictly_grouped
from eval.sql.traversal import own_nodes
from experiments.engines.copies import beside_copies, dialect_of
from experiments.parser.evaluate import ends_in_order

_LIMITS = Limits(seconds=120.0, rows=1_000_000, bytes=1 << 30)


@dataclass(frozen=True)
class Outcome:
    """One gold query on both engines."""

    id: str
    verdict: str
    """`same`; `order`: the same rows, those with equal sort keys in another order; `ties`: LIMIT keeps other rows of
    equal sort keys, and the same ones once the selected columns break the ties; `differ`, `refused`, `error`."""
    sql: str
    reason: str = ""


def measured(folder: Path, server: str, dialect: Dialect) -> Iterator[Outcome]:
    """Every question of the set, database by database."""
    for q, original, copy in beside_copies(folder, server, infer_keys=False):
        yield _compared(str(q["id"]), str(q["gold_sql"]), original, copy, dialect)


def _compared(name: str, gold: str, original: Database, copy: Database, dialect: Dialect) -> Outcome:
    statement = check(parse(gold, "sqlite")).statement
    if statement is None:
        return Outcome(name, "refused", gold, "SQLite's own guard")
    expected = original.execute(statement, limits=_LIMITS)
    try:
        sql = translated(gold, original.schema(), dialect)
    except SqlglotError as e:
        return Outcome(name, "error", gold, f"translation: {e}")
    verdict = check(parse(sql, dialect), copy.schema())
    if verdict.statement is None:
        return Outcome(name, "refused", sql, verdict.reason or "")
    result = copy.execute(verdict.statement, limits=_LIMITS)
    if not result.ok:
        return Outcome(name, "error", verdict.statement.sql, (result.error or "")[:300])
    if same_result(expected, result, ordered=ends_in_order(gold)):
        return Outcome(name, "same", sql)
    shown = f"{expected.rows[:3]} / {result.rows[:3]}"
    if not _same_without_ties(gold, original, copy):
        return Outcome(name, "differ", verdict.statement.sql, shown)
    same_rows = same_result(expected, result, ordered=False)
    return Outcome(name, "order" if same_rows else "ties", verdict.statement.sql, shown)


def _same_without_ties(gold: str, original: Database, copy: Database) -> bool:
    """Whether both engines agree once the selected columns break the ties of ORDER BY."""
    tree = parse_one(gold, read="sqlite")
    order = tree.args.get("order")
    if order is None or not isinstance(tree, exp.Select):
        return False
    order.set("expressions", [*order.expressions, *(exp.Ordered(this=e.unalias().copy()) for e in tree.expressions)])
    decided = tree.sql(dialect="sqlite")
    here = check(parse(decided, "sqlite")).statement
    there = check(parse(translated(decided, original.schema(), copy.dialect), copy.dialect), copy.schema()).statement
    if here is None or there is None:
        return False
    return same_result(original.execute(here, limits=_LIMITS), copy.execute(there, limits=_LIMITS), ordered=True)


def translated(gold: str, schema: Schema, dialect: Dialect) -> str:
    """The query in another dialect: what stands in double quotes is a name or a text, as SQLite decides."""
    names = {column.name.casefold() for table in schema.tables for column in table.columns}
    original = parse_one(gold, read="sqlite")
    for column in list(original.find_all(exp.Column)):
        quoted = isinstance(column.this, exp.Identifier) and column.this.args.get("quoted") and not column.table
        if quoted and column.name.casefold() not in names:
            column.replace(exp.Literal.string(column.name))
    sql = original.sql(dialect=dialect)
    tree = parse(sql, dialect).tree
    if tree is None or not isinstance(tree, exp.Query):
        return sql
    return parsed_from_tree(beside_extremes(strictly_grouped(tree, dialect)), dialect).text


def beside_extremes(tree: exp.Expression) -> exp.Expression:
    """A strictly grouped query in which a column beside a single MIN or MAX is that of the row which holds the extreme,
    as SQLite documents. The tree is changed in place."""
    for select in tree.find_all(exp.Select):
        nodes = [node for clause in select.iter_expressions() for node in own_nodes(clause)]
        chosen = [n for n in nodes if isinstance(n, exp.Anonymous) and n.name.lower() == "any_value"]
        aggregates = [n for n in nodes if isinstance(n, exp.AggFunc)]
        if len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max):
            name = "max_by" if isinstance(aggregates[0], exp.Max) else "min_by"
            for node in chosen:
                node.replace(exp.Anonymous(this=name, expressions=[*node.expressions, aggregates[0].this.copy()]))
    return tree


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--bench", type=Path, required=True)
    options.add_argument("--set", default="spider_dev")
    options.add_argument("--server", required=True)
    given = options.parse_args()
    counts: Counter[str] = Counter()
    for outcome in measured(given.bench / given.set, given.server, dialect_of(given.server)):
        counts[outcome.verdict] += 1
        if outcome.verdict != "same":
            print(f"{outcome.verdict:<8}{outcome.id}: {outcome.sql}\n        {outcome.reason}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
