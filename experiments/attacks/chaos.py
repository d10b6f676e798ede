"""What happens around a server: its clock jumps, its disk is full, and twenty clients behave as clients do.

In: a folder of one's own. Out: for each, what was asked, and lines of what it was not to show. The clock needs
libfaketime, the full disk the right to mount a small one; `unavailable` says what is missing.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from experiments.attacks.serving import QUESTIONS, Served, serving
from experiments.processes import resident_mb

_DAYS = (0, 1, -2, 400)
"""Where the clock stands, one after the other, in days from now."""
_DISK_MB = 320
"""An upload is taken where 256 MB are free."""
CSV = b"name,amount\n" + b"".join(b"item %d,%d\n" % (n, n * 7 % 100) for n in range(2_000))


@dataclass
class Chaos:
    seen: Counter[str] = field(default_factory=Counter)
    """What was asked, by how it ended."""
    failures: list[str] = field(default_factory=list)

    def expect(self, good: bool, words: str) -> None:
        if not good:
            self.failures.append(words)

    def __str__(self) -> str:
        return ", ".join(f"{n:,} {ending}" for ending, n in self.seen.most_common())


def clock(folder: Path) -> Chaos:
    """Questions of one conversation while the wall clock jumps a day ahead, two back and a year ahead."""
    chaos, stamp = Chaos(), folder / "clock"
    stamp.write_text("+0d")
    faked = {
        "LD_PRELOAD": str(_faketime()),
        "FAKETIME_TIMESTAMP_FILE": str(stamp),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    with serving(folder, (), **faked) as served:
        thread, runs = None, []
        for days in _DAYS:
            stamp.write_text(f"{days:+}d")
            for question in QUESTIONS[:3]:
                events = _asked(served, question, thread)
                chaos.seen[_ending(events)] += 1
                chaos.expect(_ending(events) == "success", f"{days:+} days: {question} ended as {_ending(events)}")
                thread = thread or events["run"]["thread_id"]
                runs.append(events["run"]["run_id"])
            listed = httpx.get(f"{served.url}/runs", params={"limit": 200}, timeout=60).json()["runs"]
            chaos.expect(
                {r["run_id"] for r in listed} == set(runs), f"{days:+} days: {len(listed)} of {len(runs)} runs"
            )
            told = httpx.get(f"{served.url}/threads/{thread}", timeout=60).json()["runs"]
            chaos.expect([r["run_id"] for r in told] == runs, f"{days:+} days: the conversation is out of order")
            chaos.expect(
                all(r["status"] == "success" for r in told), f"{days:+} days: a run that ended is told otherwise"
            )
    return chaos


def full_disk(folder: Path) -> Chaos:
    """Questions, an upload and a kept answer while the disk of the state is full, and again when it has room."""
    chaos, disk = Chaos(), folder / "disk"
    with _small_disk(disk), serving(folder, (), TEXT2SQL_STATE_DIR=str(disk / "state"), TMPDIR=str(disk)) as served:
        before = [_asked(served, question) for question in QUESTIONS]
        with _filled(disk):
            for question in QUESTIONS * 3:
                try:
                    ending = _ending(_asked(served, question))
                except httpx.HTTPStatusError as error:
                    ending = str(error.response.status_code)
                    told = error.response.json()["error"]["message"]
                    chaos.expect("state cannot be used now" in told, f"a question on a full disk: {told}")
                chaos.seen[f"{ending} (full)"] += 1
            sent = httpx.post(f"{served.url}/databases/upload", files={"file": ("items.csv", CSV)}, timeout=120)
            chaos.seen[f"upload {sent.status_code} (full)"] += 1
            chaos.expect(sent.status_code == 503, f"an upload to a full disk: {sent.status_code} {sent.text}")
            chaos.expect(httpx.get(f"{served.url}/health", timeout=60).status_code == 200, "not healthy on a full disk")
        listed = httpx.get(f"{served.url}/runs", params={"limit": 200}, timeout=60).json()["runs"]
        kept = {run["run_id"] for run in listed}
        chaos.expect({e["run"]["run_id"] for e in before} <= kept, "a run of before is lost")
        chaos.expect(not any(run["status"] == "running" for run in listed), "a run that ended is told to go on")
        for question in QUESTIONS:
            ending = _ending(_asked(served, question))
            chaos.seen[ending] += 1
            chaos.expect(ending == "success", f"with room again: {question} ended as {ending}")
        again = httpx.post(f"{served.url}/databases/upload", files={"file": ("items.csv", CSV)}, timeout=120)
        chaos.expect(again.status_code == 201, f"with room again: an upload ended as {again.status_code} {again.text}")
        log = served.log.read_text()
        chaos.expect("disk is full" in log or "no room" in log, "the log does not name the disk")
        chaos.expect("Traceback" not in log, "a stack trace in the log")
    return chaos


def clients(folder: Path, minutes: float, at_once: int, tell: Callable[[str], None]) -> Chaos:
    """So many clients at once: who ask, read slowly, leave in the middle, hold a stream open, page and export."""
    chaos, lock = Chaos(), threading.Lock()
    with serving(folder, ()) as served:
        served.ask(QUESTIONS[0])
        until = time.monotonic() + minutes * 60
        memory = [resident_mb(served.pid)]

        def behave(number: int) -> None:
            turn = number
            while time.monotonic() < until:
                kind, act = _BEHAVIOURS[turn % len(_BEHAVIOURS)]
                try:
                    ended = act(served, QUESTIONS[turn % len(QUESTIONS)])
                except (OSError, httpx.HTTPError, ValueError, KeyError) as error:
                    ended = type(error).__name__
                    with lock:
                        chaos.failures.append(f"{kind}: {error!r:.200}")
                with lock:
                    chaos.seen[f"{kind} {ended}"] += 1
                turn += 1

        with ThreadPoolExecutor(at_once) as threads:
            working = [threads.submit(behave, number) for number in range(at_once)]
            while any(not one.done() for one in working):
                time.sleep(min(30.0, minutes * 10))
                memory.append(resident_mb(served.pid))
                tell(f"{chaos.seen.total():7,} done, server {memory[-1]:.1f} MB")
        for one in working:
            one.result()
        growth = memory[-1] - memory[len(memory) // 3]
        tell(f"memory {memory[0]:.0f} MB at first, {growth:+.1f} MB over the last two thirds")
        chaos.expect(growth < 20, f"memory grew by {growth:.1f} MB")
        chaos.expect('"internal"' not in served.log.read_text(), "an internal error in the log")
        listed = httpx.get(f"{served.url}/runs", params={"limit": 200}, timeout=60).json()["runs"]
        chaos.expect(sum(run["status"] == "running" for run in listed) == 0, "a run is left running")
    return chaos


def unavailable(kind: str) -> str | None:
    """What this machine lacks for an attack; None where it can run."""
    if kind == "clock":
        return None if _faketime() else "libfaketime is not installed"
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root can mount a small disk"
    probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    return None if probe.returncode == 0 else "mounting is not allowed"


def _faketime() -> Path | None:
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


@contextlib.contextmanager
def _small_disk(place: Path) -> Iterator[None]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextlib.contextmanager
def _filled(disk: Path) -> Iterator[None]:
    filler = disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"\0" * 4096):
            pass
    try:
        yield
    finally:
        filler.unlink()


def _asked(served: Served, question: str, thread: str | None = None) -> dict[str, Any]:
    """The events of a question by their names. Raises httpx.HTTPStatusError."""
    body = {"question": question, "thread_id": thread}
    reply = httpx.post(f"{served.url}/query", json=body, timeout=120).raise_for_status()
    lines = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: ")]
    return {line["event"]: line.get("data", {}) for line in lines}


def _ending(events: dict[str, Any]) -> str:
    last = events.get("answer") or events.get("error") or {}
    return str(last.get("status") or last.get("kind") or "no answer")


def _asks(served: Served, question: str) -> str:
    return _ending(_asked(served, question))


def _reads_slowly(served: Served, question: str) -> str:
    with httpx.stream("POST", f"{served.url}/query", json={"question": question}, timeout=120) as reply:
        size = 0
        for part in reply.iter_bytes(512):
            size += len(part)
            time.sleep(0.02)
    return "whole" if size else "empty"


def _leaves(served: Served, question: str) -> str:
    with httpx.stream("POST", f"{served.url}/query", json={"question": question}, timeout=120) as reply:
        next(reply.iter_bytes(64))
    return "left"


def _idles(served: Served, question: str) -> str:
    body = json.dumps({"question": question})
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        head = "POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        time.sleep(2.0)  # nothing is read
    return "left"


def _pages(served: Served, question: str) -> str:
    run = _asked(served, question)["run"]["run_id"]
    rows = httpx.get(f"{served.url}/runs/{run}/rows", timeout=60).raise_for_status().json()
    file = httpx.get(f"{served.url}/runs/{run}/export", timeout=60).raise_for_status()
    return "whole" if rows["total"] and file.text else "empty"


_BEHAVIOURS: tuple[tuple[str, Callable[[Served, str], str]], ...] = (
    ("asked", _asks),
    ("read slowly", _reads_slowly),
    ("asked", _asks),
    ("left in the middle", _leaves),
    ("paged", _pages),
    ("read nothing", _idles),
)
