"""Recorded candidates with their labels: each question with the answers that there were to choose among.

In: the folders of benchmarks and of recorded answers. Out: `Asked` questions, whose answers keep the observations
behind their judgement, so that a judge that has not seen their source can judge them. Examined as the judge's samples
are (`experiments.judge.samples`) and cached in one file a source.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from agent.candidates.choice import Candidate, Examined, Ran, labelled
from agent.candidates.evaluation import ran_or_problem
from experiments.json_lines import read_lines, write_lines
from experiments.judge import sources as judge_sources
from experiments.judge.samples import GOLD, Extraction, Sample, sample_of
from experiments.judge.samples import Answer as Judged
from experiments.judge.sources import SEED, SOURCES, Question, Source

MOST_QUESTIONS = 240
MOST_CANDIDATES = 9


@dataclass(frozen=True, slots=True)
class Answer:
    """One candidate for a question."""

    sample: Sample
    examined: Examined | None
    """None where it did not run."""


@dataclass(frozen=True, slots=True)
class Asked:
    source: str
    family: str
    id: str
    answers: tuple[Answer, ...]


def _among(folder: str, recording: str, wanted: Callable[[str], bool]) -> Callable[[Path, Path], Iterator[Question]]:
    """A recording with one line a distinct query: each of its systems that is wanted is a candidate."""

    def read(bench: Path, recorded: Path) -> Iterator[Question]:
        answers: dict[str, list[judge_sources.Candidate]] = defaultdict(list)
        for line in read_lines(recorded / f"{recording}.jsonl"):
            answers[line["id"]] += [
                judge_sources.Candidate(system, line["sql"], line["ex"]) for system in line["systems"] if wanted(system)
            ]
        yield from judge_sources.with_answers(judge_sources.benchmark(bench / folder), answers)

    return read


def _one_model(bench: Path, recorded: Path) -> Iterator[Question]:
    """Several samples of one model for each question."""
    answers: dict[str, list[judge_sources.Candidate]] = {}
    for line in read_lines(recorded / "spider_dev_samples.jsonl"):
        given = zip(line["samples"], line["ex"], strict=True)
        made = [judge_sources.Candidate(f"sample {n}", sql or "", right) for n, (sql, right) in enumerate(given)]
        answers.setdefault(line["id"], made)
    yield from judge_sources.with_answers(judge_sources.benchmark(bench / "spider_dev"), answers)


_BY_NAME = {source.name: source for source in SOURCES}
_THIRD = "spider_test_third"
CHOICES: tuple[Source, ...] = (
    _BY_NAME["spider_dev_nine"],
    Source("spider_dev_samples", "spider_dev", _one_model),
    _BY_NAME["spider_realistic"],
    Source("third_systems", "spider_test", _among(_THIRD, _THIRD, lambda system: "#" not in system)),
    Source("third_samples", "spider_test", _among(_THIRD, _THIRD, lambda system: "fixed_N5#" in system)),
    Source("third_prompts", "spider_test", _among(_THIRD, _THIRD, lambda system: "mixed#" in system)),
    _BY_NAME["classicmodels"],
    Source("bird_systems", "bird", _among("bird_superhero", "bird_superhero", lambda _: True)),
)


def asked(bench: Path, recorded: Path, cache: Path) -> list[Asked]:
    """Every question of every source, from the cache where there is one."""
    cache.mkdir(parents=True, exist_ok=True)
    questions: list[Asked] = []
    for source in CHOICES:
        path = cache / f"choice_{source.name}.jsonl"
        if not path.exists():
            sys.stderr.write(f"{source.name}\n")
            write_lines(path, map(asdict, _examined(source, bench, recorded)))
        questions += map(_read, read_lines(path))
    return questions


def _examined(source: Source, bench: Path, recorded: Path) -> Iterator[Asked]:
    dice = random.Random(SEED)
    questions = [q for q in source.read(bench, recorded) if len(q.answers) > 1]
    dice.shuffle(questions)
    some = [
        replace(q, answers=tuple(dice.sample(q.answers, min(MOST_CANDIDATES, len(q.answers)))))
        for q in questions[:MOST_QUESTIONS]
    ]
    for question, answers in groupby(Extraction(source).samples(some), key=lambda answer: answer.question):
        yield _asked(source, question, [a for a in answers if a.system != GOLD])


def _asked(source: Source, question: str, answers: Sequence[Judged]) -> Asked:
    ran: dict[int, Ran] = {}
    for place, answer in enumerate(answers):
        outcome = ran_or_problem(Candidate(answer.system, answer.case.parsed.text), answer.case)
        if isinstance(outcome, Ran):
            ran[place] = outcome
    examined = dict(zip(ran, labelled(list(ran.values())), strict=True))
    pairs = (Answer(sample_of(answer), examined.get(place)) for place, answer in enumerate(answers))
    return Asked(source.name, source.family, question, tuple(pairs))


def _read(kept: dict[str, Any]) -> Asked:
    return Asked(**kept | {"answers": tuple(map(_answer, kept["answers"]))})


def _answer(kept: dict[str, Any]) -> Answer:
    examined = kept["examined"]
    return Answer(
        Sample(**kept["sample"]),
        Examined(**examined | {"candidate": Candidate(**examined["candidate"])}) if examined else None,
    )


def rejudged(answer: Answer, log_odds: float) -> Examined | None:
    return replace(answer.examined, log_odds=log_odds) if answer.examined else None
