"""The judge learns from verdicts only what answers held out bear out, and what it learned can be taken back."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from agent.judging.lessons import Judged, lessons
from agent.judging.local import BadJudge, LocalJudge, forget, keep, kept, local_judge, name_of
from agent.judging.refit import Lesson, learn
from eval.databases import open_database
from eval.examination import Query, examine
from eval.scoring import score
from eval.scoring.correctness import coefficients
from eval.scoring.types import Case
from eval.tasks.demos import demo_path


def _lessons(share: float, count: int, *, name: str = "", told: float = 0.0) -> list[Lesson]:
    """Answers of one writer; `name` is seen on right ones, and on the share `told` of wrong ones."""
    dice = random.Random(3)
    made = []
    for number in range(count):
        right = dice.random() < share
        seen = {name: 1.0} if name and (right or dice.random() < told) else {}
        made.append(Lesson(f"question {number}", "a model", seen, right))
    return made


@pytest.mark.parametrize("share", [0.2, 0.95])
def test_a_writers_share_becomes_its_prior(share: float) -> None:
    learned_judge = learn(_lessons(share, 50))
    assert learned_judge.judge is not None
    assert learned_judge.judge.priors["a model"] == pytest.approx(share, abs=0.15)
    assert learned_judge.losses["prior"] < learned_judge.losses["shipped"]
    assert learned_judge.judge.weights is None


def test_a_writer_like_the_shipped_one_changes_nothing() -> None:
    assert learn(_lessons(0.88, 100)).judge is None


def test_few_verdicts_teach_nothing() -> None:
    assert learn(_lessons(0.0, 10)).judge is None


def test_a_check_that_is_wrong_here_loses_its_weight() -> None:
    name = "other_table_named"
    learned_judge = learn(_lessons(0.6, 150, name=name))
    assert learned_judge.judge is not None
    assert learned_judge.judge.weights is not None
    assert coefficients().weights[name] < learned_judge.judge.weights[name] <= 0


def test_what_was_learned_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "judge.json"
    name = name_of("ann", "shop")
    assert local_judge(str(file), "ann", "shop") is None
    first, second = LocalJudge({"m": 0.5}, None, 20), LocalJudge({"m": 0.6}, {"empty_result": -0.5}, 70)
    for judge in (first, second):
        keep(file, name, judge)
    assert local_judge(str(file), "ann", "shop") == second
    assert local_judge(str(file), "bob", "shop") is None
    assert forget(file, name)
    assert local_judge(str(file), "ann", "shop") == first
    assert forget(file, name)
    assert local_judge(str(file), "ann", "shop") is None
    assert not forget(file, name)


@pytest.mark.parametrize("text", ["[]", '{"a/b": [{"priors": {"m": 7}, "weights": null, "answers": 1}]}', "{"])
def test_another_file_is_no_judge(tmp_path: Path, text: str) -> None:
    file = tmp_path / "judge.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadJudge):
        local_judge(str(file), "a", "b")


def test_a_correction_teaches_twice() -> None:
    verdicts = [
        Judged("How many customers are there?", "SELECT COUNT(*) FROM customers", "right", "m"),
        Judged(
            "How many orders are there?", "SELECT COUNT(*) FROM products", "corrected", "m", "SELECT 1 FROM nowhere"
        ),
        Judged("How many products?", "SELECT 1 FROM products", "corrected", "m", "SELECT COUNT(*) FROM products"),
        Judged("Delete all", "DELETE FROM products", "wrong", "m"),
    ]
    with open_database(demo_path("shop")) as database:
        lessons_read = asyncio.run(lessons(verdicts, database))
    assert [(one.right, one.writer) for one in lessons_read] == [(True, "m"), (False, "m"), (False, "m"), (True, "")]


def test_a_case_is_judged_by_what_was_learned() -> None:
    with open_database(demo_path("shop")) as database:
        case = examine(Query("How many customers are there?", "SELECT COUNT(*) FROM orders"), database)

    def probability(**known: object) -> float:
        changed = Case(**{name: getattr(case, name) for name in Case.__slots__} | known)
        return score(changed).probability or 0.0

    assert probability(prior=0.3) < probability() < probability(prior=0.97)
    assert probability(weights={}) > probability()


def test_a_file_that_cannot_be_looked_at_is_named(tmp_path: Path) -> None:
    unusable = tmp_path / ("long" * 100)
    for look in (lambda: kept(unusable), lambda: local_judge(str(unusable), "local", "shop")):
        with pytest.raises(BadJudge, match="cannot be read"):
            look()
