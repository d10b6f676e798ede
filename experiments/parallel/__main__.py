"""What it costs to spread a batch, and how many questions an hour several workers answer.

    python -m experiments.parallel overhead [--records 20000] [--chunk 25]
    python -m experiments.parallel model [--questions 400] [--rounds 3] [--out docs/images/questions-an-hour.svg]

`overhead` spreads records whose work is nothing: what is left is the price of a record. `model` answers questions on
the demo database with the built-in engine on one and on two workers in turn, and carries the figures to 100 workers on
paper. Its rates are those of workers with a core each, from their processor time: the clock depends on what else the
machine does.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eval.jsonl import Record, answer_lines
from eval.parallel import CHUNK, Lasting, ray_workers, spread
from eval.tasks.demos import demo_path
from experiments.parallel.plot import Measured, svg
from experiments.processes import command_line, descendants, processor_seconds

QUESTIONS = ("How many customers are there?", "Which customers live in Berlin?", "What is the average price?")


def nothing(record: Record) -> Record:
    return {"n": record["n"]}


def _lines(number: int, **more: str) -> list[bytes]:
    return [json.dumps({"id": n, "n": n, **more}).encode() + b"\n" for n in range(number)]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one record, in seconds."""

    clock: float
    driver: float
    """Processor time of this process."""
    workers: float
    """Processor time of the processes that work, and of those in which their statements run."""


def _cost(
    work: Callable[[Record], Record], lines: list[bytes], jobs: int, chunk: int, warm: list[bytes], *, ray: bool = True
) -> Cost:
    """What `lines` cost, after `warm`."""
    opened = ray_workers(work, "ray", jobs, chunk=chunk) if ray else spread(work, jobs, None)
    with opened as (submit, ahead):
        answer_lines(warm, submit, io.StringIO(), ahead=ahead)
        pids = [pid for pid in descendants(os.getpid()) if not ray or _is_worker(pid)]
        started, used, theirs = time.perf_counter(), time.process_time(), _used(pids)
        answer_lines(lines, submit, io.StringIO(), ahead=ahead)
        took = time.perf_counter() - started, time.process_time() - used, _used(pids) - theirs
    return Cost(*(one / len(lines) for one in took))


def _is_worker(pid: int) -> bool:
    """Whether a process is one of Ray's that takes up tasks: it works on one, or has none."""
    return any(state in command_line(pid) for state in ("ray::answered", "ray::IDLE"))


def _used(pids: list[int]) -> float:
    return sum(processor_seconds(one) for pid in pids for one in (pid, *descendants(pid)))


def overhead(options: argparse.Namespace) -> None:
    lines, warm = _lines(options.records), _lines(200)
    print(f"{options.records} records of no work, chunks of {options.chunk}, load {os.getloadavg()[0]:.1f}")
    print("where | ms a record by the clock | driver's processor ms | workers' processor ms")
    for name, jobs, ray in (("this process", 1, False), ("two processes", 2, False), ("two workers of Ray", 2, True)):
        cost = _cost(nothing, lines, jobs, options.chunk, warm, ray=ray)
        print(f"{name} | {cost.clock * 1000:.3f} | {cost.driver * 1000:.3f} | {cost.workers * 1000:.3f}", flush=True)


def model(options: argparse.Namespace) -> None:
    from agent.batch import _answering

    folder = str(demo_path(options.db).parent) + "/{db}"
    work = Lasting(functools.partial(_answering, f"sqlite:///{folder}", "offline", None, None))
    found: dict[int, list[Cost]] = {1: [], 2: []}
    db = demo_path(options.db).name
    records = [
        json.dumps({"id": n, "db": db, "question": QUESTIONS[n % len(QUESTIONS)]}).encode() + b"\n"
        for n in range(options.questions)
    ]
    for _ in range(options.rounds):
        for workers, costs in found.items():
            costs.append(_cost(work, records, workers, CHUNK, records[: 100 * workers]))
    measured = Measured(
        {n: 3600 * n / statistics.median(cost.workers for cost in costs) for n, costs in found.items()},
        statistics.median(cost.driver for costs in found.values() for cost in costs),
    )
    print(f"{options.questions} questions, {options.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print("workers | processor ms a question | questions an hour on cores of their own | by the clock here")
    for n, costs in found.items():
        mine, clock = (statistics.median(getattr(cost, name) for cost in costs) for name in ("workers", "clock"))
        print(f"{n} | {mine * 1000:.1f} | {measured.an_hour[n]:,.0f} | {3600 / clock:,.0f}")
    print(f"driver: {measured.serial * 1000:.3f} ms of processor time a question")
    for n in (10, 50, 100):
        print(f"{n} workers on paper: {measured.on_paper(n):,.0f} questions an hour")
    options.out.write_text(svg(measured), encoding="utf-8")
    print(options.out)


def main() -> None:
    from experiments.parallel import __main__ as named  # by its name: workers import its functions

    named.run()


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("overhead", "model"))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--chunk", type=int, default=CHUNK)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--db", default="shop")
    parser.add_argument("--out", type=Path, default=Path("docs/images/questions-an-hour.svg"))
    options = parser.parse_args()
    sys.exit({"overhead": overhead, "model": model}[options.command](options))


if __name__ == "__main__":
    main()
