"""Serves a model's file on this machine, once for all processes of the user: `served`.

In: a GGUF file and a program. Out: the address and the key of a server that answers. It is started by the first that
needs it and ends with the last process that used it (`agent.models.local.supervisor`). Its threads are the free
physical cores: with more, it is two to four times slower. What it takes of memory is looked at before.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agent.models.local.download import CATALOGUE, told_size
from agent.models.protocol import ModelUnavailable
from eval.tasks.cache_folder import fallback_folder

SECONDS = 300.0
"""In which a server has to have loaded its model."""
CONTEXT = 16_384
"""Tokens for all questions that are worked on side by side; each may take half at least."""
INSTALL = (
    "To run it, install llama.cpp, so that its program llama-server is found (brew install llama.cpp, or a release at "
    "https://github.com/ggml-org/llama.cpp/releases), name that program in TEXT2SQL_LLAMA_SERVER, or install "
    "askwell[local] with pip."
)
_leases: dict[tuple[Path, str], tuple[socket.socket, str, str]] = {}
"""By file and program: the connection that keeps the server, its address, its key. They last as long as the process."""
_starter = ThreadPoolExecutor(1, "local-model")
"""One thread, so that questions which come at once wait for one start and leave the other threads free."""


async def served(file: Path, program: str | None) -> tuple[str, str]:
    """(base URL, API key) of a server for this file that answers. `program`: `llama-server`, or a Python that has
    llama-cpp-python. Raises ModelUnavailable, which says what to do."""
    if lease := _lease(file, program or ""):
        return lease
    given_up = threading.Event()
    try:
        started = asyncio.get_running_loop().run_in_executor(_starter, ensure_served, file, program, given_up)
        return await started
    finally:
        given_up.set()


def ensure_served(file: Path, program: str | None, given_up: threading.Event | None = None) -> tuple[str, str]:
    """As `served`, but it blocks, until `given_up` is set. For one thread at a time."""
    if lease := _lease(file, program or ""):
        return lease
    given_up = given_up or threading.Event()
    try:
        if not hasattr(socket, "AF_UNIX"):
            raise ModelUnavailable("Models are served on Linux and macOS. Start llama-server, and set OPENAI_BASE_URL.")
        if not file.is_file():
            raise ModelUnavailable(f"There is no model at {file}. `text2sql model get` fetches one.")
        if program is None:
            raise ModelUnavailable(f"There is no program to serve {file.stem}. {INSTALL}")
        told = hashlib.sha256(f"{file.resolve()}\0{program}".encode()).hexdigest()[:12]
        address = fallback_folder() / f"model-{told}"  # the path of a socket has some 100 characters
        until = time.monotonic() + SECONDS
        server: dict[str, object] | None = None
        while time.monotonic() < until and not given_up.is_set():
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(address))
            except OSError:
                connection.close()
                server = server or {"address": str(address), **_server(file, program)}
                _start(server)
                given_up.wait(0.05)
                continue
            said = _line(connection, until, given_up)
            if "base_url" in said:
                _leases[file, program] = connection, said["base_url"], said["api_key"]
                return said["base_url"], said["api_key"]
            connection.close()
            if "problem" in said:
                raise ModelUnavailable(f"{file.stem} cannot be served: {said['problem']}")
        raise ModelUnavailable(f"{file.stem} was not loaded within {SECONDS:g} seconds.")
    except ModelUnavailable as error:
        error.final = True  # the next call would fail in the same way, and as late
        raise


def _lease(file: Path, program: str) -> tuple[str, str] | None:
    """What is known of the server while it lives: its end can be read from the connection."""
    if (lease := _leases.get((file, program))) is None:
        return None
    connection, base_url, key = lease
    with contextlib.suppress(OSError):
        connection.setblocking(False)
        try:
            connection.recv(1)
        except BlockingIOError:
            return base_url, key
    connection.close()
    _leases.pop((file, program), None)
    return None


def _line(connection: socket.socket, until: float, given_up: threading.Event) -> dict[str, str]:
    """What the supervisor says; empty where it ends before, because its last user had just gone."""
    heard = b""
    connection.settimeout(0.2)
    while not heard.endswith(b"\n") and time.monotonic() < until and not given_up.is_set():
        try:
            piece = connection.recv(4096)
        except TimeoutError:
            continue
        except OSError:
            return {}
        if not piece:
            return {}
        heard += piece
    return json.loads(heard) if heard.endswith(b"\n") else {}


def _start(server: dict[str, object]) -> None:
    """Start a supervisor, which goes into the background; where there is one, it ends at once."""
    script = Path(__file__).with_name("supervisor.py")
    started = subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-S", str(script)],
        input=json.dumps(server).encode() + b"\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if started.returncode:
        said = started.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ModelUnavailable(f"No server can be supervised at {server['address']}: {said[-1] if said else ''}")


def _server(file: Path, program: str) -> dict[str, object]:
    """The command, its environment and the variable of the key. Raises ModelUnavailable without enough memory."""
    needed = next((m.memory for m in CATALOGUE if m.name == file.stem), 2 * file.stat().st_size)
    if (free := available_memory()) is not None and free < needed:
        raise ModelUnavailable(
            f"{file.stem} takes {told_size(needed)} of memory, and {told_size(free)} are free. "
            "Close other programs, or fetch a smaller model."
        )
    threads = str(free_cores())
    common = ["--host", "127.0.0.1"]
    if Path(program) == Path(sys.executable):
        command = [program, "-m", "llama_cpp.server", "--model", str(file), "--model_alias", file.stem, *common]
        command += ["--n_ctx", str(CONTEXT), "--n_threads", threads, "--n_threads_batch", threads]
        return {"command": command, "key": "API_KEY", "environment": {"INTERRUPT_REQUESTS": "false"}}
    try:
        asked = subprocess.run([program, "--help"], capture_output=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelUnavailable(f"{program} cannot be run ({error}). {INSTALL}") from None
    knows = asked.stdout.decode("utf-8", "replace")
    command = [program, "-m", str(file), "--alias", file.stem, *common, "-c", str(CONTEXT), "-t", threads, "--jinja"]
    command += ["-np", "4", "--kv-unified"] if "--kv-unified" in knows else ["-np", "2"]
    command += ["--cache-reuse", "256"] if "--cache-reuse" in knows else []
    command += ["--no-webui"] if "--no-webui" in knows else []
    return {"command": command, "key": "LLAMA_API_KEY", "environment": {}}


def free_cores() -> int:
    """Physical cores that this process may use and that had nothing to do in the last minute; 1 at least."""
    usable = os.sched_getaffinity(0) if sys.platform == "linux" else range(os.cpu_count() or 1)
    cores = {_read(f"/sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list") or str(n) for n in usable}
    quota = _read("/sys/fs/cgroup/cpu.max").split()
    allowed = int(quota[0]) // int(quota[1]) if len(quota) == 2 and quota[0] != "max" else len(cores)
    return max(1, min(len(cores), allowed, (os.cpu_count() or 1) - round(os.getloadavg()[0])))


def available_memory() -> int | None:
    """Bytes that a new process could take, within the limit of a container, too; None where the system does not say."""
    free = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    known = [int(free[1]) * 1024] if free else []
    limit, used = _read("/sys/fs/cgroup/memory.max"), _read("/sys/fs/cgroup/memory.current")
    cached = re.search(r"^inactive_file (\d+)", _read("/sys/fs/cgroup/memory.stat"), re.MULTILINE)
    if limit.isdigit() and used.isdigit():
        known.append(int(limit) - int(used) + (int(cached[1]) if cached else 0))
    return min(known, default=None)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
