"""The line protocol: one JSON line out for each line in, whatever the line holds."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from eval.jsonl import Record, answer_lines, encode, workers
from tests.jsonl import read_lines
from tests.waiting import becomes

ROOT = Path(__file__).parents[2]


def double(record: Record) -> Record:
    if record.get("n") == "boom":
        raise RuntimeError("no such number")
    return {"twice": record["n"] * 2}


def answered(lines: list[bytes], work: Callable[[Record], Record] = double, jobs: int = 1) -> list[Record]:
    out = io.StringIO()
    with workers(work, jobs) as submit:
        assert answer_lines(lines, submit, out, ahead=jobs) == 0
    return read_lines(out.getvalue())


def test_one_line_out_for_each_line_in_with_its_id() -> None:
    lines = [b'\xef\xbb\xbf{"id": "q", "n": 1}\n', b"   \r\n", b'{"n": 2}']
    assert answered(lines) == [{"id": "q", "twice": 2}, {"id": None, "twice": 4}]


def test_several_jobs_keep_the_order() -> None:
    turns = {0: threading.Event()}

    def submit_backwards(record: Record) -> Future[Record]:
        def work() -> Record:
            if record["n"] == 0:
                assert turns[0].wait(5)
            else:
                turns[0].set()
            return {"n": record["n"]}

        return pool.submit(work)

    out = io.StringIO()
    with ThreadPoolExecutor(2) as pool:
        answer_lines([b'{"n": 0}', b'{"n": 1}'], submit_backwards, out, ahead=2)

    assert [json.loads(line)["n"] for line in out.getvalue().splitlines()] == [0, 1]


@pytest.mark.parametrize(
    ("line", "identifier", "error"),
    [
        (b"{not json", None, "line 2 is not JSON: Expecting property name enclosed in double quotes"),
        (b"[1, 2]", None, "line 2 is not a JSON object"),
        (b'{"id": "\xff"}', None, "line 2 is not UTF-8"),
        (b"[" * 100_000, None, "line 2 is not JSON: nested too deeply"),
        (b'{"id": "x", "n": "boom"}', "x", "RuntimeError: no such number"),
    ],
)
def test_a_bad_line_is_an_error_and_the_rest_goes_on(line: bytes, identifier: str | None, error: str) -> None:
    before, bad, after = answered([b'{"id": 1, "n": 1}', line, b'{"id": 3, "n": 3}'])

    assert (before["twice"], after["twice"]) == (2, 6)
    assert bad == {"id": identifier, "error": error}


def test_a_result_that_is_not_json_is_an_error() -> None:
    (answer,) = answered([b'{"id": 1, "n": 1}'], lambda record: {"value": float("nan")})

    assert answer["error"].startswith("ValueError")


def test_encoding_escapes_what_could_steer_a_terminal_and_keeps_letters() -> None:
    line = encode({"text": "Zoë \x1b[31m \x9b \u202e \ud800 \x7f"})

    assert line == '{"text": "Zoë \\u001b[31m \\u009b \\u202e \\ud800 \\u007f"}'
    assert json.loads(line)["text"].startswith("Zoë \x1b[31m")


def test_a_line_is_answered_before_the_next_one_comes() -> None:
    answered_first = threading.Event()

    class Out(io.StringIO):
        def flush(self) -> None:
            answered_first.set()

    def slow_input() -> Iterator[bytes]:
        yield b'{"id": 1, "n": 1}'
        assert answered_first.wait(5), "the first answer must not wait for the second line"
        yield b'{"id": 2, "n": 2}'

    out = Out()
    with workers(double, 1) as submit:
        answer_lines(slow_input(), submit, out)

    assert len(out.getvalue().splitlines()) == 2


def note_process(folder: str, _: Record) -> Record:
    (Path(folder) / str(os.getpid())).touch()
    return {}


_PARENT = """
import functools, sys, time
from eval.jsonl import workers
from tests.eval.test_jsonl import note_process

if __name__ == "__main__":
    with workers(functools.partial(note_process, sys.argv[1]), 2) as submit:
        [future.result() for future in [submit({"n": n}) for n in range(20)]]
        print("ready", flush=True)
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are asked after by number, as POSIX does")
def test_processes_end_when_their_parent_was_killed(tmp_path: Path) -> None:
    (script := tmp_path / "parent.py").write_text(_PARENT)
    (folder := tmp_path / "pids").mkdir()
    parent = subprocess.Popen(
        [sys.executable, str(script), str(folder)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert parent.stdout.readline() == b"ready\n"
    processes = [int(path.name) for path in folder.iterdir()]
    assert processes
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert becomes(lambda: not any(alive(pid) for pid in processes), 10)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:  # gone meanwhile, or no Linux
        return not Path("/proc").is_dir()
    return state != "Z"  # in a container nobody may collect it
