"""Batches on a Ray cluster: the same lines as without one, whatever happens to its workers."""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eval.errors import InputError
from eval.jsonl import LineError, Record, answer_lines, results
from eval.parallel import Pace, is_ray, spread
from tests import commands
from tests.jsonl import read_lines


def lines(count: int) -> list[bytes]:
    return [json.dumps({"id": n, "n": n}).encode() + b"\n" for n in range(count)]


def squared(record: Record) -> Record:
    if record["n"] == 13:
        raise LineError("13 is not squared")
    return {"square": record["n"] ** 2}


def deadly(folder: str, record: Record) -> Record:
    """One record kills its worker the first time, another one every time."""
    mark = Path(folder) / "died"
    if record["n"] == 66 or (record["n"] == 40 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"n": record["n"]}


def written(work: functools.partial[Record] | object, count: int, jobs: int, on: str | None) -> list[Record]:
    out = io.StringIO()
    with spread(work, jobs, on) as (submit, ahead):  # type: ignore[arg-type]
        assert answer_lines(lines(count), submit, out, ahead=ahead) == 0
    return read_lines(out.getvalue())


def test_where_work_may_run_is_checked() -> None:
    assert [is_ray(where) for where in (None, "here", "ray", "auto", "ray://host:10001")] == [False, False, *[True] * 3]
    with pytest.raises(InputError, match="none of: here"):
        is_ray("mars")


def test_requests_of_all_workers_take_their_turns() -> None:
    pace = Pace()
    waits = [pace.wait("http://a", 60) for _ in range(4)]
    assert [round(wait) for wait in waits] == [0, 1, 2, 3]
    assert round(pace.wait("http://b", 60)) == 0


def apart(code: str) -> list[Record]:
    """What `code` prints as lines of JSON, in a process of its own: a cluster leaves threads and processes behind."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'askwell[ray]'")
    script = f"import functools, json\nfrom tests.eval.test_parallel import *\n{code}"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr[-2_000:]
    return read_lines(ended.stdout)


def test_a_cluster_gives_the_same_lines_in_the_same_order_and_loses_none(tmp_path: Path) -> None:
    same, other, *lines_back = apart(
        "print(json.dumps(written(squared, 130, 2, 'ray')))\n"
        "print(json.dumps(written(squared, 130, 1, None)))\n"
        f"for line in written(functools.partial(deadly, {str(tmp_path)!r}), 90, 2, 'ray'): print(json.dumps(line))"
    )
    assert same == other
    assert [one["id"] for one in lines_back] == list(range(90))
    failed = [one for one in lines_back if "error" in one]
    assert [one["id"] for one in failed] == [66]
    assert "died 3 times" in failed[0]["error"]


def test_a_stopped_run_goes_on_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": 0, "square": 0}\n{"id": 1, "square": 1}\n{"id": 2, "squ')
    with results(str(path), lines(4)) as (left, stream), spread(squared, 1, None) as (submit, ahead):
        answer_lines(left, submit, stream, ahead=ahead)
    assert read_lines(path) == [{"id": n, "square": n * n} for n in range(4)]


def test_a_file_with_other_answers_is_not_continued(tmp_path: Path) -> None:
    questions, out = tmp_path / "statements.jsonl", tmp_path / "out.jsonl"
    questions.write_text('{"id": "a", "sql": "SELECT 1"}\n')
    out.write_text('{"id": "b", "allowed": true}\n')
    ended = commands.run("-m", "eval.batch", "check", "--dialect", "sqlite", "-o", out, questions)
    assert ended.returncode == 2
    assert "answers other lines: it has id 'b' where line 1 has 'a'" in ended.stderr
    assert out.read_text() == '{"id": "b", "allowed": true}\n'
