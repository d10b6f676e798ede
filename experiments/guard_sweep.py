"""Guard and references against the truth: what SQLite itself says of thousands of statements.

`python -m experiments.guard_sweep [golds|recorded|mutants] [--limit N] [--verbose]` prints the figures. The benchmark
is found by TEXT2SQL_BENCH_DIR. SQLite is opened directly here, because the engine is the judge.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from sqlglot import exp

from eval.schema import Column, Schema, Table
from eval.sql import check, parse, render, resolve
from eval.sql.functions import functions
from experiments.bench_folder import bench_folder
from experiments.json_lines import read_lines

NAME_ERROR = re.compile(
    r"no such (table|column|function)|ambiguous column|ambiguous reference|wrong number of arguments"
    r"|no such table-valued|cannot join using column",
    re.IGNORECASE,
)


def database_file(bench: Path, source: str, name: str) -> Path:
    """The file of a database. A folder without databases uses those of spider_dev, then of any other folder.

    Raises FileNotFoundError when no folder has it."""
    own = bench / source / "databases" / f"{name}.sqlite"
    lent = [bench / "spider_dev" / "databases" / own.name, *sorted(bench.glob(f"*/databases/{own.name}"))]
    for path in [own] if own.parent.is_dir() else lent:
        if path.is_file():
            return path
    raise FileNotFoundError(own)


class Databases:
    """One read-only connection and one schema for each database, a few dozen at a time."""

    def __init__(self, bench: Path) -> None:
        self._bench = bench
        self._open: dict[tuple[str, str], tuple[sqlite3.Connection, Schema]] = {}

    def get(self, source: str, name: str) -> tuple[sqlite3.Connection, Schema]:
        key = (source, name)
        if key not in self._open:
            if len(self._open) > 40:
                self._open.pop(next(iter(self._open)))[0].close()
            path = database_file(self._bench, source, name)
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            connection.text_factory = bytes
            self._open[key] = (connection, read_schema(connection))
        return self._open[key]

    def close(self) -> None:
        for connection, _ in self._open.values():
            connection.close()
        self._open.clear()


def read_schema(connection: sqlite3.Connection) -> Schema:
    tables = []
    listed = connection.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    for name, kind in listed:
        rows = connection.execute(
            "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden IN (0, 2, 3)", (_text(name),)
        )
        columns = tuple(Column(_text(n), _text(t)) for n, t in rows)
        tables.append(Table(_text(name), columns, "view" if _text(kind) == "view" else "table"))
    return Schema("sqlite", tuple(tables))


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@dataclass
class Figures:
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, key: str, example: str | None = None) -> None:
        self.counts[key] += 1
        if example is not None:
            self.examples.append(f"{key}: {example}")


def gold_records(bench: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for path in sorted(bench.glob("*/questions.jsonl")):
        for record in read_lines(path):
            if record.get("gold_ok") and record["gold_sql"]:  # a question that cannot be answered has none
                yield path.parent.name, record


def golds(bench: Path, limit: int | None = None, every: int = 1) -> Figures:
    """Every gold that runs: is it refused, does it have a phantom, does the sent SQL return exactly the same rows?"""
    figures, databases = Figures(), Databases(bench)
    for source, record in islice(gold_records(bench), None, limit, every):
        connection, schema = databases.get(source, record["db"])
        sql = record["gold_sql"]
        figures.add("golds")
        parsed = parse(sql, "sqlite")
        verdict = check(parsed)
        if verdict.statement is None:
            figures.add("refused", f"{record['id']} {verdict.reason} | {sql}")
            continue
        phantoms = resolve(parsed, schema).phantoms
        if phantoms:
            figures.add("phantoms", f"{record['id']} {phantoms} | {sql}")
        if connection.execute(sql).fetchall() != connection.execute(verdict.statement.sql).fetchall():
            figures.add("other rows", f"{record['id']} {sql} | {verdict.statement.sql}")
    databases.close()
    return figures


def recorded(bench: Path, limit: int | None = None, every: int = 1) -> Figures:
    """Statements that models wrote: those that the engine rejects for a name must be flagged, those that run
    must not."""
    figures, databases = Figures(), Databases(bench)
    files = {"spider_dev.jsonl": "spider_dev", "classicmodels_llama-3-8b.jsonl": "classicmodels"}
    for name, source in files.items():
        for record in islice(read_lines(bench.parent / "recorded" / name), None, limit, every):
            connection, schema = databases.get(source, record["db"])
            _judge(figures, connection, schema, record["sql"] or "", run=True)
    databases.close()
    return figures


def mutants(bench: Path, limit: int | None = None, each: int = 1) -> Figures:
    """Golds of spider_train with one part broken: does our verdict on names agree with the engine's?"""
    figures, databases = Figures(), Databases(bench)
    chance = random.Random(7)
    records = [r for s, r in gold_records(bench) if s == "spider_train"]
    for record in records[:limit]:
        connection, schema = databases.get("spider_train", record["db"])
        parsed = parse(record["gold_sql"], "sqlite")
        assert parsed.tree is not None
        for name in chance.sample(sorted(MUTATIONS), k=each):
            tree = parsed.tree.copy()
            if MUTATIONS[name](tree, schema, chance):
                figures.add(f"mutation {name}")
                _judge(figures, connection, schema, render(tree, "sqlite"), run=False)
    databases.close()
    return figures


