"""`python -m eval.run_benchmark` against agents on loopback: whole, killed, stopped, refused, compared."""

from __future__ import annotations

import contextlib
import csv
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.assessment.records import TaskResult
from eval.run_benchmark import app
from eval.run_folder import RunFolder, RunFolderError, load_run
from experiments.reference_participants import serving
from tests.commands import Process, run
from tests.eval.assessment.conftest import golds, place
from tests.jsonl import read_lines
from tests.waiting import becomes

__all__ = ["golds", "place"]

ROOT = Path(__file__).resolve().parents[2]


def started(*arguments: object) -> Process:
    pipe = subprocess.PIPE
    return Process("-m", "eval.run_benchmark", *arguments, cwd=ROOT, stdout=pipe, stderr=pipe)


def ended(*arguments: object) -> tuple[int, str, str]:
    done = run("-m", "eval.run_benchmark", *arguments, cwd=ROOT, timeout=90)
    return done.returncode, done.stdout, done.stderr


def results(folder: Path) -> list[dict[str, Any]]:
    file = folder / "results.jsonl"
    return read_lines(file) if file.exists() else []


def test_a_run_leaves_results_and_a_summary(tmp_path: Path, place: Path, golds: dict[str, str]) -> None:
    tasks, out = place / "tasks.jsonl", tmp_path / "out"
    with serving(lambda task: {"sql": golds[task["task_id"]]}, rpc=False) as good:
        agents = ("--agent", f"good={good.url}", "--agent", "gone=http://127.0.0.1:1")
        code, output, err = ended(*agents, "--tasks", tasks, "--output", out)
        assert code == 0, err
        assert "good: EX 100 % (51.0 to 100 %), 4/4; overall 0.9" in output
        assert "gone: EX 0 % (0 to 49.0 %), 0/4; overall 0.000; no answer: 4 unreachable" in output
        assert {(r["participant"], r["task_id"]) for r in results(out)} == {
            (w, t) for w in ("good", "gone") for t in golds
        }
        assert "| good | 0.9" in (out / "summary.md").read_text()
        table = list(csv.DictReader((out / "results.csv").read_text().splitlines()))
        assert [(r["participant"], r["ex"]) for r in table] == [("gone", "False")] * 4 + [("good", "True")] * 4
        assert {r["sql"] for r in table} == {"", *golds.values()}

        asked = len(good.asked)
        code, again, err = ended(*agents, "--tasks", tasks, "--out", out)
        assert (code, again, len(good.asked)) == (0, output, asked)

        code, output, _ = ended(*agents, "--tasks", tasks, "--out", out, "--retry-unanswered", "--timeout", 5)
        assert code == 2, "another timeout is another run"
        code, output, _ = ended(*agents, "--tasks", tasks, "--out", out, "--retry-unanswered")
        assert (code, len(good.asked), len(results(out))) == (0, asked, 12)
        assert "4/4" in output
        assert "0/4" in output


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path, place: Path, golds: dict[str, str]) -> None:
    hold = threading.Event()

    def say(task: dict[str, Any]) -> dict[str, Any]:
        if not hold.is_set() and len(stand.asked) > 2:
            hold.wait(90)
        return {"sql": golds[task["task_id"]]}

    arguments = ("--tasks", place / "tasks.jsonl", "--out", tmp_path, "--jobs", 1, "--protocol", "rest")
    with serving(say) as stand:
        process = started("--agent", f"a={stand.url}", *arguments)
        assert becomes(lambda: len(results(tmp_path)) == 2, 60)
        code, _, err = ended("--agent", f"a={stand.url}", *arguments)
        assert (code, "Another run is writing" in err) == (2, True)
        process.kill()
        process.communicate()
        hold.set()
        with (tmp_path / "results.jsonl").open("a") as file:
            file.write('{"participant": "a", "task_id": "cut sho')
        before = len(stand.asked)
        code, output, err = ended("--agent", f"a={stand.url}", *arguments)
        assert code == 0, err
        assert "2 of 4 results are there already" in err
        assert len(stand.asked) - before == 2
    assert "4/4" in output
    assert sorted(r["task_id"] for r in results(tmp_path)) == sorted(golds)


