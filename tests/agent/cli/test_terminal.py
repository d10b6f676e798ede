"""The command line in a real process: on a terminal of its own, under Ctrl-C, and with a reader that goes away."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import commands
from tests.agent.server import processes
from tests.openai_server import OpenAIServer, completion
from tests.waiting import becomes

pty = pytest.importorskip("pty")
PATIENCE = 60
"""Seconds for anything to appear; a loaded machine is slow."""


@pytest.fixture
def slow_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.otherwise = completion("late", delay=120)
        yield server


def environment(folder: Path, **variables: str) -> dict[str, str]:
    own = {"TEXT2SQL_CACHE_DIR": str(folder / "cache"), "TERM": "xterm", "COLUMNS": "100"}
    return processes.environment(folder, **own, **variables)


class Terminal:
    """A process on a pseudo-terminal, and what it has shown so far."""

    def __init__(self, folder: Path, *words: str, **variables: str) -> None:
        self._master, slave = pty.openpty()
        self.process = commands.Process(
            *("-m", "agent.main", *words),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment(folder, **variables),
            terminal=True,
        )
        os.close(slave)
        os.set_blocking(self._master, False)
        self.shown = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def wait_for(self, text: str) -> None:
        assert becomes(lambda: text in self._read(), PATIENCE), f"{text!r} did not appear in {self.shown!r}"

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        assert becomes(lambda: bool(self._read()) and self.process.poll() is not None, PATIENCE), self.shown
        self._read()
        return self.process.wait()

    def _read(self) -> str:
        with contextlib.suppress(OSError):  # nothing is there, or the other end is closed
            self.shown += os.read(self._master, 65536).decode("utf-8", "replace")
        return self.shown


def test_a_session_survives_ctrl_c(tmp_path: Path, shop_file: Path, slow_server: OpenAIServer) -> None:
    words = ("--interactive", "--db", str(shop_file))
    variables = {"OPENAI_BASE_URL": slow_server.url, "OPENAI_API_KEY": "x"}
    with Terminal(tmp_path, *words, **variables) as terminal:
        terminal.wait_for("> ")
        terminal.type("how many customers are there?\n")
        terminal.wait_for("planning")
        assert slow_server.arrived.wait(PATIENCE)
        terminal.type("\x03")
        terminal.wait_for("Stopped. The session goes on.")
        terminal.type("\\model offline\n")
        terminal.wait_for("model: offline")
        terminal.type("how many customers are there?\n")
        terminal.wait_for("How sure:")
        terminal.type("\\quit\n")
        assert terminal.end() == 0
    assert "Traceback" not in terminal.shown
    assert (tmp_path / "cache" / "history").read_text().count("how many customers") >= 1


def test_nothing_said_opens_a_session_which_is_a_conversation_that_asks_back(tmp_path: Path, shop_file: Path) -> None:
    with Terminal(tmp_path, "--db", str(shop_file), "--model", "offline") as terminal:
        terminal.wait_for("Ask a question")
        terminal.wait_for("> ")
        terminal.type("how many orders are there?\n")
        terminal.wait_for("How sure:")
        terminal.type("only paid ones\n")
        terminal.wait_for("Read as: ")
        terminal.type("best customers\n")
        terminal.wait_for("By which measure?")
        terminal.type("1\n")
        terminal.wait_for("Read as: best customers by number of orders")
        terminal.type("\\new\n")
        terminal.wait_for("A new conversation.")
        terminal.type("\\quit\n")
        assert terminal.end() == 0
    assert "Traceback" not in terminal.shown


def test_lines_from_a_pipe_are_never_taken_for_answers(tmp_path: Path, shop_file: Path) -> None:
    done = commands.run(
        *("-m", "agent.main", "--interactive", "--db", shop_file, "--model", "offline"),
        input="best customers\nhow many orders are there?\nonly paid ones\n",
        cwd=tmp_path,
        env=environment(tmp_path),
        timeout=PATIENCE,
    )
    assert done.returncode == 0
    assert "By which measure?" not in done.stdout
    assert "**4**" in done.stdout
    assert "Read as: " in done.stdout


def test_a_batch_is_stopped_by_an_interrupt(tmp_path: Path, shop_file: Path, slow_server: OpenAIServer) -> None:
    process = commands.Process(
        *("-m", "agent.batch", "answer", "--databases", shop_file.parent),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path, OPENAI_BASE_URL=slow_server.url, OPENAI_API_KEY="x"),
    )
    with process:
        process.stdin.write('{"id": 1, "db": "small shop", "question": "how many customers are there?"}\n')
        process.stdin.flush()
        assert slow_server.arrived.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert "Traceback" not in process.stderr.read()


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path, shop_file: Path) -> None:
    process = commands.Process(
        *("-m", "agent.main", "--db", shop_file, "--model", "offline", "how many customers are there?"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(tmp_path),
    )
    with process:
        process.stdout.close()
        assert process.wait(PATIENCE) == 0
        assert "summed up" in (shown := process.stderr.read())
        assert "Traceback" not in shown
        assert "BrokenPipe" not in shown


def test_a_terminal_that_lacks_letters_gets_their_numbers(tmp_path: Path, shop_file: Path) -> None:
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = ("--db", str(shop_file), "--model", "offline", "--json", "List all customers")
    done = subprocess.run(
        [sys.executable, "-m", "agent.main", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        env=environment(tmp_path, **plain),
        timeout=PATIENCE,
    )

    assert done.returncode in (0, 5)
    assert done.stderr.startswith(b"\\xb7 starting")
    assert "Chloé" in done.stdout.decode("utf-8")
