"""Measure the value index on disk: `python -m experiments.linking.value_lookup [--values N]`.

In: nothing; the values are generated (names of two to three words, codes). Out: values written per second of processor
time, the file's size, and the time of look-ups: exact, inflected, part, misspelt, absent.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from agent.knowledge.value_lookup import StoredValues, build
from agent.knowledge.values import EMPTY

_LETTERS = "aeiourstlnmdpcbgkvhf"


def main(arguments: list[str] | None = None) -> int:
    """Build one index and look 2,000 phrases up in it."""
    parser = argparse.ArgumentParser(prog="python -m experiments.linking.value_lookup", description=main.__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    chosen = parser.parse_args(arguments)
    dice = random.Random(1)
    words = ["".join(dice.choice(_LETTERS) for _ in range(dice.randint(4, 10))).capitalize() for _ in range(60_000)]
    names = [f"{' '.join(dice.sample(words, dice.randint(2, 3)))}" for _ in range(chosen.values * 3 // 4)]
    codes = [f"{dice.choice(words)[:2].upper()}-{n:07}" for n in range(chosen.values - len(names))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.sqlite"
        wall, start = time.perf_counter(), time.process_time()
        written = build(path, [("item", "code", codes), ("person", "name", names)], most=chosen.values)
        spent, wall = time.process_time() - start, time.perf_counter() - wall
        sys.stdout.write(
            f"{written:,} values in {spent:.1f} s of processor time ({wall:.1f} s by the clock): "
            f"{written / spent:,.0f} a second; {path.stat().st_size / 1e6:,.0f} MB\n"
        )
        index = EMPTY.with_file(StoredValues(path))
        some = dice.sample(names, 400)
        phrases = {
            "exact": some,
            "other case": [s.upper() for s in some],
            "part": [s.split()[0] + " " + s.split()[1] for s in some],
            "misspelt": [s[:4] + s[5:] for s in some],
            "absent": [f"zq{dice.choice(_LETTERS)}xx thing {n}" for n in range(400)],
        }
        everything: list[float] = []
        for kind, asked in phrases.items():
            times, in_first_five = [], 0
            for phrase, value in zip(asked, some, strict=True):
                start = time.process_time()
                hits = index.find(phrase, fuzzy=True)
                times.append(time.process_time() - start)
                in_first_five += value in {h.value for h in hits[:5]}
            everything += times
            p95 = sorted(times)[int(len(times) * 0.95)] * 1000
            sys.stdout.write(f"{kind}: p95 {p95:.2f} ms, {in_first_five / len(asked):.1%} among the first 5\n")
        sys.stdout.write(f"all look-ups: p95 {sorted(everything)[int(len(everything) * 0.95)] * 1000:.2f} ms\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