def test_ctrl_c_writes_what_is_there_and_leaves_no_process(tmp_path: Path, place: Path, golds: dict[str, str]) -> None:
    hold = threading.Event()

    def say(task: dict[str, Any]) -> dict[str, Any]:
        if len(stand.asked) > 1:
            hold.wait(90)
        return {"sql": golds[task["task_id"]]}

    with serving(say) as stand:
        out = tmp_path / "out"
        process = started("--agent", f"a={stand.url}", "--tasks", place / "tasks.jsonl", "--out", out, "--jobs", 1)
        assert becomes(lambda: len(results(out)) == 1, 60)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        pids = children.read_text().split() if children.exists() else []
        process.send_signal(signal.SIGINT)
        output, err = process.communicate(timeout=60)
        hold.set()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "1/1" in output
    assert "Not finished: 1 of 4 results" in (out / "summary.md").read_text()
    assert becomes(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_an_agent_that_is_started_is_ended_and_one_that_does_not_start_says_why(tmp_path: Path, place: Path) -> None:
    sql = f"SELECT COUNT(*) AS of_{os.getpid()} FROM customers"
    agent = f"python -m experiments.reference_participants '{sql}' {{port}}"
    tasks = ("--tasks", place / "tasks.jsonl", "--limit", 1, "--out", tmp_path / "out")
    code, output, err = ended("--spawn-command", f"mine={agent}", *tasks)
    assert code == 0, err
    assert "mine: EX 100 %" in output
    assert not any(sql in command for command in commands())
    code, _, err = ended("--spawn-command", "python -c 'raise SystemExit(\"no-key\")'", *tasks[:-1], tmp_path / "other")
    assert (code, "The process ended with code 1: no-key" in err) == (2, True)


def commands() -> Iterator[str]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if file.parent.name != str(os.getpid()):
                yield file.read_text(errors="replace")


def test_the_projects_own_agent_is_started_and_asked_over_a2a(tmp_path: Path, place: Path) -> None:
    pytest.importorskip("a2a")
    tasks = ("--tasks", place / "tasks.jsonl", "--ids", "all", "--protocol", "a2a")
    code, output, err = ended("--spawn", *tasks, "--out", tmp_path / "out")
    assert code == 0, err
    assert "text2sql: EX 100 %" in output


def refused(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return re.sub(r"\s+", " ", done.output)


def test_wrong_use_says_what_to_change(tmp_path: Path, place: Path) -> None:
    one = ("--agent", "a=http://127.0.0.1:1", "--out", tmp_path / "out")
    tasks = ("--tasks", place / "tasks.jsonl")
    assert "Nobody to ask" in refused(*tasks)
    assert "'grpc' is not one of 'auto', 'rest', 'a2a'" in refused(*one, "--protocol", "grpc")
    assert "There is no schema 'x' among the tasks; there are: store." in refused(*one, *tasks, "--schema", "x")
    assert "Two agents have the same name" in refused(*one, *tasks, "--agent", "a=http://127.0.0.1:2")
    assert "--spawn-command has no command." in refused(*tasks, "--spawn-command", "x=")
    assert "cannot be written" in refused(*one[:-1], place / "tasks.jsonl", *tasks)
    assert "is not the folder of a run" in refused("--compare", tmp_path / "p", tmp_path / "q")


def test_runs_are_compared_by_task(tmp_path: Path, place: Path, golds: dict[str, str]) -> None:
    def say(task: dict[str, Any]) -> dict[str, Any]:
        return {"sql": golds[task["task_id"]] if task["task_id"] in right else "SELECT 1"}

    tasks, right = ("--tasks", place / "tasks.jsonl", "-q"), {"all", "berlin"}
    with serving(say) as stand:
        for name, known in (("before", {"all"}), ("after", {"all", "berlin", "spent"})):
            right = known
            agents = ("--agent", f"a={stand.url}", "--agent", "b=http://127.0.0.1:1")
            assert CliRunner().invoke(app, [*map(str, (*agents, *tasks)), "--out", str(tmp_path / name)]).exit_code == 0
    assert "has 2 participants (a, b): write" in refused("--compare", tmp_path / "before", tmp_path / "after")
    pair = [f"{tmp_path / 'before'}:a", f"{tmp_path / 'after'}:a"]
    done = CliRunner().invoke(app, ["--compare", *pair, "--out", str(tmp_path / "c")])
    assert done.exit_code == 0, done.output
    assert "0 tasks are right for a (before:a) alone, 2 for a (after:a) alone: McNemar's p = 0.5" in done.output
    assert "Who lives in Berlin?" in (tmp_path / "c" / "comparison.md").read_text()


def test_a_folder_takes_one_run_and_is_free_while_it_is_empty(tmp_path: Path) -> None:
    with RunFolder(tmp_path, {"preset": "default"}, TaskResult):
        pass
    with (
        RunFolder(tmp_path, {"preset": "strict"}, TaskResult) as folder,
        pytest.raises(RunFolderError, match="another run is writing"),
    ):
        RunFolder(folder.path, {"preset": "strict"}, TaskResult)
    assert load_run(tmp_path, TaskResult)[0]["preset"] == "strict"
    (tmp_path / "results.jsonl").write_text("{}\n")
    with pytest.raises(RunFolderError, match="line 1 is no result"):
        RunFolder(tmp_path, {"preset": "strict"}, TaskResult)
    (tmp_path / "run.json").unlink()
    with pytest.raises(RunFolderError, match=r"holds results without run\.json"):
        RunFolder(tmp_path, {"preset": "strict"}, TaskResult)
