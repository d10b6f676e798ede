"""Labelled answers by source: all data for fitting and measuring the judge.

In: the folders of benchmarks and of recorded answers. Out: for each source its questions, each with candidate queries
and whether they are right. A source is one origin of questions and queries. Sources that share questions or gold
queries form a family, which is held out as a whole. Questions whose gold two strong models consider wrong are left out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.engines import dialect_named
from eval.sql.translation import translated
from experiments.json_lines import read_lines

MOST_ANSWERS = 1_600
"""Answers taken from one source; from a larger one, a sample of its questions."""
MOST_EACH = 4
"""Answers taken to one question."""
SEED = 7


@dataclass(frozen=True, slots=True)
class Candidate:
    """One query for a question. `right` is None when only a comparison with gold can decide."""

    system: str
    sql: str
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its gold queries and its answers."""

    id: str
    database: Path
    text: str
    golds: tuple[str, ...]
    """The first is the benchmark's gold query; the others are also right."""
    answers: tuple[Candidate, ...] = ()
    hint: str = ""
    """External knowledge that the benchmark gives with the question."""


@dataclass(frozen=True, slots=True)
class Source:
    """An origin of labelled answers."""

    name: str
    family: str
    """Sources of one family share questions, databases or gold queries."""
    read: Callable[[Path, Path], Iterator[Question]] = field(repr=False)
    mutants: int = 0
    """Mutated gold queries for each question, used as wrong answers when none were recorded."""
    gold_as_answer: bool = False
    """Gold queries count as right answers; otherwise they are only measured for passing."""


def sampled(questions: list[Question], most: int = MOST_ANSWERS) -> list[Question]:
    """All questions, or a random sample of them that holds about `most` answers; of a question with very many answers
    a random few, so that a source is more than a handful of questions."""
    dice = random.Random(SEED)
    dice.shuffle(questions)
    kept, answers = [], 0
    for question in questions:
        if answers >= most:
            break
        some = dice.sample(question.answers, min(MOST_EACH, len(question.answers)))
        kept.append(replace(question, answers=tuple(some)))
        answers += max(3, len(some))
    return kept


def _held_wrong(folder: Path) -> frozenset[str]:
    path = folder / "gold_verdicts.jsonl"
    verdicts = read_lines(path) if path.exists() else ()
    return frozenset(line["id"] for line in verdicts if line["verdict"] == "INCORRECT")


def benchmark(folder: Path, databases: Path | None = None, file: str = "questions.jsonl") -> dict[str, Question]:
    """The questions of one folder whose gold query runs and is not considered wrong, by id."""
    wrong = _held_wrong(folder)
    found = {}
    for item in read_lines(folder / file):
        usable = item.get("gold_ok") and item.get("gold_sql") and not item.get("time_dependent")
        if not usable or item["id"] in wrong or item.get("gold_verdict") == "INCORRECT":
            continue
        path = (databases or folder / "databases") / f"{item['db']}.sqlite"
        if item.get("nonempty_on"):  # generated rows: the variant of the database on which gold returns some
            path = folder / item["nonempty_on"]
        golds = (item["gold_sql"], *(item.get("alt_gold_sql") or ()))
        found[item["id"]] = Question(item["id"], path, item["question"], golds, hint=item.get("evidence") or "")
    return found


def with_answers(questions: Mapping[str, Question], answers: Mapping[str, list[Candidate]]) -> Iterator[Question]:
    for name, given in answers.items():
        if name in questions:
            q = questions[name]
            yield Question(q.id, q.database, q.text, q.golds, tuple(given), q.hint)


def _recorded(folder: str, recording: str, *, dialect: str = "sqlite") -> Callable[[Path, Path], Iterator[Question]]:
    """Recorded answers of real systems to one benchmark."""

    def read(bench: Path, recorded: Path) -> Iterator[Question]:
        databases = bench / "spider_dev" / "databases" if folder == "spider_realistic" else None
        answers: dict[str, list[Candidate]] = defaultdict(list)
        path = recorded / f"{recording}.jsonl"
        for line in read_lines(path) if path.exists() else ():
            sql = line["sql"] or ""
            sql = sql if dialect == "sqlite" else translated(sql, dialect_named(dialect), "sqlite")
            answers[line["id"]].append(Candidate(line.get("system") or line["systems"][0], sql, line.get("ex")))
        yield from with_answers(benchmark(bench / folder, databases), answers)

    return read


