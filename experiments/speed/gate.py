"""The gate on cost: fails when a question costs over a tenth more than the figures in `stored.json`, and says of what.

    python -m experiments.speed.gate                 (make cost)
    python -m experiments.speed.gate --store         writes the figures as they are now
    python -m experiments.speed.gate --only "one of 16 streams"

Each kind of work (`scenarios`) runs in a process of its own, with different questions. What decides is counted, and so
is the same on every machine: the calls of functions, parses, generated texts, copies of trees, statements, hops between
threads, and imports. Processor time is told beside it, in units of a fixed piece of work of the same moment; it decides
nothing, since one commit took 1 to 4.4 times its stored units within a day. What seems to have grown is counted again.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

Figures = dict[str, float]

STORED = Path(__file__).with_name("stored.json")
ALLOWED = {"imports": 1.05, "units": float("inf")}
"""How much more than stored is let through; other counts: `MORE`."""
MORE = 1.10
FEW = 0.35
"""A count a run that grew by less has not grown: statements that a deadline cuts off differ from run to run."""
ROUNDS = 3
COMMAND = "a question at the command line"
COLD = ("-m", "agent.main", "--model", "offline", "--db", "shop", "How many customers are there?")
COUNTED = {
    "parses": ("sqlglot/parser.py", "_parse"),
    "texts generated": ("sqlglot/dialects/dialect.py", "generate"),
    "copies of trees": ("sqlglot/expressions/core.py", "__deepcopy__"),
    "statements": ("eval/databases/statement_run.py", "__enter__"),
    "hops between threads": ("asyncio/base_events.py", "run_in_executor"),
    "models validated": ("pydantic/main.py", "__init__"),
}
"""What is counted besides all calls: the end of a file's path and a function's name."""


def counts(name: str) -> Figures:
    """The counts of one run of a scenario, on average; everything that only the first run does is left out."""
    from experiments.speed.scenarios import SCENARIOS

    work = SCENARIOS[name]()
    profiles: list[cProfile.Profile] = []

    def watch(*_: object) -> None:  # in each thread that begins
        profiles.append(cProfile.Profile())
        profiles[-1].enable()

    threading.setprofile(watch)
    watch()
    runs = work()
    profiles[0].disable()
    threading.setprofile(None)
    entries = [entry for profile in profiles for entry in profile.getstats()]
    found = {"calls": sum(entry.callcount for entry in entries)}
    for figure, (file, function) in COUNTED.items():
        found[figure] = sum(e.callcount for e in entries if _is(e.code, file, function))
    return {figure: round(count / runs, 1) for figure, count in found.items()}


def _is(code: CodeType | str, file: str, function: str) -> bool:
    return isinstance(code, CodeType) and code.co_name == function and code.co_filename.endswith(file)


def units(name: str) -> Figures:
    """Processor time of one run of a scenario in thousandths of a unit: the least of some rounds, since whatever else
    the machine does can only add to it."""
    from experiments.speed.scenarios import SCENARIOS

    work = SCENARIOS[name]()
    ratios = []
    for _ in range(ROUNDS):
        before = unit()
        begun = time.process_time()
        runs = work()
        ratios.append((time.process_time() - begun) / runs / min(before, unit()))
    return {"units": round(min(ratios) * 1000, 1)}


def unit() -> float:
    """Seconds of processor time that a fixed piece of work takes now."""
    begun = time.process_time()
    for _ in range(10):
        words: dict[str, int] = {}
        for number in range(20_000):
            word = f"w{number % 977}"
            words[word] = words.get(word, 0) + len(re.sub("[aeiou0]", "", word))
    return (time.process_time() - begun) * 6


def cold() -> Figures:
    """A question at the command line from a cold start: what is imported, and processor time."""
    _run("-c", "pass")
    _run(*COLD)
    imported = _run("-X", "importtime", *COLD).stderr.count("import time:")
    ratios = []
    for _ in range(ROUNDS):
        before = os.times()
        _run(*COLD)
        after = os.times()
        took = after.children_user + after.children_system - before.children_user - before.children_system
        ratios.append(took / unit())
    return {"imports": imported, "units": round(min(ratios) * 1000, 1)}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "PYTHONDONTWRITE"))}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=600, env=environment
    )


def measured(only: str | None) -> Iterator[tuple[str, Figures]]:
    from experiments.speed.scenarios import SCENARIOS

    for name in (COMMAND, *SCENARIOS):
        if only not in (None, name):
            continue
        if name == COMMAND:
            yield name, cold()
            continue
        parts = [_run("-m", "experiments.speed.gate", "--measure", what, name) for what in ("counts", "units")]
        yield name, {k: v for part in parts for k, v in json.loads(part.stdout.splitlines()[-1]).items()}


def _least(name: str, first: Figures) -> Figures:
    """The lower figures of two runs: what many streams do at once depends on whose turn it is, and only adds."""
    ((_, second),) = measured(name)
    return {figure: min(value, second.get(figure, value)) for figure, value in first.items()}


def grown(now: Figures, stored: Figures) -> list[str]:
    """A sentence for each figure that is over what is let through, and for each that is not stored yet."""
    sentences = []
    for figure, value in now.items():
        if figure not in stored:
            sentences.append(f"{figure}: {value:,g}, not stored")
            continue
        before = stored[figure]
        if value > before * ALLOWED.get(figure, MORE) and value - before > FEW:
            sentences.append(f"{figure}: {before:,g} → {value:,g} ({value / before - 1 if before else 1:+.0%})")
    return sentences


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--store", action="store_true", help="write the figures instead of comparing them")
    options.add_argument("--only", metavar="NAME", help="one kind of work")
    options.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.measure:
        what, name = chosen.measure
        print(json.dumps({"counts": counts, "units": units}[what](name)))
        return
    stored: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    worse = False
    for name, now in measured(chosen.only):
        print(f"{name}: " + ", ".join(f"{figure} {value:,g}" for figure, value in now.items()), flush=True)
        if chosen.store:
            stored[name] = now
        elif grown(now, stored.get(name, {})) and (sentences := grown(_least(name, now), stored.get(name, {}))):
            worse = True
            print("".join(f"  grew: {sentence}\n" for sentence in sentences), end="", flush=True)
    if chosen.store:
        STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
