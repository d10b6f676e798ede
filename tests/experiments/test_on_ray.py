"""Every long run on a Ray cluster: the same results as on this machine, and nothing twice or lost after a kill."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from experiments.reference_participants import serving
from tests.eval.assessment.conftest import QUESTIONS, golds, place
from tests.jsonl import read_lines, write_lines
from tests.waiting import becomes

__all__ = ["golds", "place"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="Ray is not installed: pip install 'askwell[ray]'"),
]
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
    return kept | {"PYTHONPATH": str(ROOT), "TEXT2SQL_STATE_DIR": str(tmp_path / "state")}


@pytest.fixture
def bench(tmp_path: Path, place: Path) -> Path:
    """The questions as benchmarks have them, and 400 statements."""
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "databases").symlink_to(place / "databases")
    base = [{"id": i, "db": "store", "question": q, "gold_sql": sql, "split": "test"} for i, q, sql, _ in QUESTIONS]
    write_lines(folder / "questions.jsonl", base)
    many = [{"id": f"{one['id']}-{n}", "db": "store", "sql": one["gold_sql"]} for n in range(100) for one in base]
    write_lines(folder / "statements.jsonl", many)
    return folder


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", *map(str, words)]


def ended(environment: dict[str, str], *words: object) -> str:
    done = subprocess.run(
        command(*words), env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stdout


def lines(path: Path) -> list[dict[str, Any]]:
    return read_lines(path) if path.exists() else []


def test_a_batch_survives_a_killed_worker_and_a_killed_driver(
    bench: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    check = ("eval.batch", "check", "--dialect", "sqlite", "--databases", bench / "databases", "--quiet", "--jobs", 2)
    given, here, there = bench / "statements.jsonl", tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    ended(environment, *check, "-o", here, given)

    with subprocess.Popen(
        command(*check, "--on", "ray", "-o", there), env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as driver:
        statements = given.read_bytes().splitlines(keepends=True)
        driver.stdin.write(b"".join(statements[:100]))
        driver.stdin.flush()
        assert becomes(lambda: len(there.read_bytes().splitlines()) == 100 if there.exists() else False, PATIENCE)
        workers = list(filter(_is_worker, _descendants(driver.pid)))
        assert workers
        os.kill(workers[0], signal.SIGKILL)
        driver.stdin.write(b"".join(statements[100:300]))
        driver.stdin.flush()
        assert becomes(lambda: len(there.read_bytes().splitlines()) == 300, PATIENCE)
        children = _descendants(driver.pid)
        driver.kill()
    assert there.read_bytes() == b"".join(here.read_bytes().splitlines(keepends=True)[:300])
    ended(environment, *check, "--on", "ray", "-o", there, given)

    assert there.read_bytes() == here.read_bytes()
    assert becomes(lambda: not any(map(_is_worker, children)), PATIENCE)


def test_a_benchmark_is_assessed_alike_and_goes_on(
    place: Path, golds: dict[str, str], tmp_path: Path, environment: dict[str, str]
) -> None:
    with serving(lambda task: {"sql": golds[task["task_id"]]}, rpc=False) as stand:
        agent = ("eval.run_benchmark", "--quiet", "--agent", f"a={stand.url}", "--tasks", place / "tasks.jsonl")
        here = ended(environment, *agent, "--out", tmp_path / "here", "--jobs", 2)
        there = ended(environment, *agent, "--out", tmp_path / "there", "--jobs", 2, "--on", "ray")
        asked = len(stand.asked)
        kept = tmp_path / "there" / "results.jsonl"
        whole = kept.read_text().splitlines(keepends=True)
        kept.write_text("".join(whole[:3]) + whole[3][:20])
        ended(environment, *agent, "--out", tmp_path / "there", "--jobs", 2, "--on", "ray")

    assert len(stand.asked) - asked == 1
    assert here.splitlines()[0] == there.splitlines()[0]
    found, expected = lines(kept), lines(tmp_path / "here" / "results.jsonl")
    assert [one["task_id"] for one in found] == [i for i, *_ in QUESTIONS]
    assert {_judged(one) for one in found} == {_judged(one) for one in expected}
    assert len(found) == len(expected)


def test_a_cluster_whose_workers_cannot_start_ends_the_run(tmp_path: Path, environment: dict[str, str]) -> None:
    script = tmp_path / "driver.py"
    script.write_text(
        "import functools, sys\n"
        "from eval.parallel import answer_file\n"
        "class Unreadable:\n"
        "    def __call__(self, record): return {}\n"
        "    def __reduce__(self): return int, ('no number',)\n"
        "answer_file(Unreadable(), sys.argv[1], 2, 'ray', None, True)\n"
    )
    given = tmp_path / "given.jsonl"
    given.write_text('{"id": 1}\n' * 10)
    done = subprocess.run(
        [sys.executable, script, given], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "No worker could start on the cluster: " in done.stderr


def _judged(result: dict[str, Any]) -> tuple[Any, ...]:
    """What does not depend on how long anything took."""
    judgement = result["judgement"]
    return result["task_id"], result["answer"]["sql"], *(judgement[name] for name in ("va", "em", "ex"))


def _descendants(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, thread.read_text().split()):
            found += [child, *_descendants(child)]
    return found


def _is_worker(pid: int) -> bool:
    try:
        name = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
    return "ray::IDLE" in name or "ray::answered" in name
