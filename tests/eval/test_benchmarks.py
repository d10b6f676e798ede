"""The benchmark's own honesty: what it times is what it says it times. Times themselves are not asserted."""

from __future__ import annotations

import pytest

from eval.databases import open_database
from eval.sql import check, parse, resolve
from eval.tasks import demo_path
from experiments.speed import evaluator


def test_every_statement_passes_the_guard_names_real_things_and_answers() -> None:
    with open_database(str(demo_path("enterprise"))) as database:
        for sql in evaluator.STATEMENTS:
            parsed = parse(sql, "sqlite")
            statement = check(parsed).statement
            assert statement is not None
            assert resolve(parsed, database.schema()).phantoms == ()
            result = database.execute(statement)
            assert result.ok
            assert result.rows


def test_the_median_leaves_the_first_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([9.0, 9.0, 9.0, 0.001, 0.002, 0.003, 0.004, 0.005])
    clock = [0.0]
    monkeypatch.setattr(evaluator.time, "perf_counter", lambda: clock[0])

    def work() -> None:
        clock[0] += next(seconds)

    assert evaluator.milliseconds(work, runs=5) == pytest.approx(3.0)
    assert next(seconds, None) is None
