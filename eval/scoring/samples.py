"""Labelled answers to fit on: recorded answers of real models, and on training questions gold queries, mutated ones and
the offline engine's own readings.

In: a folder of benchmarks and one of recordings (docs/scoring.md says what they hold). Out: `Sample`s: observations
with a label. Right means the same result as gold's on the database, by `eval.metrics.comparison`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.databases.base import Database, ExecutionResult, Limits
from eval.databases.opening import open_database
from eval.metrics.comparison import same_result
from eval.metrics.mutations import mutants
from eval.scoring.evidence.observing import observations
from eval.scoring.evidence.reading import Reading
from eval.scoring.examining import examine
from eval.scoring.expectation import Expectation
from eval.scoring.learning import half_of
from eval.scoring.types import Case, Score, SecondOpinion
from eval.sql.translating import translated

LIMITS = Limits(seconds=10.0, rows=5_000)
GOLD = "gold"
READING = "reading"
"""What stands for the system in samples of training questions, beside the kinds of mutation."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer: what is seen of it, and whether it is right."""

    benchmark: str
    database: str
    question: str
    """The question's id."""
    system: str
    right: bool
    vetoed: bool
    features: dict[str, float]
    others: float
    """The weighted sum of the other six dimensions, so that the gate can be measured without scoring again."""


Opinions = Mapping[str, tuple[str, float]]
"""By a question's id, another reading of it: SQL, and how sure the reader is (0..1)."""


def read_opinions(path: Path | None) -> Opinions:
    """Lines `{id, sql, confidence}`, as `python -m agent.batch opinion` writes them; those without SQL are left out."""
    lines = _lines(path) if path is not None else ()
    return {line["id"]: (line["sql"], float(line["confidence"])) for line in lines if line.get("sql")}


def of_case(
    case: Case, benchmark: str, database: str, question: str, system: str, right: bool, learned: Expectation
) -> Sample:
    from eval.scoring.judging import score
    from eval.scoring.presets import weights

    features: dict[str, float] = {}
    for seen in observations(Reading(case), learned):
        features[seen.name] = features.get(seen.name, 0.0) + seen.value
    scored: Score = score(case)
    others = sum(w * scored.dimensions[name] for name, w in weights("default").items() if name != "correctness")
    return Sample(benchmark, database, question, system, right, bool(scored.vetoes), features, others)


def recorded(bench: Path, recordings: Path, opinions: Opinions, learned: Expectation) -> Iterator[Sample]:
    """Every recorded answer whose benchmark is at hand; MySQL's dialect is rewritten to SQLite's where it can be."""
    for folder, file in (("spider_dev", "spider_dev"), ("classicmodels", "classicmodels_llama-3-8b")):
        golds = Golds(bench / folder, opinions)
        for line in _lines(recordings / f"{file}.jsonl"):
            sql = line["sql"] or ""
            if folder == "classicmodels":
                sql = translated(sql, "mysql", "sqlite")
            case = golds.examined(line["id"], sql)
            right = golds.right(line["id"], case)
            yield of_case(case, folder, line["db"], line["id"], line["system"], right, learned)


def training(
    bench: Path, opinions: Opinions, halves: Sequence[Expectation], *, every: int = 3, each: int = 2, seed: int = 7
) -> Iterator[Sample]:
    """Gold queries of every `every`-th training question as right answers; up to `each` mutants of it, and at times
    another question's gold, as wrong ones. Mutants with gold's result are left out. And the second reading
    itself as an answer, right or wrong, with none beside it: errors less plain than a mutant's, on many databases.
    `halves`: by `half_of` a database, the expectation that has not seen its questions."""
    golds = Golds(bench / "spider_train", opinions)
    dice = random.Random(seed)  # noqa: S311 - reproducible, not secret
    by_database: dict[str, list[str]] = {}
    for question in golds.questions.values():
        by_database.setdefault(question["db"], []).append(question["gold_sql"])
    for question in list(golds.questions.values())[::every]:
        name = question["db"]
        database, learned = golds.database(name), halves[half_of(name)]
        gold = golds.examined(question["id"], question["gold_sql"])
        if gold.result is None or not gold.result.ok or gold.parsed.tree is None:
            continue
        yield of_case(gold, "spider_train", name, question["id"], GOLD, True, learned)
        if question["id"] in opinions:
            read = replace(golds.examined(question["id"], opinions[question["id"]][0]), second_opinion=None)
            right = golds.right(question["id"], read)
            yield of_case(read, "spider_train", name, question["id"], READING, right, learned)
        changed = [(kind, tree.sql("sqlite")) for kind, tree in mutants(gold.parsed.tree, database.schema(), dice)]
        dice.shuffle(changed)
        tries = changed[:each]
        if dice.random() < 0.3:
            tries.append(("another_question", dice.choice(by_database[name])))
        for kind, sql in tries:
            case = golds.examined(question["id"], sql)
            ran = case.result is not None and case.result.ok
            if ran and not golds.right(question["id"], case):
                yield of_case(case, "spider_train", name, question["id"], kind, False, learned)


class Golds:
    """A benchmark's questions, its databases opened once, and gold's results computed once."""

    def __init__(self, folder: Path, opinions: Opinions) -> None:
        self.folder = folder
        self.opinions = opinions
        self._read: dict[str, SecondOpinion | None] = {}
        self.questions = {q["id"]: q for q in _lines(folder / "questions.jsonl") if q["gold_ok"]}
        self._databases: dict[str, Database] = {}
        self._results: dict[str, tuple[ExecutionResult | None, bool]] = {}

    def database(self, name: str) -> Database:
        if name not in self._databases:
            self._databases[name] = open_database(self.folder / "databases" / f"{name}.sqlite")
        return self._databases[name]

    def examined(self, question: str, sql: str) -> Case:
        """The case of an answer to a question, with the second opinion where there is one."""
        item = self.questions[question]
        database = self.database(item["db"])
        case = examine(item["question"], sql, database, limits=LIMITS)
        if question not in self._read:
            self._read[question] = self._opinion(question, database)
        return replace(case, second_opinion=self._read[question])

    def _opinion(self, question: str, database: Database) -> SecondOpinion | None:
        if question not in self.opinions:
            return None
        sql, confidence = self.opinions[question]
        read = examine("", sql, database, limits=LIMITS)
        if read.result is None or not read.result.ok or read.result.truncated:
            return None
        return SecondOpinion(sql, read.facts, read.result, confidence)

    def right(self, question: str, case: Case) -> bool:
        if question not in self._results:
            item = self.questions[question]
            gold = examine(item["question"], item["gold_sql"], self.database(item["db"]), limits=LIMITS)
            self._results[question] = gold.result, bool(gold.facts.order_by)
        result, ordered = self._results[question]
        return result is not None and case.result is not None and same_result(result, case.result, ordered=ordered)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
