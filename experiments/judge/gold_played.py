"""`python -m experiments.judge.gold_played --bench DIR --recorded DIR [--most N]`: the whole agent with a model that
writes the gold query.

In: the questions of every source. Out: a line for each source: how many end in their first attempt, and how many of
those are told as answered rather than doubtful. The model's judge is neutral, so that only the evidence decides; with
`--relevance 0.95` it approves, as a model that sees the right rows does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent import runner
from experiments.judge.sources import MOST_ANSWERS, SOURCES, Question, sampled
from text2sql.testing import ScriptedModel

NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class Played:
    """One question to which the model wrote the gold query."""

    question: str
    attempts: int
    status: str
    doubts: tuple[str, ...]


async def played(question: Question, relevance: float = NEUTRAL) -> Played:
    """Ask one question of a model that writes its gold query whatever it is told."""
    answer = await runner.run(
        question.text,
        evidence=question.hint,
        database=str(question.database),
        model=ScriptedModel(question.golds[0], relevance=relevance),
    )
    return Played(question.text, len(answer.attempts), answer.status, tuple(answer.doubts))


async def all_played(questions: Iterable[Question], relevance: float = NEUTRAL) -> list[Played]:
    return [await played(question, relevance) for question in questions]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.judge.gold_played", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded answers")
    parser.add_argument(
        "--most", type=int, default=MOST_ANSWERS, help="as for experiments.judge: answers of one source"
    )
    parser.add_argument("--relevance", type=float, default=NEUTRAL, help="what the model's judge says of each result")
    parser.add_argument("--source", action="append", help="only these sources")
    parser.add_argument("--failures", action="store_true", help="print the questions that were tried again")
    chosen = parser.parse_args(arguments)
    sys.stdout.write("source            questions  first attempt  answered\n")
    for source in SOURCES:
        if chosen.source and source.name not in chosen.source:
            continue
        questions = sampled(list(source.read(chosen.bench, chosen.recorded)), chosen.most)
        outcomes = asyncio.run(all_played(questions, chosen.relevance))
        first = sum(one.attempts == 1 for one in outcomes)
        answered = sum(one.status == "success" and one.attempts == 1 for one in outcomes)
        sys.stdout.write(f"{source.name:17} {len(outcomes):9} {first:14} {answered:9}\n")
        sys.stdout.flush()
        if chosen.failures:
            sys.stdout.writelines(
                f"  {one.question}: {'; '.join(one.doubts)}\n" for one in outcomes if one.attempts > 1
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
