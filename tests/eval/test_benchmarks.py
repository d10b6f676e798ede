"""The benchmark's own honesty: what it times is what it says it times. Times themselves are not asserted."""

from __future__ import annotations

from pathlib import Path

from eval import benchmarks
from eval.databases import open_database
from eval.sql import check, parse, resolve
from eval.tasks import demo_path


def test_every_statement_passes_the_guard_names_real_things_and_answers(tmp_path: Path) -> None:
    path = demo_path("enterprise", tmp_path)
    with open_database(str(path)) as database:
        for sql in benchmarks.STATEMENTS:
            parsed = parse(sql, "sqlite")
            statement = check(parsed).statement
            assert statement is not None
            assert resolve(parsed, database.schema()).phantoms == ()
            result = database.execute(statement)
            assert result.ok
            assert result.rows


def test_the_median_leaves_the_first_runs_out() -> None:
    calls: list[int] = []
    spent = benchmarks.milliseconds(lambda: calls.append(1), runs=5)
    assert len(calls) == 8
    assert spent >= 0
