"""The commands of the lab in a terminal: an interrupt, progress while it works, and the kit that it made."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import commands
from tests.lab.conftest import NAMES, Tuned
from tests.lab.test_reflective import answering
from tests.openai_server import OpenAIServer, Reply, Request

PATIENCE = 60


def command(firm: Path, out: str, *options: str) -> list[str]:
    words = ["-m", "agent.lab", "tune", "--db", str(firm / "firm.sqlite"), "--out", out]
    return [*words, "--questions", str(firm / "verified.jsonl"), "--jobs", "1", *options]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    places = {"TEXT2SQL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    return {**kept, **places, "TEXT2SQL_STRATEGY": "stage-0/no-short", **more}


@contextmanager
def started(words: list[str], folder: Path, **variables: str) -> Iterator[commands.Process]:
    process = commands.Process(
        *words, cwd=folder, env=environment(folder, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


class Stuck:
    """Answers so many requests, and the later ones only after a very long time."""

    def __init__(self, answered: int) -> None:
        self.left, self.usual, self.reached = answered, answering(faults=False), threading.Event()

    def __call__(self, request: Request) -> Reply:
        if self.left:
            self.left -= 1
            return self.usual(request)
        self.reached.set()
        return Reply(delay=PATIENCE)


def test_an_interrupted_command_goes_on_as_if_uninterrupted(firm: Path, endpoint: OpenAIServer, tmp_path: Path) -> None:
    there = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "x"}
    options = ("--evolver", "reflective", "--rounds", "1", "--approach", "refine")
    endpoint.otherwise = answering(faults=False)
    with started(command(firm, "whole", *options), tmp_path, **there) as process:
        told = process.stderr.read()
        assert process.wait(PATIENCE) == 0
    assert "\r" not in told  # in a file, progress is a line for each event; the first says that the questions are few
    assert len(told.splitlines()) == (tmp_path / "whole/journal.jsonl").read_bytes().count(b"\n")
    endpoint.otherwise = stuck = Stuck(answered=70)

    with started(command(firm, "stopped", *options), tmp_path, **there) as process:
        assert stuck.reached.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        text = process.stderr.read()
    assert "Traceback" not in text
    assert "The same command goes on; `python -m agent.lab status stopped` shows how far." in text
    before = (tmp_path / "stopped/journal.jsonl").read_bytes()
    whole = (tmp_path / "whole/journal.jsonl").read_bytes()
    assert whole.startswith(before)
    assert len(before) < len(whole)

    endpoint.otherwise = answering(faults=False)
    with started(command(firm, "stopped", *options, "--json"), tmp_path, **there) as process:
        assert json.loads(process.stdout.read())["random"]["n"] > 0
    assert (tmp_path / "stopped/journal.jsonl").read_bytes() == whole


def test_a_tuned_kit_answers_in_a_terminal(session: Tuned, firm: Path, tmp_path: Path) -> None:
    kit = asyncio.run(session().finish()).kit
    asked, database = "What is the wergild of Zoe?", str(firm / "firm.sqlite")
    words = ("-m", "agent.main", "--kit", kit, "--db", database, "--json", asked)
    done = commands.run(*words, cwd=tmp_path, env=environment(tmp_path), check=True)
    assert json.loads(done.stdout)["rows"] == [[1_000 + NAMES.index("Zoe")]]
