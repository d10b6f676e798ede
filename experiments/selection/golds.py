"""Answers to questions with gold queries, examined on their databases, for learning to choose among candidates.

In: a benchmark's folder and second readings of its questions. Out: `Golds`, which examines an answer and says whether
its result equals gold's; and `training`, labelled answers to training questions: gold queries, mutated ones and
readings.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eval.databases.base import Database
from eval.databases.factory import open_database
from eval.databases.types import ExecutionResult, Limits
from eval.examination import Query, examine
from eval.metrics.comparison import same_result
from eval.scoring.expectation import Expectation
from eval.scoring.types import Case, SecondOpinion
from experiments.judge.expectation_training import half_of
from experiments.judge.samples import GOLD, Sample, of_case
from experiments.mutations import mutants

LIMITS = Limits(seconds=10.0, rows=5_000)
READING = "reading"
"""The system name used when the second reading itself is the answer."""

Opinions = Mapping[str, tuple[str, float]]
"""By a question's id, another reading of it: SQL and its confidence (0..1)."""


def training(
    bench: Path, opinions: Opinions, halves: Sequence[Expectation], *, every: int = 3, each: int = 2, seed: int = 7
) -> Iterator[Sample]:
    """Gold queries of every `every`-th training question as right answers. As wrong answers, up to `each` mutants of it
    and sometimes another question's gold; mutants with gold's result are left out. The second reading is also an
    answer, right or wrong, without another reading beside it: its errors are less obvious than a mutant's, and occur on
    many databases. `halves`: by `half_of` a database, the expectation that has not seen its questions."""
    golds = Golds(bench / "spider_train", opinions)
    dice = random.Random(seed)
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
        """The case of an answer to a question, with the second opinion if there is one."""
        item = self.questions[question]
        database = self.database(item["db"])
        case = examine(Query(item["question"], sql), database, limits=LIMITS)
        if question not in self._read:
            self._read[question] = self._opinion(question, database)
        return replace(case, second_opinion=self._read[question])

    def _opinion(self, question: str, database: Database) -> SecondOpinion | None:
        if question not in self.opinions:
            return None
        sql, confidence = self.opinions[question]
        read = examine(Query("", sql), database, limits=LIMITS)
        if read.result is None or not read.result.ok or read.result.truncated:
            return None
        return SecondOpinion(sql, read.facts, read.result, confidence)

    def right(self, question: str, case: Case) -> bool:
        if question not in self._results:
            item = self.questions[question]
            gold = examine(Query(item["question"], item["gold_sql"]), self.database(item["db"]), limits=LIMITS)
            self._results[question] = gold.result, bool(gold.facts.order_by)
        result, ordered = self._results[question]
        return result is not None and case.result is not None and same_result(result, case.result, ordered=ordered)


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
