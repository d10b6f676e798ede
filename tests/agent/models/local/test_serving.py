"""One process serves a fetched model for all that need it, from the first question to the end of the last user."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from agent.models.local import serving
from agent.models.local.serving import ensure_served, free_cores, served
from agent.models.protocol import ModelUnavailable
from eval.tasks.cache_folder import fallback_folder
from tests.agent.models.local.conftest import SERVER, alive, environment, starts
from tests.waiting import becomes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="models are served on Linux and macOS")
USER = """
import sys
from pathlib import Path
from agent.models.local.serving import ensure_served
print(*ensure_served(Path(sys.argv[1]), sys.argv[2]), flush=True)
sys.stdin.read()
"""


def supervisor_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def user(file: Path, program: Path, tmp_path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", USER, str(file), str(program)],
        env=environment(tmp_path, program, PYTHONPATH=str(Path.cwd()), OPENAI_API_KEY="sk-of-somebody-else"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_it_is_started_once_with_a_key_of_its_own_and_loaded(fetched: Path, llama_server: Path) -> None:
    base_url, key = asyncio.run(served(fetched, str(llama_server)))
    assert asyncio.run(served(fetched, str(llama_server))) == (base_url, key)

    (start,) = starts(llama_server)
    words = dict(zip(start["words"], start["words"][1:], strict=False))
    assert (words["-m"], words["--host"], words["--alias"]) == (str(fetched), "127.0.0.1", "tiny")
    assert int(words["-c"]) // 2 >= 8192
    assert (words["-np"], words["--cache-reuse"], words["-t"]) == ("4", "256", str(free_cores()))
    assert {"--kv-unified", "--jinja", "--no-webui"} <= set(start["words"])
    assert key not in start["words"]
    assert httpx.get(f"{base_url}/models").status_code == 401
    listed = httpx.get(f"{base_url}/models", headers={"Authorization": f"Bearer {key}"})
    assert listed.json()["data"][0]["id"] == "tiny"
    for file in fallback_folder().glob("model-*"):
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert 1 <= free_cores() <= (os.cpu_count() or 1)


def test_processes_share_a_server_that_ends_with_the_last(fetched: Path, llama_server: Path, tmp_path: Path) -> None:
    with user(fetched, llama_server, tmp_path) as first, user(fetched, llama_server, tmp_path) as second:
        assert first.stdout.readline() == second.stdout.readline() != ""
        (start,) = starts(llama_server)
        assert start["secret"] is None
        supervisor = supervisor_of(start["pid"])
        first.kill()
        first.wait()
        assert not becomes(lambda: not alive(start["pid"]), seconds=0.7)
        second.kill()
        second.wait()
        assert becomes(lambda: not alive(start["pid"]) and not alive(supervisor), seconds=8)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_killed_supervisor_takes_the_server_along_and_both_come_back(fetched: Path, llama_server: Path) -> None:
    first = ensure_served(fetched, str(llama_server))
    (start,) = starts(llama_server)
    os.kill(supervisor_of(start["pid"]), signal.SIGKILL)
    assert becomes(lambda: not alive(start["pid"]), seconds=8)

    assert ensure_served(fetched, str(llama_server)) != first
    assert len(starts(llama_server)) == 2


def test_what_is_missing_is_said_in_a_sentence(
    fetched: Path, llama_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(file: Path, program: str | None) -> str:
        with pytest.raises(ModelUnavailable) as raised:
            ensure_served(file, program)
        assert raised.value.final
        return str(raised.value)

    assert "install llama.cpp, so that its program llama-server is found" in problem(fetched, None)
    assert "cannot be run" in problem(fetched, str(tmp_path / "missing"))
    assert "`text2sql model get` fetches one" in problem(tmp_path / "other.gguf", str(llama_server))
    monkeypatch.setattr(serving, "available_memory", lambda: 1_000_000)
    assert "tiny takes 2.0 MB of memory, and 1.0 MB are free" in problem(fetched, str(llama_server))
    assert starts(llama_server) == []
    monkeypatch.setattr(serving, "available_memory", lambda: None)
    llama_server.with_name("broken").touch()
    assert "ended at once: error: unknown model architecture" in problem(fetched, str(llama_server))


def test_a_start_that_nobody_waits_for_any_more_is_given_up(fetched: Path, llama_server: Path) -> None:
    given_up = threading.Event()
    threading.Thread(target=lambda: becomes(lambda: bool(starts(llama_server))) and given_up.set()).start()
    with pytest.raises(ModelUnavailable):
        ensure_served(fetched, str(llama_server), given_up)
    assert becomes(lambda: not alive(starts(llama_server)[0]["pid"]), seconds=8)


def test_llama_cpp_python_serves_in_its_place(fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "llama_cpp" / "server" / "__main__.py"
    module.parent.mkdir(parents=True)
    source = SERVER.replace("LLAMA_API_KEY", "API_KEY").replace("--alias", "--model_alias")
    module.write_text(source.replace('"/health"', '"/docs"'))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    base_url, key = ensure_served(fetched, sys.executable)

    listed = httpx.get(f"{base_url}/models", headers={"Authorization": f"Bearer {key}"})
    assert listed.json()["data"][0]["id"] == "tiny"
    words = starts(module)[0]["words"]
    assert words[words.index("--n_ctx") + 1] == "16384"
    assert key not in words