def _judge(figures: Figures, connection: sqlite3.Connection, schema: Schema, sql: str, *, run: bool) -> None:
    error = _engine_error(connection, sql if run else f"EXPLAIN {sql}")
    parsed = parse(sql, "sqlite")
    refused, phantoms = not check(parsed).allowed, resolve(parsed, schema).phantoms
    if error is None:
        figures.add("runs")
        if phantoms or refused:
            figures.add("runs, yet flagged", f"{phantoms or check(parsed).reason} | {sql}")
    elif NAME_ERROR.search(error):
        figures.add("rejected for a name")
        if not phantoms and not refused:
            figures.add("rejected for a name, yet not flagged", f"{error} | {sql}")
    else:
        figures.add("rejected for something else")


def _engine_error(connection: sqlite3.Connection, sql: str) -> str | None:
    deadline = time.monotonic() + 5.0
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
    try:
        connection.execute(sql).fetchone()
    except (sqlite3.Error, sqlite3.Warning) as problem:
        return str(problem)
    finally:
        connection.set_progress_handler(None, 0)
    return None


Mutation = Callable[[exp.Expression, Schema, random.Random], bool]


def _misspelt(name: str, chance: random.Random) -> str:
    at = chance.randrange(len(name))
    return chance.choice([name[:at] + name[at + 1 :] or "x", name[:at] + "q" + name[at:], name + "_id", name + "s"])


def _columns(tree: exp.Expression) -> list[exp.Column]:
    return [c for c in tree.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]


