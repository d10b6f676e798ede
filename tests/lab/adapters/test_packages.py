"""Without the packages of `askwell[adapters]`, the commands that need them say so, and the others work."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.errors import InputError
from text2sql_lab.adapters.commands import app
from text2sql_lab.adapters.export import export


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    given = ["--data", str(tmp_path), "--out", str(tmp_path / "out")]

    trained = CliRunner().invoke(app, ["train", *given, "--base", "any", "--qlora"])
    tiny = CliRunner().invoke(app, ["tiny", *given])
    served = CliRunner().invoke(app, ["serve", "--base", "any"])

    assert [one.exit_code for one in (trained, tiny, served)] == [2, 2, 2]
    assert "Not installed: torch, transformers, peft, trl, accelerate, datasets, bitsandbytes." in trained.output
    assert "pip install 'askwell[adapters]'" in tiny.output
    assert not (tmp_path / "out").exists()


def test_an_export_of_nothing_or_under_a_bad_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not the folder of a training run"):
        export(tmp_path, tmp_path / "out", "tuned")
    with pytest.raises(InputError, match="small letters"):
        export(tmp_path, tmp_path / "out", "../tuned")
