"""`explain` and `fix` on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agent import main
from agent.cli import exits
from tests.agent.access.company import build
from tests.agent.statements.test_mending import MADE


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("commands") / "my shop.db"
    build(f"sqlite://{path}", MADE)
    return str(path)


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int | str | None, str]:
    monkeypatch.setattr(sys, "argv", ["text2sql", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    return ended.value.code, capsys.readouterr().out


def test_explain(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(monkeypatch, capsys, "explain", "SELECT town, COUNT(*) FROM clients GROUP BY town", "--db", file)
    assert (code, out.splitlines()) == (
        exits.ANSWERED,
        ["Shows town and the number of rows of clients.", "One row for each town."],
    )
    code, out = said(monkeypatch, capsys, "explain", "--json", "--db", file, "SELECT twn FROM clients")
    assert code == exits.NO_ANSWER
    assert json.loads(out)["unknown"] == ["column twn (nearest: town)"]


def test_fix(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(monkeypatch, capsys, "fix", "SELECT twn FROM client", "--db", file)
    assert code == exits.ANSWERED
    assert out.startswith("SELECT town FROM clients\n- There is no table `client`")
    assert "Oslo" in out
    asked = ("--question", "How many clients are there?", "--db", file, "--json")
    code, out = said(monkeypatch, capsys, "fix", "SELECT COUNT(*) FROM client", *asked)
    told = json.loads(out)
    assert (code, told["rows"], told["problem"]) == (exits.ANSWERED, [[2]], "")
    assert told["probability"] > 0.5
    code, out = said(monkeypatch, capsys, "fix", "SELECT town FROM client WHERE town = 'Oslo'", *asked)
    assert code == exits.DOUBTFUL
    code, out = said(monkeypatch, capsys, "fix", "SELECT weather FROM planets", "--db", file)
    assert code == exits.NO_ANSWER
    assert "It still does not run" in out


def test_a_question_that_begins_so_stays_a_question(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("explain how many clients there are", "--db", file, "--model", "offline", "--json")
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path))
    _, out = said(monkeypatch, capsys, *words)
    assert json.loads(out)["question"].startswith("explain how many")
