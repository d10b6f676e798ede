"""Recorded candidates with their labels, for fitting and measuring: each question with the answers of every system.

In: a folder of benchmarks and one of recordings, as described in docs/candidates.md. Out: `Asked` questions, whose
answers keep the observations behind their judgement, so that a judge that has not seen their database can judge them
again; and the answers to training questions from which such a judge starts. Both can be cached in a file, since they
take minutes to compute.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agent.candidates.evaluation import ran_or_problem
from agent.candidates.result_groups import Candidate, Examined, Ran, labelled
from eval.scoring.expectation import expectation
from eval.sql.translation import translated
from experiments.judge.expectation_training import learned
from experiments.judge.samples import Sample, of_case
from experiments.selection.golds import Golds, Opinions, training

RECORDED = (("spider_dev", "spider_dev"), ("classicmodels", "classicmodels_llama-3-8b"))
"""Benchmark, and the name of its recordings."""
MUTATED = "spider_train"
EVERY = 3
"""Every n-th training question is mutated."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One system's answer to a question."""

    sample: Sample
    examined: Examined | None
    """None where it did not run."""


@dataclass(frozen=True, slots=True)
class Asked:
    benchmark: str
    database: str
    id: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    questions: tuple[Asked, ...]
    mutants: tuple[Sample, ...]


def lessons(bench: Path, recordings: Path, cache: Path | None = None) -> Lessons:
    """Read from the cache if there is one; otherwise computed (a few minutes) and stored there."""
    if cache is not None and cache.exists():
        return _read(cache.read_text(encoding="utf-8").splitlines())
    _, halves = learned(bench / MUTATED)
    opinions = _opinions(bench / MUTATED, EVERY)
    made = Lessons(tuple(_questions(bench, recordings)), tuple(training(bench, opinions, halves, every=EVERY)))
    if cache is not None:
        cache.write_text("".join(line + "\n" for line in _written(made)), encoding="utf-8")
    return made


def _questions(bench: Path, recordings: Path) -> Iterator[Asked]:
    for benchmark, file in RECORDED:
        golds = Golds(bench / benchmark, _opinions(bench / benchmark, 1))
        given: dict[str, list[Candidate]] = {}
        with (recordings / f"{file}.jsonl").open(encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                sql = line["sql"] or ""
                sql = translated(sql, "mysql", "sqlite") if benchmark == "classicmodels" else sql
                given.setdefault(line["id"], []).append(Candidate(line["system"], sql))
        for question, candidates in given.items():
            if question in golds.questions:
                yield _asked(benchmark, question, candidates, golds)


def _asked(benchmark: str, question: str, candidates: Sequence[Candidate], golds: Golds) -> Asked:
    database = golds.questions[question]["db"]
    samples: list[Sample] = []
    ran: dict[int, Ran] = {}
    for i, candidate in enumerate(candidates):
        case = golds.examined(question, candidate.sql)
        right = golds.right(question, case)
        samples.append(of_case(case, benchmark, database, question, candidate.system, right, expectation()))
        found = ran_or_problem(candidate, case)
        if isinstance(found, Ran):
            ran[i] = found
    examined = dict(zip(ran, labelled(list(ran.values())), strict=True))
    return Asked(benchmark, database, question, tuple(Answer(s, examined.get(i)) for i, s in enumerate(samples)))


def _opinions(folder: Path, every: int) -> Opinions:
    """The offline engine's readings of every n-th question whose gold query runs."""
    from agent.parser.second_opinion import second_opinion

    golds = Golds(folder, {})
    found: dict[str, tuple[str, float]] = {}
    for question in list(golds.questions.values())[::every]:
        database = golds.database(question["db"])
        read = asyncio.run(second_opinion(question["question"], database, database.schema()))
        if read is not None:
            found[question["id"]] = read.sql, round(read.confidence, 4)
    return found


def _written(made: Lessons) -> Iterator[str]:
    yield from (json.dumps({"asked": asdict(question)}) for question in made.questions)
    yield from (json.dumps({"mutant": asdict(sample)}) for sample in made.mutants)


def _read(lines: Iterable[str]) -> Lessons:
    questions, mutants = [], []
    for line in map(json.loads, lines):
        if "mutant" in line:
            mutants.append(Sample(**line["mutant"]))
        else:
            asked = line["asked"]
            questions.append(Asked(**asked | {"answers": tuple(map(_answer, asked["answers"]))}))
    return Lessons(tuple(questions), tuple(mutants))


def _answer(kept: dict[str, Any]) -> Answer:
    examined = kept["examined"]
    return Answer(
        Sample(**kept["sample"]),
        Examined(**examined | {"candidate": Candidate(**examined["candidate"])}) if examined else None,
    )


def rejudged(answer: Answer, log_odds: float) -> Examined | None:
    return replace(answer.examined, log_odds=log_odds) if answer.examined else None
