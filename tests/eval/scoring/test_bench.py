"""The gate on gold queries of public questions: it must not refuse what is right."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from eval.collection import Collection
from eval.scoring import THRESHOLD, final_score, score
from eval.scoring.examining import examine

BENCH = Path(os.environ.get("TEXT2SQL_BENCH_DIR", Path(__file__).parents[3] / ".." / "shared" / "bench"))


@pytest.mark.bench
@pytest.mark.slow
@pytest.mark.parametrize(("name", "every"), [("spider_dev", 1), ("spider_train", 10)])
def test_at_least_95_percent_of_gold_passes_with_a_neutral_judge(name: str, every: int) -> None:
    folder = BENCH / name
    if not folder.is_dir():
        pytest.skip(f"no {name} under {BENCH}: set TEXT2SQL_BENCH_DIR")
    databases = Collection(str(folder / "databases"))
    with (folder / "questions.jsonl").open(encoding="utf-8") as file:
        questions = [q for q in map(json.loads, file) if q["gold_ok"]][::every]
    refused = []
    for question in questions:
        scored = score(examine(question["question"], question["gold_sql"], databases.database(question["db"])))
        if final_score(scored, 0.5) < THRESHOLD:
            refused.append(question["id"])
    databases.close()
    assert len(refused) <= 0.05 * len(questions), refused[:20]
