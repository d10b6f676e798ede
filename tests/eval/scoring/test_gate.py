"""However kind the judge, what cannot be an answer or is contradicted stays below; good answers pass a neutral one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eval.collection import Collection
from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, lets_through, passes, score
from eval.tasks.demos import demo_path
from experiments.json_lines import read_lines
from tests.eval.scoring.conftest import QUESTIONS
from tests.pairs import rows
from tests.samples import sampled

NEVER = dict(rows("scoring/never_passes.jsonl"))
NAMES = {
    "shop": {"table": "customers", "other": "products", "unrelated": "suppliers", "column": "phone"},
    "school": {"table": "teacher", "other": "course", "unrelated": "boiler", "column": "maker"},
}
RIGHT = [(name, question, sql) for name in NAMES for question, sql in QUESTIONS[f"{name}: right"]]


@pytest.mark.parametrize(("name", "question", "sql"), RIGHT)
@pytest.mark.parametrize("what", NEVER)
def test_no_non_answer_passes(name: str, question: str, sql: str, what: str, request: pytest.FixtureRequest) -> None:
    scored = score(examine(Query(question, NEVER[what].format(**NAMES[name])), request.getfixturevalue(name)))
    assert final_score(scored, 1.0) < THRESHOLD


@pytest.mark.parametrize(("name", "question", "sql"), RIGHT)
def test_good_answers_pass(name: str, question: str, sql: str, request: pytest.FixtureRequest) -> None:
    scored = score(examine(Query(question, sql), request.getfixturevalue(name)))
    assert not scored.vetoes
    assert final_score(scored, 0.5) >= THRESHOLD


@pytest.fixture(scope="module")
def demo() -> Iterator[Database]:
    with open_database(demo_path("shop")) as database:
        yield database


@pytest.mark.parametrize(("question", "sql"), rows("scoring/contradicted.jsonl"))
def test_a_favourable_judge_lifts_no_contradicted_query(demo: Database, question: str, sql: str) -> None:
    scored = score(replace(examine(Query(question, sql), demo), relevance=1.0))
    assert scored.proved
    assert not passes(scored, 1.0)


def test_what_is_proved_costs_its_dimensions(demo: Database) -> None:
    scored = score(examine(Query("How many customers are there?", "SELECT country FROM customers"), demo))
    assert scored.proved
    assert scored.dimensions["semantic_accuracy"] < 1
    assert scored.dimensions["completeness"] < 1


def test_a_word_that_is_asked_for_or_grouped_is_no_condition(demo: Database) -> None:
    grouped = "SELECT country, COUNT(*) FROM customers GROUP BY country"
    assert score(examine(Query("customers: sweden or germany?", grouped), demo)).proved == ()
    dropped = "SELECT COUNT(*) FROM customers"
    assert score(examine(Query("How many customers live in Sweden?", dropped), demo)).proved


@pytest.mark.parametrize(
    ("final", "vetoes", "through"), [(0.70, (), True), (0.69, (), False), (0.95, ("another year",), False)]
)
def test_the_gate_is_one_condition(final: float, vetoes: tuple[str, ...], through: bool) -> None:
    assert lets_through(final, vetoes) is through


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
