"""The reports: nothing that a model said does anything, no asset from anywhere, figures as counted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from eval.assessment import Answer, Judgement, Mistake, TaskResult, figures
from eval.assessment.records import Difference
from eval.report import compare, comparison_markdown, results_csv, summary_markdown

EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x00 | `x` **b** [a](javascript:alert(1))"
SETTINGS = {"source": "tests", "task_count": 4, "participants": [{"name": "a"}, {"name": "b"}], "preset": "default"}


def result(number: int, *, right: bool = True, who: str = "a", **answer: object) -> TaskResult:
    wrong = {} if right else {"mistakes": (Mistake("join", "It leaves orders out."),)}
    return TaskResult(
        who, f"t{number}", "shop", "sqlite", ("easy", "hard")[number % 2], (), f"Question {number}?", "SELECT 1",
        Answer(sql="SELECT 2", seconds=1.5, **answer),  # type: ignore[arg-type]
        Judgement(va=True, ex=right, overall=0.9 if right else 0.2, features=("join",), **wrong),  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("text", ["=1+1", " @SUM(A1)", "-2", "\uff1dcmd"])
def test_no_text_of_the_table_is_a_formula(text: str) -> None:
    row = replace(result(0), question=text, answer=Answer(sql=text))
    assert results_csv([row]).splitlines()[1].count(f"'{text}") == 2


def test_what_a_model_says_stays_text_everywhere() -> None:
    bad = replace(
        result(0, right=False),
        participant=EVIL,
        task_id=EVIL,
        question=EVIL,
        difficulty=EVIL,
        answer=Answer(sql=EVIL, reasoning=EVIL, error=EVIL),
        judgement=Judgement(
            ex=False, error=EVIL, features=(EVIL,), mistakes=(Mistake("join", EVIL),),
            difference=Difference((EVIL,), (EVIL,), 1, 1, ((EVIL,),), ((None,),)),
        ),
    )  # fmt: skip
    both = comparison_markdown(
        compare(EVIL, [bad], EVIL + "2", [replace(bad, judgement=replace(bad.judgement, ex=True))])
    )
    for markdown in (summary_markdown(SETTINGS, [bad, result(1)]), both):
        assert "<script>" not in markdown
        assert "<img" not in markdown
        assert "\u202e" not in markdown
        assert "\x00" not in markdown
        assert "alert(1)" in markdown
        assert "\\](javascript" in markdown
        assert not re.search(r"(?<!\\)\]\(javascript", markdown)


def test_figures_count_every_task_and_say_how_sure_they_are() -> None:
    results = [result(0), result(1), result(2, right=False), result(3, who="a")]
    results[3] = replace(results[3], answer=Answer(failure="timeout", error="late"), judgement=Judgement())
    counted = figures(results)
    assert (counted.ex.right, counted.ex.total) == (2, 4)
    low, high = counted.ex.interval
    assert (round(low, 3), round(high, 3)) == (0.150, 0.850)
    assert counted.failures == {"timeout": 1}
    assert counted.categories["join"] == 1
    assert sum(counted.categories.values()) == 1
    assert list(counted.by_difficulty) == ["easy", "hard"]
    markdown = summary_markdown({**SETTINGS, "participants": [{"name": "a"}]}, results)
    assert "50.0 % (15.0 to 85.0 %), 2/4" in markdown
    assert "Not finished" not in markdown
    assert "Examples given to participants: none" in markdown


def test_calibration_is_by_bands_and_its_error_is_their_weighted_gap() -> None:
    outcomes = [(0.95, True), (0.95, True), (0.95, False), (0.15, False)]
    counted = figures([result(n, right=right, confidence=c) for n, (c, right) in enumerate(outcomes)])
    assert [(round(b.confidence, 2), b.rate.right, b.rate.total) for b in counted.calibration] == [
        (0.15, 0, 1),
        (0.95, 2, 3),
    ]
    assert counted.calibration_error == pytest.approx((0.15 + 3 * (0.95 - 2 / 3)) / 4)
    assert f"| {counted.calibration_error:.3f} |" in summary_markdown(
        SETTINGS, [result(n, right=right, confidence=c) for n, (c, right) in enumerate(outcomes)]
    )


def test_two_runs_are_compared_on_the_tasks_of_both() -> None:
    a = [result(n, right=True) for n in range(12)]
    b = [result(n, right=n < 4) for n in range(11)]
    comparison = compare("new", a, "old", b)
    assert [x.task_id for x, _ in comparison.only_first] == [f"t{n}" for n in range(4, 11)]
    assert comparison.only_second == ()
    assert comparison.p_value == pytest.approx(2 / 2**7)
    assert comparison.unpaired == 1
    markdown = comparison_markdown(comparison)
    assert (
        "7 tasks are right for new alone, 0 for old alone: McNemar's p = 0.0156, unlikely to be chance"
        in markdown.replace("\\", "")
    )
    assert "1 results are of tasks" in markdown
    assert "  - gold: SELECT 1\n  - new: SELECT 2\n  - old: SELECT 2\n" in markdown
    with pytest.raises(ValueError, match="no task in common"):
        compare("a", a, "b", [])
