"""How the server bears a hundred streams at once, as figures; nothing here passes or fails.

    python -m experiments.server_load [--streams 100] [--seconds-a-call 0.3]

A server of its own (`python -m agent.server`, one process) asks a scripted OpenAI-compatible endpoint (a process of its
own) that takes 0.3 s a call; a run makes four calls. Clients are raw sockets, because a client library costs more than
the server. Printed: the time to the first event on an idle server, a run served alone, many at once, and what the
server's memory grew by. All of it shares the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from tests.agent.server.running import scripted
from tests.openai_server import OpenAIServer

QUESTION = "How many customers are there?"


@dataclass(frozen=True)
class Seen:
    first: float
    """Seconds to the first event."""
    total: float
    complete: bool


async def ask(port: int, question: str = QUESTION) -> Seen:
    body = json.dumps({"question": question}).encode()
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    reply, first = bytearray(), 0.0
    while piece := await reader.read(65536):
        reply += piece
        if not first and b"data: " in reply:
            first = time.perf_counter() - started
        if b'"event":"done"' in piece:
            break
    total = time.perf_counter() - started
    writer.close()
    return Seen(first, total, b'"event":"done"' in reply and b'"status":"success"' in reply)


def resident(pid: int) -> float:
    """MB of a process that are in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def peak(pid: int, until: asyncio.Event) -> float:
    most = resident(pid)
    while not until.is_set():
        most = max(most, resident(pid))
        await asyncio.sleep(0.05)
    return most


async def measure(port: int, pid: int, streams: int, rounds: int) -> None:
    for _ in range(3):
        await ask(port)
    alone = [await ask(port) for _ in range(5)]
    base = statistics.median(s.total for s in alone)
    print(f"first event, idle server: median {statistics.median(s.first for s in alone) * 1000:.1f} ms")
    print(f"a run alone: median {base:.3f} s")
    before = resident(pid)
    for _ in range(rounds):
        over = asyncio.Event()
        watching = asyncio.create_task(peak(pid, over))
        used = cpu(pid)
        seen = await asyncio.gather(*(ask(port) for _ in range(streams)))
        over.set()
        totals = sorted(s.total for s in seen)
        p95 = totals[int(len(totals) * 0.95)]
        firsts = statistics.median(s.first for s in seen)
        print(
            f"{streams} at once: {sum(s.complete for s in seen)} complete, median {statistics.median(totals):.3f} s, "
            f"p95 {p95:.3f} s ({p95 / base:.2f} x alone), first event median {firsts * 1000:.0f} ms, "
            f"server CPU {(cpu(pid) - used) / streams * 1000:.1f} ms a run, "
            f"memory {before:.0f} MB before, {await watching:.0f} MB at most"
        )


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def endpoint(seconds: float, sender: Connection) -> None:
    with OpenAIServer() as server:
        server.keep_alive = True
        server.otherwise = scripted("SELECT COUNT(*) FROM customers", delay=seconds)
        sender.send(server.url)
        sender.recv()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds-a-call", type=float, default=0.3)
    options = parser.parse_args()
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=endpoint, args=(options.seconds_a_call, there), daemon=True)
    process.start()
    with tempfile.TemporaryDirectory() as state:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
        cache = {"TEXT2SQL_CACHE_DIR": value} if (value := os.environ.get("TEXT2SQL_CACHE_DIR")) else {}
        own = {"OPENAI_BASE_URL": here.recv(), "OPENAI_API_KEY": "k", "TEXT2SQL_STATE_DIR": state}
        command = [sys.executable, "-m", "agent.server", "--port", "0"]
        with subprocess.Popen(command, env={**kept, **cache, **own}, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                port = int(server.stdout.readline().split("http://127.0.0.1:")[1].split()[0])
                asyncio.run(measure(port, server.pid, options.streams, options.rounds))
            finally:
                server.terminate()
    process.kill()


if __name__ == "__main__":
    main()
