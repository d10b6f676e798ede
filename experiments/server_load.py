"""How the server bears a hundred streams at once, as figures; nothing here passes or fails.

    python -m experiments.server_load [--streams 100] [--seconds-a-call 0.3]

A server of its own (`python -m agent.server`, one process) asks a scripted OpenAI-compatible endpoint (a process of its
own) that takes 0.3 s a call; a run makes four calls. Printed: the time to the first event on an idle server, a run
served alone, many at once, and what the server's memory grew by. All of it shares the machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics

from experiments.processes import resident_mb
from experiments.workers.client import ask
from experiments.workers.endpoint import endpoint
from experiments.workers.server import Server, serving


async def peak(pid: int, until: asyncio.Event) -> float:
    most = resident_mb(pid)
    while not until.is_set():
        most = max(most, resident_mb(pid))
        await asyncio.sleep(0.05)
    return most


async def measure(server: Server, streams: int, rounds: int) -> None:
    pid = server.process.pid
    for _ in range(3):
        await ask(server.port)
    alone = [await ask(server.port) for _ in range(5)]
    base = statistics.median(one.seconds for one in alone)
    print(f"first event, idle server: median {statistics.median(one.first for one in alone) * 1000:.1f} ms")
    print(f"a run alone: median {base:.3f} s")
    before = resident_mb(pid)
    for _ in range(rounds):
        over = asyncio.Event()
        watching = asyncio.create_task(peak(pid, over))
        used = server.processor()
        seen = await asyncio.gather(*(ask(server.port) for _ in range(streams)))
        over.set()
        totals = sorted(one.seconds for one in seen)
        p95 = totals[int(len(totals) * 0.95)]
        firsts = statistics.median(one.first for one in seen)
        complete = sum(one.ending == "answered" for one in seen)
        print(
            f"{streams} at once: {complete} complete, median {statistics.median(totals):.3f} s, "
            f"p95 {p95:.3f} s ({p95 / base:.2f} x alone), first event median {firsts * 1000:.0f} ms, "
            f"server CPU {(server.processor() - used) / streams * 1000:.1f} ms a run, "
            f"memory {before:.0f} MB before, {await watching:.0f} MB at most"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds-a-call", type=float, default=0.3)
    options = parser.parse_args()
    with endpoint(options.seconds_a_call) as (model, _), serving(1, None, model) as server:
        asyncio.run(measure(server, options.streams, options.rounds))


if __name__ == "__main__":
    main()
