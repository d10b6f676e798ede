"""Throughput, many streams at once, a long load, and what a run costs."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections import Counter
from contextlib import ExitStack
from urllib.parse import urlsplit

from experiments.processes import processor_seconds
from experiments.workers.client import Asked, ask
from experiments.workers.endpoint import endpoint
from experiments.workers.server import Server, postgres_processor, scratch_state, serving


async def asked_at_once(port: int, questions: int, at_once: int) -> list[Asked]:
    """So many questions, so many of them at a time, each on a thread of its own."""
    room = asyncio.Semaphore(at_once)

    async def one() -> Asked:
        async with room:
            return await ask(port)

    return await asyncio.gather(*(one() for _ in range(questions)))


async def warmed(server: Server) -> None:
    """Every worker has answered a few questions."""
    before = {pid: processor_seconds(pid) for pid in server.pids}
    for _ in range(20):
        await asked_at_once(server.port, 4 * server.workers, 4 * server.workers)
        if all(processor_seconds(pid) - used > 0.2 for pid, used in before.items()):
            return


async def throughput(options: argparse.Namespace) -> None:
    """Servers of several sizes beside each other, asked in turns."""
    numbers = options.workers or [1, 2, 4]
    rates: dict[int, list[float]] = {n: [] for n in numbers}
    costs: dict[int, list[tuple[float, float, float]]] = {n: [] for n in numbers}
    endings: Counter[str] = Counter()
    with ExitStack() as stack:
        model, model_pid = stack.enter_context(endpoint(options.seconds_a_call or 0.0))
        states = {n: stack.enter_context(scratch_state(options.state)) for n in numbers}
        servers = {n: stack.enter_context(serving(n, states[n], model)) for n in numbers}
        for server in servers.values():
            await warmed(server)
        for _ in range(options.rounds):
            for n, server in servers.items():
                name = urlsplit(states[n]).path[1:]
                used = server.processor(), postgres_processor(name), processor_seconds(model_pid) + time.process_time()
                started = time.perf_counter()
                seen = await asked_at_once(server.port, options.questions, options.at_once)
                rates[n].append(options.questions / (time.perf_counter() - started))
                now = server.processor(), postgres_processor(name), processor_seconds(model_pid) + time.process_time()
                costs[n].append(tuple((b - a) * 1000 / options.questions for a, b in zip(used, now, strict=True)))
                endings.update(one.ending for one in seen)
    print(f"{options.questions} questions, {options.at_once} at once, {options.rounds} rounds in turn; {dict(endings)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("workers | questions/s | against one | workers' ms a run | PostgreSQL's | model's and clients'")
    base = statistics.median(rates[numbers[0]])
    for n in numbers:
        rate = statistics.median(rates[n])
        mine, theirs, rest = (statistics.median(cost[k] for cost in costs[n]) for k in range(3))
        print(f"{n:7} | {rate:11.1f} | {rate / base:11.2f} | {mine:17.1f} | {theirs:12.1f} | {rest:.1f}")


async def streams(options: argparse.Namespace) -> None:
    """Many streams at once against one alone."""
    print(f"model calls of {options.seconds_a_call or 0.3:g} s, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("workers | alone, median s | at once | answered | median s | p95 s | p95 against alone | ms a run")
    with endpoint(options.seconds_a_call or 0.3) as (model, _), ExitStack() as stack:
        servers = [
            stack.enter_context(serving(n, stack.enter_context(scratch_state(options.state)), model))
            for n in options.workers or [1, 2]
        ]
        for server in servers:
            await warmed(server)
        for _ in range(options.rounds):
            for server in servers:
                alone = statistics.median([(await ask(server.port)).seconds for _ in range(5)])
                used = server.processor()
                seen = await asyncio.gather(*(ask(server.port) for _ in range(options.streams)))
                cost = (server.processor() - used) * 1000 / options.streams
                times = sorted(one.seconds for one in seen)
                p95 = times[int(len(times) * 0.95)]
                answered = sum(one.ending == "answered" for one in seen)
                print(
                    f"{server.workers:7} | {alone:15.3f} | {options.streams:7} | {answered:8} | "
                    f"{statistics.median(times):8.3f} | {p95:5.3f} | {p95 / alone:17.2f} | {cost:.1f}",
                    flush=True,
                )


async def soak(options: argparse.Namespace) -> None:
    """People who ask, read and ask again on their threads, for a long time."""
    people = options.people or 50
    until = 0.0
    endings: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    times: list[float] = []
    memory: list[dict[int, float]] = []

    async def person(port: int, number: int) -> None:
        await asyncio.sleep(number * 0.05)
        thread = ""
        turns = 0
        while time.monotonic() < until:
            one = await ask(port, thread)
            endings[one.ending] += 1
            if one.failure:
                messages[one.failure] += 1
            times.append(one.seconds)
            turns += 1
            thread = one.thread_id if turns % 20 else ""
            await asyncio.sleep(1.0)

    with (
        endpoint(0.3 if options.seconds_a_call is None else options.seconds_a_call) as (model, _),
        scratch_state(options.state) as state,
        serving((options.workers or [2])[0], state, model) as server,
    ):
        await warmed(server)
        until = time.monotonic() + options.minutes * 60

        async def watch() -> None:
            while time.monotonic() < until:
                memory.append(server.memory())
                await asyncio.sleep(max(1.0, options.minutes * 60 / 40))

        used, started = server.processor(), time.monotonic()
        await asyncio.gather(watch(), *(person(server.port, n) for n in range(people)))
        cost = (server.processor() - used) * 1000 / max(1, len(times))
        took = time.monotonic() - started
    times.sort()
    print(f"{server.workers} workers, {people} people, {took / 60:.1f} minutes, load {os.getloadavg()[0]:.1f}")
    print(f"{len(times)} questions ({len(times) / took:.1f} a second): {dict(endings)} {dict(messages) or ''}")
    print(f"p50 {times[len(times) // 2]:.2f} s, p99 {times[int(len(times) * 0.99)]:.2f} s, {cost:.1f} ms a run")
    warm = len(memory) // 5
    for pid in memory[-1]:
        line = [sample.get(pid, 0.0) for sample in memory[warm:]]
        low, high = min(line), max(line)
        print(
            f"worker {pid}: {line[0]:.0f} MB after a fifth of the time, {line[-1]:.0f} MB at the end, "
            f"{low:.0f} to {high:.0f} in between ({(line[-1] / line[0] - 1) * 100:+.1f} %)"
        )


async def cost(options: argparse.Namespace) -> None:
    """Processor time of one worker for a run: with the model and without, on both kinds of state."""
    print("engine | state | rounds' ms a run | median")
    with endpoint(0.0) as (model, _), scratch_state(options.state) as state, ExitStack() as stack:
        kinds = {
            ("model", "SQLite"): serving(1, None, model),
            ("model", "PostgreSQL"): serving(1, state, model),
            ("offline", "SQLite"): serving(1, None, None),
        }
        servers = {kind: stack.enter_context(opened) for kind, opened in kinds.items()}
        seconds: dict[tuple[str, str], list[float]] = {kind: [] for kind in servers}
        for server in servers.values():
            await warmed(server)
        for _ in range(options.rounds):
            for kind, server in servers.items():
                used = server.processor()
                await asked_at_once(server.port, options.questions, options.at_once)
                seconds[kind].append((server.processor() - used) * 1000 / options.questions)
    for (engine, where), costs in seconds.items():
        shown = ", ".join(f"{one:.1f}" for one in costs)
        print(f"{engine} | {where} | {shown} | {statistics.median(costs):.1f}")
