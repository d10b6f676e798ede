"""The published EX of recorded runs of a study, measured again on SQLite, where that data is at hand."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.databases import open_database
from eval.metrics.items import compare_items
from eval.sql.translation import translated

PUBLISHED = {"base_k0": 0.415, "base_k3": 0.556, "qlora_k0": 0.435, "qlora_k3": 0.472, "react_k3": 0.664}
"""By the kind of run; a recorded system is called `MODEL_KIND_SEED`."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        pytest.skip(f"no {path.name} in the benchmark data")
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.bench
@pytest.mark.slow
def test_each_published_rate_is_met_within_two_points(bench_dir: Path) -> None:
    golds = {q["id"]: q["gold_sql"] for q in records(bench_dir / "classicmodels" / "questions.jsonl")}
    right: dict[str, list[bool]] = defaultdict(list)
    differing: list[str] = []
    with open_database(bench_dir / "classicmodels" / "databases" / "classicmodels.sqlite") as database:
        for answer in records(bench_dir.parent / "recorded" / "classicmodels_llama-3-8b.jsonl"):
            sql = translated(answer["sql"], "mysql", "sqlite")
            ex = compare_items(golds[answer["id"]], sql, database).ex is True
            right[answer["system"]].append(ex)
            if ex != answer["reported_ex"]:
                differing.append(f"{answer['system']} {answer['id']}")

    assert len(right) == 6
    for system, verdicts in right.items():
        kind = "_".join(system.split("_")[1:3])
        assert len(verdicts) == 200
        assert sum(verdicts) / len(verdicts) == pytest.approx(PUBLISHED[kind], abs=0.02), system
    assert len(differing) <= 1
