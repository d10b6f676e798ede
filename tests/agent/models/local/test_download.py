"""A model is downloaded once, kept only if it is the right one, and answers at every door without further settings."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.models.discovery import ModelServer
from agent.models.local import download
from agent.models.local.download import State, get_model, remove_model, state_of, stop_getting
from agent.models.protocol import ModelUnavailable
from eval.errors import InputError
from tests.agent.models.local.conftest import TINY, WEIGHTS, Hub, alive, environment, starts
from tests.agent.server.running import BEN, running, settings_for
from tests.waiting import becomes

PATH = "/people/tiny-GGUF/resolve/main/tiny-q4.gguf"


def test_it_comes_from_the_hub_once_and_is_told_while_it_comes(hub: Hub, tmp_path: Path) -> None:
    heard: list[int] = []

    path = get_model(TINY, tmp_path / "models", on_bytes=heard.append)
    get_model(TINY, tmp_path / "models")

    assert path.read_bytes() == WEIGHTS
    assert (heard == sorted(heard), heard[-1]) == (True, len(WEIGHTS))
    assert hub.asked == [(PATH, None)]
    assert [file.name for file in (tmp_path / "models").iterdir()] == ["tiny.gguf"]
    assert state_of(TINY, tmp_path / "models") == State("fetched", len(WEIGHTS), "")


def test_a_cut_connection_is_taken_up_where_it_was(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = 2

    assert get_model(TINY, tmp_path).read_bytes() == WEIGHTS

    third = len(WEIGHTS) // 3
    assert [asked for _, asked in hub.asked[:2]] == [None, f"bytes={third}-"]
    assert len(hub.asked) == 3


def test_a_mirror_without_ranges_sends_it_from_the_start(hub: Hub, tmp_path: Path) -> None:
    hub.ranges = False
    (tmp_path / "tiny.gguf.part").write_bytes(b"x" * 1000)

    assert get_model(TINY, tmp_path, f"{hub.url}/mirror/tiny").read_bytes() == WEIGHTS
    assert hub.asked == [("/mirror/tiny", "bytes=1000-")]


@pytest.mark.parametrize("content", [WEIGHTS[:-1] + b"x", WEIGHTS + b"x"])
def test_another_file_is_thrown_away(hub: Hub, tmp_path: Path, content: bytes) -> None:
    hub.content = content

    with pytest.raises(ModelUnavailable, match=r"is not tiny: size or SHA-256 differ\. What came was thrown away\."):
        get_model(TINY, tmp_path)

    assert state_of(TINY, tmp_path).bytes == 0
    assert "SHA-256" in state_of(TINY, tmp_path).problem
    hub.content = WEIGHTS
    assert get_model(TINY, tmp_path).is_file()
    assert state_of(TINY, tmp_path).problem == ""


def test_it_is_copied_from_a_file(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "stick.gguf").write_bytes(WEIGHTS)

    assert get_model(TINY, tmp_path / "models", str(tmp_path / "stick.gguf")).read_bytes() == WEIGHTS
    assert hub.asked == []
    with pytest.raises(InputError, match="There is no file"):
        get_model(TINY, tmp_path / "other", str(tmp_path / "missing.gguf"))


def test_what_cannot_be_had_is_told(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.status = 404
    with pytest.raises(ModelUnavailable, match=rf"{re.escape(hub.url + PATH)} answered 404: 0\.0 MB of 1\.0 MB have"):
        get_model(TINY, tmp_path)
    assert len(hub.asked) == 1
    monkeypatch.setattr(download.time, "sleep", lambda _: None)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        get_model(TINY, tmp_path, "http://127.0.0.1:1/tiny")


def test_a_full_disk_is_told_before_and_as_it_fills(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full")
    usage = download.shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(download.shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
        with pytest.raises(ModelUnavailable, match=r"the disk is full \(1\.0 MB are to come and 1\.0 MB are free\)"):
            get_model(TINY, tmp_path)
    assert hub.asked == []
    if not full.exists():
        pytest.skip("no /dev/full")
    (tmp_path / "tiny.gguf.part").unlink()
    (tmp_path / "tiny.gguf.part").symlink_to(full)
    with pytest.raises(ModelUnavailable, match=r"the disk is full \(No space left on device\)"):
        get_model(TINY, tmp_path)


def test_one_process_gets_it_and_any_other_can_stop_it(hub: Hub, tmp_path: Path) -> None:
    hub.waits = threading.Event()
    failures: list[ModelUnavailable] = []

    def get() -> None:
        try:
            get_model(TINY, tmp_path)
        except ModelUnavailable as error:
            failures.append(error)

    thread = threading.Thread(target=get)
    thread.start()
    assert becomes(lambda: state_of(TINY, tmp_path).bytes > 0)
    with pytest.raises(ModelUnavailable, match="is being fetched by another process"):
        get_model(TINY, tmp_path)
    assert state_of(TINY, tmp_path).state == "fetching"
    stop_getting(TINY, tmp_path)
    hub.waits.set()
    thread.join(20)

    assert "The download was stopped" in str(failures[0])
    assert state_of(TINY, tmp_path).state == "absent"
    assert remove_model(TINY, tmp_path) > 0
    assert list(tmp_path.glob("tiny*")) == []


def test_ctrl_c_keeps_the_part_and_the_same_command_goes_on(hub: Hub, tmp_path: Path, llama_server: Path) -> None:
    hub.waits = threading.Event()
    program = (
        "import sys; from agent.models.local import download; from tests.agent.models.local.conftest import TINY\n"
        "download.CATALOGUE = (TINY,); from agent.main import main; sys.argv[1:] = ['model', 'get', '--yes']; main()"
    )
    words = [sys.executable, "-c", program]
    env = environment(tmp_path, llama_server, HF_ENDPOINT=hub.url, PYTHONPATH=str(Path.cwd()))
    part = tmp_path / "cache" / "models" / "tiny.gguf.part"
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert becomes(lambda: part.exists() and part.stat().st_size > 0)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert "Stopped. The same command goes on." in process.stderr.read()
    had = part.stat().st_size
    hub.waits.set()
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "It answers from now on where no model is named" in done.stdout
    assert hub.asked[-1] == (PATH, f"bytes={had}-")
    assert part.with_suffix("").read_bytes() == WEIGHTS


def configured(tmp_path: Path, program: Path, **more: Any) -> dict[str, Any]:
    cache = str(tmp_path / "cache")
    return {"TEXT2SQL_LOCAL_MODEL": "", "TEXT2SQL_CACHE_DIR": cache, "TEXT2SQL_LLAMA_SERVER": str(program), **more}


def test_which_model_answers(
    fetched: Path, llama_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answering(**more: Any) -> str:
        return Settings(_env_file=None, **configured(tmp_path, llama_server, **more)).model.answering

    assert answering() == "tiny"
    assert answering(TEXT2SQL_LOCAL_MODEL="off") == "offline"
    assert answering(TEXT2SQL_MODEL="offline") == "offline"
    assert answering(OPENAI_API_KEY="sk-x") == "gpt-5"
    assert answering(OPENAI_BASE_URL="http://gpu/v1") == ""
    assert answering(TEXT2SQL_LOCAL_MODEL="other") == "other"  # its first call says that it is not there
    assert answering(TEXT2SQL_LOCAL_MODEL=str(tmp_path / "own.gguf")) == "own"
    fetched.with_name("newer.gguf").write_bytes(b"")
    assert answering() == "newer"
    assert answering(TEXT2SQL_MODEL="tiny") == "tiny"
    monkeypatch.setenv("PATH", "")
    assert answering(TEXT2SQL_LLAMA_SERVER="") == "offline"  # nothing could serve it
    fetched.unlink()
    fetched.with_name("newer.gguf").unlink()
    assert answering() == "offline"


def test_the_command_line_asks_it_and_says_so(fetched: Path, llama_server: Path, tmp_path: Path) -> None:
    def asked(*words: str) -> tuple[dict[str, Any], str]:
        done = subprocess.run(
            [sys.executable, "-m", "agent.main", "--json", *words, "How many customers are there?"],
            env=environment(tmp_path, llama_server),
            capture_output=True,
            text=True,
            check=False,
        )
        return json.loads(done.stdout), done.stderr

    engine, _ = asked("--model", "offline")
    assert (engine["model"], starts(llama_server)) == ("offline", [])
    answer, told = asked("--strategy", "zero-shot/no-summary")  # the engine alone would be sure enough
    assert (answer["model"], answer["status"]) == ("tiny", "success"), answer
    assert answer["tokens"]["calls"] == 1
    assert answer["tokens"]["cost_usd"] == 0
    assert "The model tiny on this machine answers" in told
    (start,) = starts(llama_server)
    assert becomes(lambda: not alive(start["pid"]), seconds=8)


def test_a_server_gets_tries_and_uses_it_while_it_runs(hub: Hub, llama_server: Path, tmp_path: Path) -> None:
    hub.waits = threading.Event()
    config = settings_for(tmp_path, **configured(tmp_path, llama_server))
    with running(config) as server, server.client() as client:
        assert client.get("/health").json()["model"] == "offline"
        (offered,) = client.get("/model/local").json()
        assert [offered[name] for name in ("name", "size", "state", "needs")] == ["tiny", len(WEIGHTS), "absent", ""]
        assert client.post("/model/local", json={"name": "other"}).status_code == 404
        (begun,) = client.post("/model/local", json={"name": "tiny"}).json()
        assert begun["state"] == "fetching"
        client.delete("/model/local")
        hub.waits.set()
        assert becomes(lambda: client.get("/model/local").json()[0]["state"] == "absent")
        (stopped,) = client.get("/model/local").json()
        assert "The download was stopped" in stopped["problem"]
        assert 0 < stopped["bytes"] < TINY.size
        client.post("/model/local", json={"name": "tiny"})
        assert becomes(lambda: client.get("/model/local").json()[0]["state"] == "fetched")

        assert client.get("/health").json()["model"] == "tiny"
        setting = client.get("/model").json()
        assert (setting["offline"], setting["strategy"], starts(llama_server)) == (False, "cascade", [])
        tried = client.post("/model/test", json={"base_url": None, "name": "tiny", "api_key": ""}).json()
        assert (tried["ok"], tried["server"], tried["name"]) == (True, "llama.cpp", "tiny")
        kept = client.put("/model", json={"base_url": None, "name": "tiny", "strategy": "cascade"})
        assert kept.json()["name"] == "tiny"
        answers = [server.ask("How many customers are there?").of("answer")[0] for _ in range(2)]
        assert [answer["model"] for answer in answers] == ["tiny", "tiny"]
        assert server.ask("How many customers are there?", model="offline").of("answer")[0]["model"] == "offline"
        assert len(starts(llama_server)) == 1
        client.put("/model", json={"base_url": None, "name": "offline"})
        assert server.ask("How many customers are there?").of("answer")[0]["model"] == "offline"


def test_only_those_who_choose_the_model_get_one(hub: Hub, llama_server: Path, tmp_path: Path) -> None:
    config = settings_for(tmp_path, **configured(tmp_path, llama_server, TEXT2SQL_TOKENS=f"ben={BEN}"))
    with running(config) as server, server.client() as client:
        client.headers["Authorization"] = f"Bearer {BEN}"
        assert client.get("/model/local").status_code == 403
        assert client.post("/model/local", json={"name": "tiny"}).status_code == 403
        assert client.delete("/model/local").status_code == 403
    assert hub.asked == []


def test_the_command_asks_before_it_downloads_and_removes_what_it_got(
    hub: Hub, llama_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from agent.cli.model_command import model
    from agent.config import settings
    from agent.models import discovery

    async def here() -> tuple[ModelServer, ...]:
        return (ModelServer("http://127.0.0.1:11434/v1", "Ollama", ("qwen3",)),)

    monkeypatch.setattr(discovery, "servers_here", here)
    for name, value in configured(tmp_path, llama_server).items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    refused = CliRunner().invoke(model, ["get"])
    assert refused.exit_code == 2
    assert "Ollama runs here already, with qwen3: OPENAI_BASE_URL=http://127.0.0.1:11434/v1 uses it" in refused.output
    assert "Tiny (1.0 MB, Apache-2.0)" in refused.output
    assert hub.asked == []
    unknown = CliRunner().invoke(model, ["get", "large"])
    assert (unknown.exit_code, "there are tiny" in unknown.output) == (2, True)
    assert CliRunner().invoke(model, ["get", "tiny", "--yes"]).exit_code == 0
    assert settings().model.answering == "tiny"
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("TEXT2SQL_LLAMA_SERVER", "")
    settings.cache_clear()
    missing = CliRunner().invoke(model, ["get", "tiny"])
    assert (missing.exit_code, "install llama.cpp" in missing.output) == (0, True)
    removed = CliRunner().invoke(model, ["remove"])
    assert removed.output == "tiny was removed: 1.0 MB.\n"
    assert settings().model.answering == "offline"
