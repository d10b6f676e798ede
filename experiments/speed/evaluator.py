"""What our own part of a statement costs, as ratios within one run; nothing here passes or fails.

    python -m experiments.speed.evaluator

Measured on the demo databases: how long a first build takes; parse, guard and references of a few statements against
the time that SQLite itself needs for them; the overhead of `Database.execute` over a bare connection; introspection
cold and warm. A ratio is worth more than its milliseconds: those depend on the machine.
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eval.databases import Database, open_database
from eval.schema import Schema
from eval.sql import check, parse, resolve
from eval.statement import ReadStatement
from eval.tasks import DEMOS, demo_path

RUNS = 30

STATEMENTS: tuple[str, ...] = (
    "SELECT COUNT(*) FROM dim_store",
    "SELECT channel, COUNT(*) FROM fact_orders GROUP BY channel",
    "SELECT s.store_name, SUM(f.sales_amount) FROM fact_sales AS f JOIN dim_store AS s ON s.store_key = f.store_key "
    "GROUP BY s.store_key, s.store_name",
    "SELECT p.product_name, SUM(f.sales_amount) FROM fact_sales AS f JOIN dim_product AS p "
    "ON p.product_key = f.product_key JOIN dim_date AS d ON d.date_key = f.date_key WHERE d.year = 2024 "
    "GROUP BY p.product_key, p.product_name ORDER BY SUM(f.sales_amount) DESC LIMIT 10",
    "SELECT product_name FROM dim_product WHERE product_type = 'finished' "
    "AND product_key NOT IN (SELECT product_key FROM fact_sales)",
    "WITH RECURSIVE parts(product_key) AS (SELECT component_product_key FROM bill_of_materials "
    "WHERE parent_product_key = 3 UNION SELECT b.component_product_key FROM bill_of_materials AS b JOIN parts "
    "ON parts.product_key = b.parent_product_key) SELECT p.product_name FROM parts JOIN dim_product AS p "
    "ON p.product_key = parts.product_key",
    "SELECT * FROM fact_web_events LIMIT 5000",
)
"""From a look-up to five thousand rows, all on `enterprise`."""


def milliseconds(work: Callable[[], object], runs: int = RUNS) -> float:
    """Median over `runs`, after three warm-up runs."""
    times = []
    for _ in range(runs + 3):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times[3:])


def main() -> None:
    """Print the tables."""
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="text2sql-bench-"))
    try:
        console.print(builds(folder))
        path = demo_path("enterprise", folder)
        with open_database(str(path)) as database, closing(sqlite3.connect(path)) as raw:
            schema = database.schema()
            statements = [statement for sql in STATEMENTS if (statement := check(parse(sql, "sqlite")).statement)]
            console.print(checks(schema, raw))
            console.print(execution(database, raw, statements))
            console.print(introspection(path, database, raw))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def builds(folder: Path) -> Table:
    """The first use of each demo, in seconds, and its second."""
    table = _table("Demo databases", "demo", "rows", "first use", "again", "rows a second")
    for demo in DEMOS:
        begun = time.perf_counter()
        path = demo_path(demo.id, folder)
        built = time.perf_counter() - begun
        again = milliseconds(lambda demo_id=demo.id: demo_path(demo_id, folder))  # type: ignore[misc]
        with open_database(str(path)) as database:
            rows = sum(one.row_count or 0 for one in database.schema().tables)
        table.add_row(demo.id, f"{rows:,}", f"{built:.2f} s", f"{again:.3f} ms", f"{rows / built:,.0f}")
    return table


def checks(schema: Schema, raw: sqlite3.Connection) -> Table:
    """Parse, guard and references, each as a share of the statement's own time."""
    table = _table(
        "Before a statement runs", "statement", "parse", "guard", "references", "SQLite alone", "checks / SQLite"
    )
    for sql in STATEMENTS:
        parsed = parse(sql, "sqlite")
        parts = (
            milliseconds(lambda sql=sql: parse(sql, "sqlite")),  # type: ignore[misc]
            milliseconds(lambda parsed=parsed: check(parsed)),  # type: ignore[misc]
            milliseconds(lambda parsed=parsed: resolve(parsed, schema)),  # type: ignore[misc]
        )
        alone = milliseconds(lambda sql=sql: raw.execute(sql).fetchall())  # type: ignore[misc]
        table.add_row(_short(sql), *(f"{part:.2f} ms" for part in (*parts, alone)), f"{sum(parts) / alone:.2f}")
    return table


def execution(database: Database, raw: sqlite3.Connection, statements: Iterable[ReadStatement]) -> Table:
    """The hardened, bounded `execute` against the same text on a bare connection."""
    table = _table("Running it", "statement", "execute", "SQLite alone", "ratio")
    for statement in statements:
        ours = milliseconds(lambda statement=statement: database.execute(statement))  # type: ignore[misc]
        alone = milliseconds(lambda sql=statement.sql: raw.execute(sql).fetchall())  # type: ignore[misc]
        table.add_row(_short(statement.sql), f"{ours:.2f} ms", f"{alone:.2f} ms", f"{ours / alone:.2f}")
    return table


def introspection(path: Path, database: Database, raw: sqlite3.Connection) -> Table:
    """The structure of `enterprise`, read and remembered, against one bare look at the catalogue."""
    look = milliseconds(lambda: raw.execute("SELECT * FROM sqlite_master").fetchall())
    cold = milliseconds(lambda: _fresh_schema(path), runs=5)
    warm = milliseconds(database.schema)
    table = _table("Introspection of enterprise", "what", "time", "against a look at sqlite_master")
    for what, spent in (("cold", cold), ("warm", warm), ("sqlite_master alone", look)):
        table.add_row(what, f"{spent:.3f} ms", f"{spent / look:.1f}")
    return table


def _fresh_schema(path: Path) -> Schema:
    with open_database(str(path)) as database:
        return database.schema(ttl=0)


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for other in others:
        table.add_column(other, justify="right")
    return table


def _short(sql: str, most: int = 48) -> str:
    return sql if len(sql) <= most else sql[: most - 1] + "…"


if __name__ == "__main__":
    main()
