"""`ask`, `run`, `Thread` and the views of an `Answer`, the tool for LangChain and the example notebook, offline."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.pairs import rows
from text2sql import Answer, Thread, ask, run
from text2sql.errors import NoChart, PackageMissing, QuestionFailed
from text2sql.langchain import ROWS, database_tool
from text2sql.testing import ScriptedModel

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
HOSTILE = "<script>alert(1)</script>"


def answer(columns: list[str], *rows: list[object], text: str = "", **more: object) -> Answer:
    return Answer(question="?", status="success", answer=text, columns=columns, rows=list(rows), **more)


def test_a_failure_is_an_exception_that_holds_the_answer() -> None:
    with pytest.raises(QuestionFailed, match="no database file") as caught:
        ask("How many orders?", database="missing.sqlite", model="offline")
    assert (caught.value.kind, caught.value.answer.status) == ("database", "error")


def test_an_unknown_option_is_named_with_those_there_are() -> None:
    with pytest.raises(TypeError, match=r"no option db; the options are .*database, model"):
        ask("How many customers are there?", db="shop")  # type: ignore[call-arg]


async def test_asking_works_inside_a_running_loop() -> None:
    waited = ask("How many customers are there?", database="shop", model="offline")
    awaited = await run("How many customers are there?", database="shop", model="offline")
    assert waited.rows == awaited.rows


def test_a_thread_keeps_its_context_and_goes_on_after_a_failure() -> None:
    thread = Thread("shop", model="offline")
    listed = thread.ask("which customers are from Berlin?")
    with pytest.raises(QuestionFailed):
        thread.ask(" ")
    counted = asyncio.run(thread.run("how many are they?"))
    assert counted.rows == [[len(listed.rows)]]
    assert counted.read_as
    assert thread.answers == [listed, counted]


def test_rows_become_a_frame_and_an_arrow_table_with_dates_and_numbers() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    twice = answer(["day", "n", "n", "code"], ["2024-01-31", 1, 1.5, "2024-13-45"], [None, None, 2.5, "2024-01-01"])
    assert [t.kind for t in twice.df.dtypes] == ["M", "f", "f", "O"]
    assert twice.df.shape == (2, 4)
    unique = answer(["day", "n"], ["2024-01-31", 1])
    assert [str(field.type)[:9] for field in unique.arrow.schema] == ["timestamp", "int64"]


@pytest.mark.parametrize(("columns", "lines", "drawn"), rows("text2sql/charts.jsonl"))
def test_each_shape_has_its_chart(columns: list[str], lines: list[list[object]], drawn: str) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    pytest.importorskip("pandas")
    ax = answer(columns, *lines).plot(figure.add_subplot())
    assert [name for name in ("lines", "patches", "collections") if len(getattr(ax, name))] == [drawn]


@pytest.mark.parametrize("shown", [answer(["n"], [1]), answer(["a", "b"], ["x", "y"], ["z", "w"]), answer([])])
def test_rows_without_a_chart_say_so(shown: Answer) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(NoChart):
        shown.plot()
    assert "<img" not in shown._repr_html_()


def test_the_view_in_a_notebook_shows_all_and_trusts_nothing() -> None:
    shown = answer(
        [HOSTILE, "n"],
        *([f"{HOSTILE}{i}", i] for i in range(25)),
        text=f"**Ada** leads. {HOSTILE} ![x](http://evil.example/a.png) [y](http://evil.example)",
        sql=f"SELECT '{HOSTILE}'",
    )._repr_html_()
    assert "<strong>Ada</strong>" in shown
    assert "5 more rows" in shown
    assert "SELECT &#x27;" in shown
    assert "Passed every check." in shown
    assert "<script" not in shown
    assert 'src="http' not in shown
    assert "href" not in shown


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PackageMissing, match=r"needs pandas: pip install 'askwell\[notebook\]'"):
        _ = answer(["n"], [1]).df
    assert "<table" in answer(["n"], [1])._repr_html_()


@pytest.mark.parametrize(("question", "sql", "unused"), rows("text2sql/unused_words.jsonl"))
def test_a_word_that_a_models_query_passes_over_is_named(question: str, sql: str, unused: list[str]) -> None:
    answer = ask(question, database="shop", model=ScriptedModel(sql, relevance=0.9))
    assert [part.text for part in answer.reading if part.kind == "unused"] == unused
    assert answer.reading[0].text == "the number of rows of customers"


CALL = {"type": "tool_call", "id": "1", "name": "ask_database", "args": {"question": "list all customers"}}


def test_the_model_reads_the_first_rows_and_the_artifact_has_all() -> None:
    message = database_tool("shop", model="offline").invoke(CALL)
    shown = json.loads(message.content)
    assert (shown["status"], len(shown["rows"])) == ("success", ROWS)
    assert isinstance(message.artifact, Answer)
    assert len(message.artifact.rows) == shown["rows_in_all"] > ROWS
    assert shown["sql"].startswith("SELECT")


async def test_the_tool_awaits_and_a_failure_is_raised() -> None:
    tool = database_tool("shop", model="offline")
    assert json.loads(await tool.ainvoke({"question": "How many customers are there?"}))["rows"]
    with pytest.raises(QuestionFailed):
        await database_tool("missing.sqlite", model="offline").ainvoke({"question": "How many?"})


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    for package in ("ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(package, reason=f"needs {package}")
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parents[1]))
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)

    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    views = [data["text/html"] for data in shown if "text/html" in data]
    assert any("<img" in view and "<table" in view and "SELECT" in view for view in views)
    assert any("image/png" in data for data in shown)
