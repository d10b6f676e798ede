"""`askwell FILE...`: files become one database with a page; a person sees how they were read, and changes it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from agent.cli.page_command import names_file
from agent.cli.session import ImportReview, edited
from agent.sources.files import open_files, plan_beside
from agent.sources.tabular.plan import Reading
from eval.statement import ReadStatement
from tests import commands
from tests.agent.server.processes import environment


def opening(folder: Path, *words: str) -> commands.Process:
    pipe = subprocess.PIPE
    return commands.Process(
        "-m", "agent.main", *words, cwd=folder, env=environment(folder), stdout=pipe, stderr=pipe
    )  # fmt: skip


def test_files_become_one_database_whose_page_is_printed(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("order_id,customer_id,amount\n1,1,5\n2,2,7\n3,1,8\n")
    (tmp_path / "customers.csv").write_text("customer_id,name\n1,Ann\n2,Bob\n")

    with opening(tmp_path, "orders.csv", "customers.csv", "--no-browser", "--port", "0") as process:
        first, place = process.stdout.readline(), process.stdout.readline().strip()
        address, _, name = place.partition("/d/")
        schema = httpx.get(f"{address}/schema/{name}").json()
        page = httpx.get(place)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == "reading orders.csv, customers.csv …\n"

    assert address in first
    assert {table["name"] for table in schema["tables"]} == {"orders", "customers"}
    assert page.status_code == 200


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [("gone.csv", None, "There is no file gone.csv"), ("broken.xlsx", b"PK\x03\x04 no workbook", "no Excel workbook")],
)
def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, name: str, content: bytes | None, problem: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with opening(tmp_path, name, "--no-browser", "--port", "0") as process:
        complaint = process.stderr.read()
        assert process.wait(20) == 3

    assert problem in complaint
    assert "Traceback" not in complaint


def test_a_question_after_a_file_is_answered_at_once(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nRome,5\nOslo,7\nBonn,8\n")

    for words in (["total amount", "--yes", "--json"], ["--yes", "--json", "total amount"]):
        with opening(tmp_path, "sales.csv", *words) as process:
            answer = json.loads(process.stdout.read())
            assert process.wait(20) == 0
        assert answer["rows"] == [[20]]


def test_a_question_is_no_file(tmp_path: Path) -> None:
    assert not names_file("how many rows are in sales.csv")
    assert not names_file("customers")
    assert names_file("sales.csv")
    (tmp_path / "my sales").write_text("a,b\n1,2\n")
    assert names_file(str(tmp_path / "my sales"))


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
