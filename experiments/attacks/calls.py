"""Random calls of every function that the guard lets through, with arguments that are meant to hurt.

In: an engine and a seed. Out: how many calls were made, what became of them, and which did harm: a process that was
lost, an internal error, a database that answers no more; and which were late.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from eval.databases import Database, Limits
from eval.schema import Dialect
from eval.sql import check, parse
from eval.sql.functions import Function, functions
from eval.statement import ReadStatement

LIMITS = Limits(seconds=1.0, rows=100)
GRACE = 1.0
STEP = 1_000
"""Calls that are kept at a time."""
AT_ONCE: dict[Dialect, int] = {"sqlite": 3, "duckdb": 1, "postgres": 1, "mysql": 4}
"""Calls in one statement. DuckDB and PostgreSQL refuse a statement as a whole for one argument of the wrong type."""

ARGUMENTS = (
    *("NULL", "0", "1", "-1", "2", "7", "255", "65536", "2147483647", "-2147483648", "9223372036854775807", "1e308"),
    *("-1e308", "1e-308", "0.0", "-0.5", "3.14159", "99999999999999999999999999999999999999", "''", "' '", "'a'"),
    *("'%s%n%d'", "'é'", "'😀'", "'\ufeff'", "'a\u0301'", "'ÀÈÌ'", "'[1, [2, [3]]]'", '\'{"a": {"b": [1, null]}}\''),
    *("'$.a.b[0]'", "'$[*]'", "'$..'", "'{'", "'[[[[[[[[[['", "'\"'", "'(a+)+$'", "'[a-'", "'(?i)x{1,999}'", "'\\\\'"),
    *("'2024-02-29'", "'0000-00-00'", "'9999-12-31 23:59:59.999999'", "'-4713-01-01'", "'infinity'", "'24:00:00'"),
    *("'1 month'", "'P1Y2M'", "'%Y-%m-%d'", "'%%%'", "'YYYY-MM-DD HH24:MI:SS.US TZ'", "'UTC'", "'Europe/Berlin'"),
    *("'nan'", "'127.0.0.1/8'", "'::1'", "'00000000-0000-0000-0000-000000000000'", "'0x'", "'deadbeef'", "'AAAA'"),
    *("n", "w", "n * n", "-n", "w || w", "(SELECT max(w) FROM many)", "CAST(w AS CHAR(3))"),
    *("n > 3", "n IS NULL", "CASE WHEN n > 1 THEN w END", "current_date", "current_timestamp"),
)
TYPED: dict[Dialect, tuple[str, ...]] = {
    "sqlite": (
        "hex(hex(hex(w)))",
        "x'00ff'",
        "x''",
        "randomblob(100)",
        "json_array(1, n, w)",
        "hex(w)",
        "julianday('now')",
    ),
    "duckdb": (
        "repeat('ab', 5000)",
        "[1, 2, NULL]",
        "[]",
        "[[1], []]",
        "{'a': 1}",
        "MAP {'a': 1}",
        "DATE '2024-02-29'",
        "'a'::BLOB",
        "INTERVAL 3 DAY",
        "TIMESTAMP '2024-02-29 12:00:00'",
        "1::UTINYINT",
        "range(100)",
        "'1'::JSON",
        "1::HUGEINT",
    ),
    "postgres": (
        "repeat('ab', 5000)",
        "ARRAY[1, 2, NULL]",
        "ARRAY[]::int[]",
        "'[1]'::jsonb",
        "'{\"a\": 1}'::json",
        "date '2024-02-29'",
        "interval '3 days'",
        "timestamp '2024-02-29 12:00'",
        "'a'::bytea",
        "1::numeric",
        "'(1,2)'::point",
        "B'101'",
        "'a b'::tsvector",
        "'a'::tsquery",
        "'127.0.0.1'::inet",
        "'<a/>'::xml",
        "ARRAY['a', w]",
    ),
    "mysql": (
        "repeat('ab', 5000)",
        "x'00ff'",
        "json_array(1, n)",
        "json_object('a', w)",
        "DATE '2024-02-29'",
        "b'101'",
        "hex(w)",
    ),
}
_LOST = ("process ended", "internal error", "closed the connection", "server has gone", "lost connection")


@dataclass
class Called:
    """What random calls did."""

    calls: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    functions: set[str] = field(default_factory=set)
    harm: list[str] = field(default_factory=list)
    """Statements that ended a process or a connection, or made the engine report an internal error."""
    late: list[str] = field(default_factory=list)
    """Statements that were released more than `GRACE` after their deadline."""
    slowest: float = 0.0

    def add(self, other: Called) -> None:
        self.calls += other.calls
        self.statuses += other.statuses
        self.functions |= other.functions
        self.harm += other.harm
        self.late += other.late
        self.slowest = max(self.slowest, other.slowest)

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "functions": sorted(self.functions)}

    @classmethod
    def of_json(cls, kept: dict[str, Any]) -> Self:
        return cls(**{**kept, "statuses": Counter(kept["statuses"]), "functions": set(kept["functions"])})


def random_call(random_source: random.Random, dialect: Dialect, function: Function) -> str:
    arguments = (*ARGUMENTS, *TYPED[dialect])
    most = function.fewest + 3 if function.most is None else function.most
    count = random_source.randint(function.fewest, max(most, function.fewest))
    written = f"{function.name}({', '.join(random_source.choices(arguments, k=count))})"
    return f"{written} OVER (ORDER BY n)" if function.kind == "window" else written


def random_statement(random_source: random.Random, dialect: Dialect) -> tuple[str, list[str]]:
    """A statement with one or more calls of one kind, and the functions that it calls."""
    known = functions(dialect)
    first = random_source.choice(sorted(known))
    if known[first].kind == "table":
        return f"SELECT * FROM few, {random_call(random_source, dialect, known[first])} LIMIT 9", [first]
    same = sorted(name for name, function in known.items() if function.kind == known[first].kind)
    names = [first, *random_source.choices(same, k=AT_ONCE[dialect] - 1)]
    calls = ", ".join(random_call(random_source, dialect, known[name]) for name in names)
    return f"SELECT {calls} FROM few", names


def call_at_random(database: Database, calls: int, seed: int, seconds: float) -> Called:
    """Make so many calls, or as many as the time allows; the database needs the tables `few` and `many` (n, w)."""
    source, called, schema = random.Random(seed), Called(), database.schema()
    until = time.monotonic() + seconds
    while called.calls < calls and time.monotonic() < until:
        sql, names = random_statement(source, database.dialect)
        verdict = check(parse(sql, database.dialect), schema)
        called.calls += len(names)
        if verdict.statement is None:
            called.statuses["refused"] += len(names)
            continue
        called.functions |= set(names)
        started = time.monotonic()
        result = database.execute(verdict.statement, limits=LIMITS)
        took = time.monotonic() - started
        called.slowest = max(called.slowest, took)
        called.statuses[result.status] += len(names)
        error = result.error or ""
        seen = f"{took:.2f} s  {verdict.statement.sql}  {error}"
        if took > LIMITS.seconds + GRACE:
            called.late.append(seen)
        if any(sign in error.lower() for sign in _LOST):
            called.harm.append(seen)
            if not database.execute(ReadStatement("SELECT 1", database.dialect)).ok:
                raise RuntimeError(f"the database answers no more after {sql}")
    return called
