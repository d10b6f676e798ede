"""The gate on gold queries of public questions: it must not refuse what is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.collection import Collection
from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, score
from experiments.json_lines import read_lines
from tests.samples import sampled


@pytest.mark.bench
@pytest.mark.slow
@pytest.mark.parametrize(("name", "every"), [("spider_dev", 4), ("spider_train", 40)])
def test_at_least_97_percent_of_gold_passes_with_a_neutral_judge(name: str, every: int, bench_dir: Path) -> None:
    """Gold that two strong models hold wrong is left out."""
    folder = bench_dir / name
    if not folder.is_dir():
        pytest.skip(f"no {name} in the benchmark data")
    databases = Collection(str(folder / "databases"))
    wrong = {line["id"] for line in read_lines(folder / "gold_verdicts.jsonl") if line["verdict"] != "CORRECT"}
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        golds = [q for q in map(json.loads, file) if q["gold_ok"] and q["id"] not in wrong]
    questions = sampled(golds, every)
    refused = []
    for question in questions:
        scored = score(examine(Query(question["question"], question["gold_sql"]), databases.database(question["db"])))
        if final_score(scored, 0.5) < THRESHOLD:
            refused.append(question["id"])
    databases.close()
    assert len(refused) <= 0.03 * len(questions), refused[:20]
