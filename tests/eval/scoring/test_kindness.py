"""However kind the judge, what can't be an answer stays below the threshold; and good answers pass a neutral one."""

from __future__ import annotations

import pytest

from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, score
from tests.eval.scoring.conftest import QUESTIONS

NEVER = {
    "SELECT 1": "SELECT 1",
    "empty": "",
    "blank": "  \n ",
    "unparsable": "SELECT FROM WHERE",
    "drop": "DROP TABLE {table}",
    "delete": "DELETE FROM {table}",
    "two statements": "SELECT * FROM {table}; DROP TABLE {table}",
    "cartesian": "SELECT * FROM {table}, {other}",
    "cross join": "SELECT COUNT(*) FROM {table} AS a CROSS JOIN {other} AS b",
    "unrelated table": "SELECT * FROM {unrelated}",
    "unrelated count": "SELECT COUNT(*) FROM {unrelated}",
    "unrelated column": "SELECT {column} FROM {unrelated}",
    "phantom table": "SELECT * FROM no_such_table",
    "phantom column": "SELECT no_such_column FROM {table}",
}
NAMES = {
    "shop": {"table": "customers", "other": "products", "unrelated": "suppliers", "column": "phone"},
    "school": {"table": "teacher", "other": "course", "unrelated": "boiler", "column": "maker"},
}
RIGHT = [(name, question, sql) for name in NAMES for question, sql in QUESTIONS[f"{name}: right"]]


@pytest.mark.parametrize(("name", "question", "sql"), RIGHT)
@pytest.mark.parametrize("what", NEVER)
def test_what_cannot_be_an_answer_never_passes(
    name: str, question: str, sql: str, what: str, request: pytest.FixtureRequest
) -> None:
    scored = score(examine(Query(question, NEVER[what].format(**NAMES[name])), request.getfixturevalue(name)))
    assert final_score(scored, 1.0) < THRESHOLD


@pytest.mark.parametrize(("name", "question", "sql"), RIGHT)
def test_good_answers_pass(name: str, question: str, sql: str, request: pytest.FixtureRequest) -> None:
    scored = score(examine(Query(question, sql), request.getfixturevalue(name)))
    assert not scored.vetoes
    assert final_score(scored, 0.5) >= THRESHOLD
