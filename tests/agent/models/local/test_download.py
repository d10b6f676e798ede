"""A model is downloaded once, goes on where it was cut off, and is kept only if it is the right one."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agent.models.local import download
from agent.models.local.download import State, get_model, remove_model, state_of, stop_getting
from agent.models.protocol import ModelUnavailable
from eval.errors import InputError
from tests.agent.models.local.conftest import TINY, WEIGHTS, Hub, environment
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
