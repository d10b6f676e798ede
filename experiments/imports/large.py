"""What it costs to import large files, beside DuckDB's own reading of the same file into a table.

`python -m experiments.imports.large [ROWS]`: four files of five to ten columns. Out: processor seconds of each in a
process of its own, and their ratio.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import duckdb

from agent.sources.tabular.plan import Reading
from agent.sources.tabular.stage import Bounds
from agent.sources.tabular.tables import File, import_tables

ROUNDS = 3


def orders(rows: int) -> Iterator[str]:
    """Keys, dates, categories, decimals."""
    pick = random.Random(1)
    yield "order_id,customer_id,day,region,product,quantity,price,discount"
    for i in range(rows):
        day = f"202{pick.randrange(5)}-{pick.randrange(1, 13):02}-{pick.randrange(1, 29):02}"
        region, product = pick.choice(("North", "South", "East", "West")), f"Product {pick.randrange(500)}"
        price, discount = pick.randrange(100, 99_999) / 100, pick.randrange(30) / 100
        yield f"{i},{pick.randrange(50_000)},{day},{region},{product},{pick.randrange(1, 20)},{price},{discount}"


def readings(rows: int) -> Iterator[str]:
    """No key; a clock, decimals with a sign, flags, gaps."""
    pick = random.Random(2)
    yield "station,taken_at,temperature,humidity,wind,ok,battery,remark"
    for i in range(rows):
        clock = f"2024-{i % 12 + 1:02}-{i % 28 + 1:02} {i % 24:02}:{i % 60:02}:{i // 60 % 60:02}"
        values = f"{pick.gauss(12, 8):.2f},{pick.randrange(101)},{pick.random() * 20:.1f}"
        remark = pick.choice(("", "", "", "calm", "gusts"))
        yield f"ST{pick.randrange(300):03},{clock},{values},{pick.choice(('yes', 'no'))},{pick.randrange(101)},{remark}"


def people(rows: int) -> Iterator[str]:
    """Names and addresses, each different; money, integers."""
    pick = random.Random(3)
    yield "id,name,email,city,born,income,children,score,joined"
    for i in range(rows):
        name, born = f"Person {i:x}", f"{pick.randrange(1940, 2005)}-{pick.randrange(1, 13):02}-{i % 28 + 1:02}"
        joined = f"2023-{pick.randrange(1, 13):02}-{i % 28 + 1:02}"
        rest = f"{pick.randrange(200_000)},{pick.randrange(5)},{pick.random():.4f},{joined}"
        yield f"{i},{name},p{i}@example.org,City {pick.randrange(2000)},{born},{rest}"


def bills(rows: int) -> Iterator[str]:
    """As offices in Europe write them: semicolons, `1.234,56 €`, 31.12.2024. DuckDB leaves the amounts as text."""
    pick = random.Random(4)
    yield "Nr;Ort;Betrag;Datum;Bemerkung"
    for i in range(rows):
        amount = f"{pick.random() * 10_000:,.2f}".translate(str.maketrans(",.", ".,"))
        yield f"{i};Ort {i % 500};{amount} €;{i % 28 + 1:02}.{i % 12 + 1:02}.2024;Text {i % 7}"


def imported(path: str, out: str) -> None:
    bounds = Bounds(5_000_000, 1000)
    import_tables([File(Path(path), "t", "delimited")], Path(out), bounds, Reading(), lambda *_: None, memory=4 << 30)


def by_engine(path: str, out: str) -> None:
    with duckdb.connect(out, config={"threads": "2"}) as engine:
        engine.execute("SET enable_progress_bar = false")
        engine.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}')")


def seconds(work: Callable[[str, str], None], path: Path, out: Path) -> float:
    """Of processor time, in a process of its own that has nothing else to do."""
    out.unlink(missing_ok=True)
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (work, str(path), str(out)))


def _timed(work: Callable[[str, str], None], path: str, out: str) -> float:
    start = resource.getrusage(resource.RUSAGE_SELF)
    work(path, out)
    end = resource.getrusage(resource.RUSAGE_SELF)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        for make in (orders, readings, people, bills):
            path = Path(place) / f"{make.__name__}.csv"
            path.write_text("\n".join(make(rows)) + "\n", encoding="utf-8")
            ratios = []
            for _ in range(ROUNDS):
                engine = seconds(by_engine, path, Path(place) / "out.duckdb")
                ours = seconds(imported, path, Path(place) / "out.duckdb")
                ratios.append(ours / engine)
                sys.stdout.write(f"{make.__name__}: {ours:.2f} s, DuckDB {engine:.2f} s, {ratios[-1]:.2f}\n")
            path.unlink()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
