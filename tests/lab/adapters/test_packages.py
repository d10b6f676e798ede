"""Without the packages of `askwell[adapters]`, the commands that need them say so, and the others work."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval.errors import InputError
from text2sql_lab.adapters.commands import app
from text2sql_lab.adapters.export import export
from text2sql_lab.adapters.train import loss_svg


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


def test_every_command_has_help() -> None:
    for command in ("data", "tiny", "train", "serve", "gate", "export"):
        done = CliRunner().invoke(app, [command, "--help"])
        assert (done.exit_code, "Usage: " in done.stdout) == (0, True), command


def test_an_export_of_nothing_or_under_a_bad_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not the folder of a training run"):
        export(tmp_path, tmp_path / "out", "tuned")
    with pytest.raises(InputError, match="small letters"):
        export(tmp_path, tmp_path / "out", "../tuned")


def test_the_curve_falls_from_left_to_right() -> None:
    drawn = loss_svg([(1, 4.0), (2, 2.0), (3, 1.0)])

    lines = [part for part in drawn.split("<line ") if 'class="path"' in part]
    assert len(lines) == 2
    assert 'y1="20.0"' in lines[0]
    assert loss_svg([])
