"""Learning the confidence of readings across sources: `python -m experiments.parser.fit_confidence`.

In: a folder of question sets and a folder to keep their readings in. Out, printed: for each source, precision and
coverage by a forest that was learned on the other sources; with `--write`, the forest learned on all of them in
`agent/parser/confidence.txt`. Questions that cannot be answered count as wrong wherever they are answered. Spider dev
and the questions of TrustSQL on its databases are for measuring only, and are no sources here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agent.parser import confidence
from agent.parser.confidence import Forest
from agent.runtime.probability import STATED_DOUBT
from experiments.json_lines import read_lines, write_lines
from experiments.parser.evaluate import Outcome, demo_questions, outcomes, write_forest
from experiments.parser.growing import DOUBTS, grown

SOURCES: dict[str, tuple[str | None, int]] = {
    "spider_train": (None, 1),
    "spider_test_third": (None, 2),
    "geoquery": ("train", 1),
    "newcomer": (None, 6),
    "chinook_behaviour": (None, 4),
    "northwind_snake": (None, 4),
    "demo": ("dev", 4),
}
"""Each source with its split and the weight of each of its readings, so that small sources have influence."""


def readings(bench: Path, name: str, cache: Path) -> list[Outcome]:
    """The readings of a source, from the cache if they are stored there."""
    cached = cache / f"{name}.jsonl"
    if cached.exists():
        return [Outcome(**kept) for kept in read_lines(cached)]
    split = SOURCES.get(name, (None, 1))[0]
    if name == "demo":
        questions, paths = demo_questions()
    else:
        questions, paths = list(read_lines(bench / name / "questions.jsonl")), {}
    disputed = _disputed(bench / name / "gold_verdicts.jsonl")
    questions = [
        q
        for q in questions
        if q.get("gold_ok", True)
        and split in (None, q.get("split"))
        and str(q.get("id")) not in disputed
        and q.get("gold_verdict", "CORRECT") == "CORRECT"
    ]
    source_outcomes = list(outcomes(bench / name, questions, paths))
    cache.mkdir(parents=True, exist_ok=True)
    write_lines(cached, map(asdict, source_outcomes))
    return source_outcomes


def _disputed(verdicts: Path) -> set[str]:
    """Questions whose gold query is considered wrong."""
    if not verdicts.exists():
        return set()
    return {str(r["id"]) for r in read_lines(verdicts) if r["verdict"] != "CORRECT"}


def learned(sources: dict[str, list[Outcome]]) -> Forest:
    """A forest over the readings of all these sources."""
    rows = [o for name, source_outcomes in sources.items() for o in source_outcomes * SOURCES[name][1] if o.features]
    return grown([o.features for o in rows], [o.right for o in rows], falling=DOUBTS)


def report(name: str, source_outcomes: Sequence[Outcome], forest: Forest) -> str:
    """Coverage and precision of one source, with a forest and with the stored one."""
    parts = [f"{name:<20}{len(source_outcomes):>6} questions"]
    for label, known in (("learned on the others", forest), ("stored", None)):
        sure = [
            o.right
            for o in source_outcomes
            if o.features and o.sql and confidence.confidence(o.features, known) >= STATED_DOUBT
        ]
        share = sum(sure) / len(sure) if sure else 0.0
        parts.append(f"{label}: sure of {len(sure) / len(source_outcomes):.3f}, right there {share:.3f}")
    return "   ".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--cache", type=Path, required=True, help="folder to keep the readings in")
    parser.add_argument("--write", action="store_true", help="store the forest learned on all sources")
    options = parser.parse_args(arguments)
    sources = {name: readings(options.bench, name, options.cache) for name in SOURCES}
    for name, source_outcomes in sources.items():
        forest = learned({other: rows for other, rows in sources.items() if other != name})
        sys.stdout.write(report(name, source_outcomes, forest) + "\n")
        sys.stdout.flush()
    if options.write:
        write_forest(
            learned(sources), ", ".join(sources), sum(len(source_outcomes) for source_outcomes in sources.values())
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
