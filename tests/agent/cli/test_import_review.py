"""How a data file was read is shown before the answer, and a person at the terminal changes it in a few letters."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from agent.cli.import_review import ImportReview, edited
from agent.sources.files import open_files, plan_beside
from agent.sources.tabular.plan import Reading
from eval.statement import ReadStatement

CSV = "who,joined,fee\nAnn,03/01/2022,£5\nBob,04/02/2022,£6\nBob,04/02/2022,£6\nCid,05/03/2022,tbc later\n" + "".join(
    f"D{n},05/03/2022,£{n}\n" for n in range(30)
)


def opened(folder: Path, answers: list[str] | None) -> tuple[str, tuple[tuple[object, ...], ...], list[str]]:
    """What was shown, the first rows, and the prompts."""
    out, prompts = io.StringIO(), []
    waiting = iter(answers or [])

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return next(waiting)

    path = folder / "members.csv"
    path.write_text(CSV, encoding="utf-8")
    review = ImportReview(Console(file=out, width=200), path, quiet=False, ask=ask if answers is not None else None)
    with open_files(path, str(folder / "cache"), lambda _: None, review) as database:
        rows = database.execute(ReadStatement("SELECT * FROM members", "duckdb")).rows
    return out.getvalue(), rows, prompts


def test_the_plan_is_shown_and_taken_where_nobody_is_asked(tmp_path: Path) -> None:
    shown, rows, _ = opened(tmp_path, None)

    assert "members: 34 rows" in shown
    assert "fee: £ → number, 33 of 34; 1 cell does not fit (row 5: 'tbc later')" in shown
    assert "joined: date, day first" in shown
    assert "could also be the other way round" in shown
    assert "1 row repeats an earlier one; counted each time" in shown
    assert str(rows[0][1]) == "2022-01-03"


def test_a_person_changes_a_column_and_saves_the_plan(tmp_path: Path) -> None:
    _, rows, prompts = opened(tmp_path, ["nonsense", "2 date mdy", "save", ""])

    assert str(rows[0][1]) == "2022-03-01"
    assert len(prompts) == 4
    saved = plan_beside(tmp_path / "members.csv")
    assert '"order": "mdy"' in saved.read_text()
    _, rows, _ = opened(tmp_path, None)  # the plan beside the file is repeated
    assert str(rows[0][1]) == "2022-03-01"


@pytest.mark.parametrize("said", ["", "9 text", "0 text", "2", "2 colour", "date", "-1 text"])
def test_what_names_no_column_and_kind_changes_nothing(said: str) -> None:
    assert edited(Reading(), said) == ()
