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
from tests.samples import sampled

PUBLISHED = {"base_k0": 0.415, "base_k3": 0.556, "qlora_k0": 0.435, "qlora_k3": 0.472, "react_k3": 0.664}
"""By the kind of run; a recorded system is called `MODEL_KIND_SEED`."""
SYSTEMS = ["base_k0_seed7", "base_k3_seed17", "base_k3_seed7", "qlora_k0_seed7", "qlora_k3_seed7", "react_k3_seed7"]


def records(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        pytest.skip(f"no {path.name} in the benchmark data")
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.bench
@pytest.mark.slow
def test_each_published_rate_is_met_within_two_points(bench_dir: Path) -> None:
    golds = {q["id"]: q["gold_sql"] for q in records(bench_dir / "classicmodels" / "questions.jsonl")}
    systems = sampled(SYSTEMS, 3)
    right: dict[str, list[bool]] = defaultdict(list)
    differing: list[str] = []
    with open_database(bench_dir / "classicmodels" / "databases" / "classicmodels.sqlite") as database:
        for answer in records(bench_dir.parent / "recorded" / "classicmodels_llama-3-8b.jsonl"):
            if answer["system"].removeprefix("llama_") not in systems:
                continue
            sql = translated(answer["sql"], "mysql", "sqlite")
            ex = compare_items(golds[answer["id"]], sql, database).ex is True
            right[answer["system"].removeprefix("llama_")].append(ex)
            if ex != answer["reported_ex"]:
                differing.append(f"{answer['system']} {answer['id']}")

    assert set(right) == set(systems)
    for system, verdicts in right.items():
        kind = system.rpartition("_")[0]
        assert len(verdicts) == 200
        assert sum(verdicts) / len(verdicts) == pytest.approx(PUBLISHED[kind], abs=0.02), system
    assert len(differing) <= 1
