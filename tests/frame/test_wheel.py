"""The wheel works in an empty environment: a question is answered, and the server shows the page that is inside it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
QUESTION = "How many customers are there?"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "frontend/dist/index.html").is_file() and not shutil.which("node"):
        pytest.skip("the page is not built and there is no Node to build it with")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        ["sh", "tools/wheel.sh", str(folder), sys.executable], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    [built] = folder.glob("askwell-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of an environment that holds the wheel and its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    done = subprocess.run([*install, str(wheel)], capture_output=True, text=True, timeout=900)
    if done.returncode:
        pytest.fail(f"pip could not install the wheel: {done.stderr[-2000:]}")
    return folder / "bin"


def environment(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_", "PYTHON"))}
    return {**kept, "TEXT2SQL_CACHE_DIR": str(folder / "cache"), "TEXT2SQL_STATE_DIR": str(folder / "state")}


def test_a_question_is_answered(installed: Path, tmp_path: Path) -> None:
    program = f"from text2sql import ask; print(ask({QUESTION!r}, database='shop', model='offline').status)"

    for command in (
        [str(installed / "text2sql"), "--db", "shop", QUESTION],
        [str(installed / "python"), "-c", program],
    ):
        done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert done.stdout == "success\n"


def test_the_lab_is_apart_and_its_command_says_so(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "python"), "-m", "agent.lab", "tune", "--help"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (1, "The lab is not installed: pip install 'askwell[lab]'\n")


def test_the_server_shows_its_page_and_takes_a_file(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "python"), "-m", "agent.server", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = next((m[0] for line in server.stdout if (m := re.search(r"http://127\.0\.0\.1:\d+", line))), None)
            assert address, "the server said no address"
            page = httpx.get(address)
            upload = httpx.post(
                f"{address}/databases/upload", files={"file": ("sums.csv", "city,sum\nOslo,3\n")}, timeout=60
            )
        finally:
            server.terminate()
    assert page.status_code == 200
    assert '<div id="root">' in page.text
    assert upload.status_code == 201, upload.text
