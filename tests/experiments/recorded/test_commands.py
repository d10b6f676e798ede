"""`python -m experiments.recorded` as a user types it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from experiments.recorded.__main__ import app
from tests.commands import Process
from tests.experiments.recorded.conftest import COUNT
from tests.openai_server import OpenAIServer, completion
from tests.pairs import rows

ROOT = Path(__file__).resolve().parents[3]
ASKED = {"model": "m", "messages": [{"role": "user", "content": COUNT}]}


@contextmanager
def started(*arguments: object) -> Iterator[tuple[Process, str]]:
    """The process and the base URL that its first line names."""
    words, pipe = ("-m", "experiments.recorded", *arguments), subprocess.PIPE
    with Process(*words, cwd=ROOT, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        try:
            name, _, url = process.stdout.readline().strip().partition("=")
            assert name == "OPENAI_BASE_URL", process.stderr and process.stderr.read()
            yield process, url
        finally:
            process.kill()


def answer_from(url: str) -> str:
    reply = httpx.post(f"{url}/chat/completions", json=ASKED, trust_env=False, timeout=30).json()
    return str(reply["choices"][0]["message"]["content"])


def test_serve_answers_until_it_is_interrupted(recording: Path, questions: Path) -> None:
    options = ("--recording", recording, "--questions", questions, "--system", "third,first")
    with started("serve", *options) as (process, url):
        assert answer_from(url) == "```sql\nSELECT COUNT(id) FROM ships\n```"
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=30)

    assert process.returncode == 130
    assert output == ""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_record_then_serve_replays_for_free(tmp_path: Path, ending: int) -> None:
    file = tmp_path / "run.jsonl"
    with OpenAIServer() as upstream:
        upstream.script(completion("one"), completion("two"))
        with started("record", "--upstream", upstream.url, "--out", file) as (process, url):
            live = [answer_from(url), answer_from(url)]
            process.send_signal(ending)
            _, output = process.communicate(timeout=30)
    with started("serve", "--recording", file) as (_, url):
        replayed = [answer_from(url), answer_from(url)]

    assert output == ("2 exchanges recorded\n" if ending == signal.SIGINT else "")
    assert live == replayed == ["one", "two"]


@pytest.mark.parametrize(("arguments", "wrong"), rows("experiments/recorded_refused.jsonl"))
def test_what_cannot_be_served_is_said_in_one_line(
    recording: Path, questions: Path, arguments: list[str], wrong: str
) -> None:
    filled = [a.format(answers=recording, questions=questions) for a in arguments]
    done = CliRunner().invoke(app, filled)

    assert done.exit_code == 2
    assert wrong in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