def _live(folder: str, family: str) -> Source:
    """Answers of a served small model (`python -m experiments.live answers`), where somebody recorded them."""
    return Source(f"live_{folder}", family, _recorded(folder, f"live_{folder}"))


def _gold(folder: str, every: int = 1) -> Callable[[Path, Path], Iterator[Question]]:
    """A benchmark without recorded answers."""

    def read(bench: Path, _: Path) -> Iterator[Question]:
        yield from list(benchmark(bench / folder).values())[::every]

    return read


def _business(bench: Path, _: Path) -> Iterator[Question]:
    for folder in ("chinook_behaviour", "northwind_snake"):
        yield from benchmark(bench / folder).values()


def _archer(bench: Path, _: Path) -> Iterator[Question]:
    for file, databases in (("dev.jsonl", "spider_dev"), ("train.jsonl", "spider_train")):
        yield from benchmark(bench / "archer", bench / databases / "databases", file).values()


def _splash(bench: Path, recorded: Path) -> Iterator[Question]:
    """Wrong answers of three parsers, each with the gold query of its question."""
    answers: dict[str, list[Candidate]] = defaultdict(list)
    for line in read_lines(recorded / "splash_train.jsonl"):
        given = answers[line["id"]]
        if line["sql"] not in {c.sql for c in given} and len(given) < 2:
            given.append(Candidate(line["system"], line["sql"], line["ex"]))
    yield from with_answers(benchmark(bench / "spider_train"), answers)


def _library(_: Path, __: Path) -> Iterator[Question]:
    """Our own task library with its known-wrong queries."""
    from eval.tasks.demos import demo_path
    from eval.tasks.library import tasks

    for task in tasks():
        wrong = tuple(Candidate("known wrong", w.query.sql, False) for w in task.wrong)
        golds = (task.gold.sql, *task.also_right)
        yield Question(task.id, demo_path(task.database), task.question, golds, wrong, task.evidence)


def _expert_labels(bench: Path, _: Path) -> Iterator[Question]:
    """Queries that experts labelled, on schemas without rows."""
    answers: dict[str, list[Candidate]] = defaultdict(list)
    questions: dict[str, Question] = {}
    databases = bench / "bird_minidev_schema_only" / "databases"
    for line in read_lines(bench / "nl2sql_bugs_schema_only" / "questions.jsonl"):
        name = line["bird_id"]
        path = databases / f"{line['db']}.sqlite"
        questions[name] = Question(name, path, line["question"], (line["gold_sql"],), hint=line.get("evidence") or "")
        answers[name].append(Candidate("labelled by experts", line["sql"], line["right"]))
    yield from with_answers(questions, answers)


SOURCES: tuple[Source, ...] = (
    Source("spider_dev", "spider_dev", _recorded("spider_dev", "spider_dev_156_runs")),
    Source("spider_dev_nine", "spider_dev", _recorded("spider_dev", "spider_dev")),
    Source("spider_realistic", "spider_dev", _recorded("spider_realistic", "spider_realistic")),
    Source("spider_test_third", "spider_test", _recorded("spider_test_third", "spider_test_third")),
    Source("classicmodels", "classicmodels", _recorded("classicmodels", "classicmodels_llama-3-8b", dialect="mysql")),
    Source("bird_superhero", "bird", _recorded("bird_superhero", "bird_superhero")),
    Source("nl2sql_bugs", "bird", _expert_labels),
    Source("spider_train", "spider_train", _gold("spider_train", every=4), mutants=2, gold_as_answer=True),
    Source("splash", "spider_train", _splash, gold_as_answer=True),
    Source("archer", "archer", _archer, mutants=1, gold_as_answer=True),
    Source("geoquery", "geoquery", _gold("geoquery"), mutants=1, gold_as_answer=True),
    Source("classical", "classical", _gold("classical_testsuite", every=3), mutants=1, gold_as_answer=True),
    Source("agentx", "agentx", _gold("agentx_tasks"), mutants=2, gold_as_answer=True),
    Source("library", "library", _library, gold_as_answer=True),
    Source("newcomer", "newcomer", _gold("newcomer"), mutants=2, gold_as_answer=True),
    Source("business", "business", _business, mutants=2, gold_as_answer=True),
    _live("spider_train", "spider_train"),
    _live("geoquery", "geoquery"),
    _live("classicmodels", "classicmodels"),
    _live("bird_superhero", "bird"),
    _live("real_data", "real_data"),
    _live("chinook_behaviour", "business"),
)