def _rename_column(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = _columns(tree)
    if columns:
        column = chance.choice(columns)
        column.this.set("this", _misspelt(column.name, chance))
    return bool(columns)


def _other_column(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = _columns(tree)
    if columns:
        table = chance.choice(schema.tables)
        chance.choice(columns).this.set("this", chance.choice(table.columns).name)
    return bool(columns)


def _rename_table(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    tables = [t for t in tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    if tables:
        table = chance.choice(tables)
        table.this.set("this", _misspelt(table.name, chance))
    return bool(tables)


def _other_table(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    tables = [t for t in tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    if tables:
        chance.choice(tables).this.set("this", chance.choice(schema.tables).name)
    return bool(tables)


def _rename_alias(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    aliases = list(tree.find_all(exp.TableAlias))
    if aliases:
        chance.choice(aliases).this.set("this", "zz")
    return bool(aliases)


def _same_alias(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    aliases = list(tree.find_all(exp.TableAlias))
    if len(aliases) > 1:
        chance.choice(aliases).this.set("this", chance.choice(aliases).name)
    return len(aliases) > 1


def _other_qualifier(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = [c for c in _columns(tree) if c.table]
    names = sorted({c.table for c in columns})
    if columns:
        chance.choice(columns).args["table"].set("this", chance.choice([*names, "T9"]))
    return bool(columns)


def _no_qualifier(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = [c for c in _columns(tree) if c.table]
    if columns:
        chance.choice(columns).set("table", None)
    return bool(columns)


def _drop_join(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    selects = [s for s in tree.find_all(exp.Select) if s.args.get("joins")]
    if selects:
        select = chance.choice(selects)
        select.args["joins"].pop(chance.randrange(len(select.args["joins"])))
    return bool(selects)


def _misspell_function(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    calls = list(tree.find_all(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Anonymous))
    if calls:
        call = chance.choice(calls)
        arguments = call.expressions if isinstance(call, exp.Anonymous) else [call.this]
        call.replace(exp.Anonymous(this=_misspelt(call.name or call.key, chance), expressions=arguments))
    return bool(calls)


def _other_function(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    calls = list(tree.find_all(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max))
    if calls:
        call = chance.choice(calls)
        names = sorted(n for n, f in functions("sqlite").items() if f.kind == "scalar" and n.isalpha())
        arguments = [exp.Literal.number(i) for i in range(chance.randrange(4))]
        call.replace(exp.Anonymous(this=chance.choice(names), expressions=arguments))
    return bool(calls)


def _more_arguments(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    calls = list(tree.find_all(exp.Count, exp.Sum, exp.Avg))
    if calls:
        call = chance.choice(calls)
        arguments = [exp.Literal.number(1)] * chance.choice([0, 2, 3])
        call.replace(exp.Anonymous(this=call.key, expressions=[a.copy() for a in arguments]))
    return bool(calls)


def _quote_kind(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = _columns(tree)
    if columns:
        name = chance.choice(columns).this
        name.set("this", _misspelt(name.name, chance))
        name.set("quoted", True)
        if chance.random() < 0.5:
            name.meta["quote"] = "`"
    return bool(columns)


def _order_by_column(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    columns = _columns(tree)
    if columns and isinstance(tree, exp.Query):
        column = chance.choice(columns).copy()
        if chance.random() < 0.5:
            column.set("table", None)
        tree.set("order", exp.Order(expressions=[exp.Ordered(this=column)]))
    return bool(columns)


def _natural(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    joins = list(tree.find_all(exp.Join))
    if joins:
        join = chance.choice(joins)
        on = join.args.get("on")
        join.set("on", None)
        names = [c.name for c in on.find_all(exp.Column)] if on is not None else []
        if names and chance.random() < 0.5:
            join.set("using", [exp.to_identifier(chance.choice(names))])
        else:
            join.set("method", "NATURAL")
    return bool(joins)


def _derived(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    """Put a base table of FROM into a derived table with some of its columns."""
    tables = [t for t in tree.find_all(exp.Table) if isinstance(t.parent, exp.From | exp.Join)]
    if not tables:
        return False
    table = chance.choice(tables)
    real = schema.table(table.name)
    if real is None or not real.columns:
        return False
    kept = chance.sample(real.columns, k=chance.randint(1, len(real.columns)))
    inner = exp.select(*[exp.column(c.name, quoted=True) for c in kept]).from_(
        exp.to_identifier(real.name, quoted=True)
    )
    table.replace(inner.subquery(table.alias_or_name))
    return True


def _alias_in_where(tree: exp.Expression, schema: Schema, chance: random.Random) -> bool:
    if not isinstance(tree, exp.Select) or not tree.expressions:
        return False
    first = tree.expressions[0]
    if isinstance(first, exp.Alias | exp.Star) or (isinstance(first, exp.Column) and isinstance(first.this, exp.Star)):
        return False
    first.replace(exp.alias_(first.copy(), "zz"))
    place = chance.choice(["where", "group", "having", "order"])
    column = exp.column(chance.choice(["zz", "zy"]))
    if place == "where" and not tree.find(exp.AggFunc):
        tree.where(column.is_(exp.null()).not_(), copy=False)
    elif place == "group":
        tree.set("group", exp.Group(expressions=[column]))
    else:
        tree.set("order", exp.Order(expressions=[exp.Ordered(this=column)]))
    return True


MUTATIONS: dict[str, Mutation] = {
    "rename column": _rename_column,
    "other column": _other_column,
    "rename table": _rename_table,
    "other table": _other_table,
    "rename alias": _rename_alias,
    "same alias": _same_alias,
    "other qualifier": _other_qualifier,
    "no qualifier": _no_qualifier,
    "drop join": _drop_join,
    "misspell function": _misspell_function,
    "other function": _other_function,
    "more arguments": _more_arguments,
    "quote kind": _quote_kind,
    "order by column": _order_by_column,
    "natural join": _natural,
    "derived table": _derived,
    "alias in clauses": _alias_in_where,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", nargs="*", choices=["golds", "recorded", "mutants"], default=[])
    options.add_argument("--limit", type=int, help="Statements, at most.")
    options.add_argument("--each", type=int, default=1, help="Mutations of each gold.")
    options.add_argument("--verbose", action="store_true", help="Print every disagreement.")
    chosen = options.parse_args()
    for what in chosen.what or ["golds", "recorded", "mutants"]:
        started = time.monotonic()
        if what == "mutants":
            figures = mutants(bench_folder(), chosen.limit, chosen.each)
        else:
            figures = {"golds": golds, "recorded": recorded}[what](bench_folder(), chosen.limit)
        print(f"{what}: {time.monotonic() - started:.1f} s")
        for key, count in sorted(figures.counts.items()):
            print(f"  {key}: {count}")
        if chosen.verbose:
            print("\n".join(figures.examples))


if __name__ == "__main__":
    main()
