"""Runs of the lab on a server: what their summaries say, for those who may see it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.agent.server.running import running, settings_for
from text2sql_lab.__main__ import app
from text2sql_lab.journal import Journal
from text2sql_lab.measurement import Kits
from text2sql_lab.summary import write_summary

ANA, BEN = ("a-long-random-token-of-ana-0123456789", "a-long-random-token-of-ben-0123456789")


Run = tuple[Path, dict[str, object]]


@pytest.fixture(scope="module")
def tuned(firm: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The folder of a whole run, and what its command printed."""
    out = tmp_path_factory.mktemp("tuned") / "night"
    words = ["--databases", str(firm), "--questions", str(firm / "verified.jsonl"), "--out", str(out), "--seed", "1"]
    return out, json.loads(CliRunner().invoke(app, ["tune", *words, "--offline", "--json", "-q"]).stdout)


def test_a_run_is_shown_with_its_proof_its_kits_and_their_changes(tuned: Run, tmp_path: Path) -> None:
    night, result = tuned
    shutil.copytree(night, tmp_path / "lab/night")
    for name, text in (("broken", "{"), ("other", '{"version": 9}'), ("large", " " * 5_000_001)):
        (tmp_path / "lab" / name).mkdir()
        (tmp_path / "lab" / name / "summary.json").write_text(text)

    with running(settings_for(tmp_path, TEXT2SQL_LAB_DIR=tmp_path / "lab")) as server:
        (run,) = server.get("/lab/runs").json()
        assert server.get("/health").json()["lab"] is True

    assert [run[name] for name in ("name", "model", "seed", "ended", "accepted")] == ["night", "offline", 1, True, True]
    random, apart = run["splits"]
    assert random["proof"] == result["random"]
    assert apart["proof"] == result["form_disjoint"]
    (kit,) = random["kits"]
    assert (kit["kit"], kit["chosen"], kit["by"], kit["parents"]) == (Path(str(result["kit"])).name, True, "mined", [])
    assert kit["elo"] > 1500 > random["base_elo"]
    (change,) = kit["changes"]
    assert change["file"] == "glossary.yaml"
    assert "+ - term: the wergild of" in change["lines"]


def test_a_run_under_way_is_shown_without_a_proof(tuned: Run, tmp_path: Path) -> None:
    whole, _ = tuned
    journal = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    half = tmp_path / "lab/half"
    half.mkdir(parents=True)
    (half / "journal.jsonl").write_bytes(b"".join(journal[:3]))  # it was killed after the first round
    write_summary(half, Journal(half / "journal.jsonl").state, Kits(whole / "kits"))

    with running(settings_for(tmp_path, TEXT2SQL_LAB_DIR=tmp_path / "lab")) as server:
        (run,) = server.get("/lab/runs").json()

    assert (run["ended"], run["accepted"], run["why"]) == (False, False, "")
    (split,) = run["splits"]
    assert (split["name"], split["played"], split["proof"]) == ("random", 1, None)
    assert [kit["chosen"] for kit in split["kits"]] == [False]


def test_only_admins_see_runs_and_nobody_where_no_folder_is_set(tmp_path: Path) -> None:
    tokens = {"TEXT2SQL_TOKENS": f"ana={ANA},ben={BEN}", "TEXT2SQL_ADMINS": "ana"}
    with running(settings_for(tmp_path, TEXT2SQL_LAB_DIR=tmp_path / "none", **tokens)) as server:
        replies = [server.get("/lab/runs", headers={"Authorization": f"Bearer {token}"}) for token in (ANA, BEN)]
        assert [reply.status_code for reply in replies] == [200, 403]
        assert replies[0].json() == []
        assert server.get("/lab/runs").status_code == 401

    with running(settings_for(tmp_path / "other")) as server:
        assert server.get("/lab/runs").status_code == 404
        assert server.get("/health").json()["lab"] is False
